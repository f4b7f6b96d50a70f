//! `afterstate reproduce`, as a user sees it.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

fn reproduce(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(folder).arg("reproduce").args(arguments).stdin(Stdio::null());
    command.output().expect("the binary runs")
}

fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = reproduce(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn every_table_and_figure_is_listed_at_once_with_its_state() {
    let folder = tempfile::tempdir().expect("a directory");
    let (start, text) = (std::time::Instant::now(), good(folder.path(), &[]));
    let seconds = start.elapsed().as_secs_f64();
    for part in [
        "ramesh-2018/table-1",
        "runnable: 5 × 10 trainings of 200 games\n",
        "kondo-2019/figure-2 ",
        "not run: an illustration: nothing is measured",
        "counted: afterstate reproduce terauchi-2025/table-2",
        "measured: afterstate eval --milestones",
        "3 × 1 trainings of 12e8 records, 1e10 actions, 6e8 records; needs --records",
        "run: the whole budget and 2% of it, ten trainings each: docs/results.md",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let items = text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).count();
    assert_eq!(items, 34 + 32 + 1, "tables, figures, and a section");
    assert!(seconds < 30.0, "nothing is measured: {seconds} s");
    let json: Value = serde_json::from_str(&good(folder.path(), &["kondo-2019/table-5", "--json", "--time"]))
        .expect("JSON");
    assert_eq!((json[0]["rows"].as_u64(), json[0]["needs_records"].as_bool()), (Some(8), Some(true)));
    assert_eq!(json[0]["state"].as_str(), Some("runnable"));
    assert!(json[0]["seconds"].as_f64().is_some_and(|seconds| seconds > 3600.0), "{json}");
}

#[test]
fn what_is_counted_needs_no_share() {
    let folder = tempfile::tempdir().expect("a directory");
    let text = good(folder.path(), &["terauchi-2025/table-5"]);
    for part in ["Counted: nothing is trained.", "NT8 (our shapes), 3-VSE", "877,730,580 |"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

/// A figure of small networks is drawn as a file and as a page, and afterwards listed as run here.
#[test]
fn figures_are_drawn() {
    let folder = tempfile::tempdir().expect("a directory");
    let arguments = ["ramesh-2018/figure-9", "--share", "0.1", "--seeds", "2", "--threads", "2"];
    let text = good(folder.path(), &arguments);
    assert!(text.contains("figure.svg, figure.html, and the runs"), "{text}");
    let place = folder.path().join("runs/reproduce/ramesh-2018/figure-9/share-0.1");
    let read = |name: &str| std::fs::read_to_string(place.join(name)).expect("a file");
    let (svg, page) = (read("figure.svg"), read("figure.html"));
    for part in ["TD-afterstate", "highest score", "2 trainings each", "figure after 1500 games"] {
        assert!(svg.contains(part) && page.contains(part), "no `{part}` in\n{svg}");
    }
    let list = good(folder.path(), &["ramesh-2018/figure-9"]);
    assert!(list.contains("run here: 10% of the budget, 2 trainings"), "{list}");
}

#[test]
fn networks_are_taught_by_records() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut record = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    record.current_dir(folder.path()).args("record --search 1ply --games 2 --out records".split(' '));
    assert!(record.output().expect("the binary runs").status.success());
    let table = ["kondo-2019/table-1", "--share", "0.0000001", "--games", "2", "--threads", "2"];
    let text = good(folder.path(), &[&table[..], &["--records", "records"]].concat());
    let row = text.lines().find(|line| line.starts_with("| 5 layers "));
    assert!(row.is_some_and(|row| row.contains("|       93,830 | ")), "{text}");
    for part in [
        "6e8 records; 12e8 records, 1 training of each row",
        "games of built-in with 1ply",
        "play better than two",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let place = folder.path().join("runs/reproduce/kondo-2019/table-1/share-0.0000001");
    assert!(place.join("5-layers-222-channels/seed-1/trained.json").exists());
    let mut report = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    report.current_dir(folder.path()).arg("report").arg(&place).args(["-o", "report.html"]);
    assert!(report.output().expect("the binary runs").status.success());
    let page = std::fs::read_to_string(folder.path().join("report.html")).expect("a page");
    assert!(page.contains("five layers play better than two"), "{page}");
}

#[test]
fn a_table_is_printed_beside_the_papers_and_written_down() {
    let folder = tempfile::tempdir().expect("a directory");
    let arguments =
        ["ramesh-2018/table-2", "--share", "1", "--seeds", "3", "--games", "10", "--threads", "2"];
    let text = good(folder.path(), &arguments);
    assert!(text.contains("| α = 0.01, ε = 0.005  |                1,524 | "), "{text}");
    assert!(text.contains("TD-afterstate performs best with α = 0.01 (Experiments)"), "{text}");
    let place = folder.path().join("runs/reproduce/ramesh-2018/table-2/share-1");
    let markdown = std::fs::read_to_string(place.join("report.md")).expect("a report");
    assert!(text.starts_with(&markdown), "{text}");
    let json: Value =
        serde_json::from_str(&good(folder.path(), &[&arguments[..], &["--json"]].concat())).expect("JSON");
    assert_eq!((json["share"].as_f64(), json["rows"].as_array().map(Vec::len)), (Some(1.0), Some(5)));
    let cell = &json["rows"][3]["cells"][0];
    assert_eq!(cell["paper"]["value"].as_f64(), Some(1524.0));
    assert_eq!(cell["ours"]["count"].as_u64(), Some(3));
}

/// All trainings are single-threaded, so that every rank gets the same result.
#[test]
fn parts_share_a_directory_and_come_to_the_same_report() {
    let folder = tempfile::tempdir().expect("a directory");
    let base = [
        "ramesh-2018/table-2",
        "--share",
        "0.3",
        "--seeds",
        "2",
        "--games",
        "10",
        "--threads",
        "1",
        "--json",
    ];
    let whole = good(folder.path(), &[&base[..], &["--out", "whole"]].concat());
    let done = |part: &str| {
        let text = good(folder.path(), &[&base[..], &["--out", "parts", "--part", part]].concat());
        let after = text.strip_prefix(&format!("part {part}: ")).and_then(|rest| rest.split(' ').next());
        after.and_then(|number| number.parse::<u64>().ok()).expect("a number of trainings")
    };
    let parts = ["3/3", "1/3", "2/3"].map(done);
    assert_eq!(parts.iter().sum::<u64>(), 10, "five rows, two seeds");
    assert!(parts.iter().all(|&part| (3..=4).contains(&part)), "{parts:?}");
    let trained = |part: &str| folder.path().join(part);
    let newest = |place: &Path| -> Vec<_> {
        let rows = std::fs::read_dir(place).expect("rows").map(|row| row.expect("a row").path());
        let mut files: Vec<_> = rows.map(|row| row.join("seed-2/trained.json")).collect();
        files.sort();
        files
            .iter()
            .map(|file| std::fs::metadata(file).expect("a file").modified().expect("a time"))
            .collect()
    };
    let before = newest(&trained("parts"));
    let report = good(folder.path(), &[&base[..], &["--out", "parts"]].concat());
    let untimed = |text: &str| {
        let mut json: Value = serde_json::from_str(text).expect("JSON");
        json.as_object_mut().and_then(|json| json.remove("seconds")).expect("seconds");
        json
    };
    assert_eq!(untimed(&report), untimed(&whole));
    std::fs::remove_file(folder.path().join("parts/report.md")).expect("a report");
    std::fs::remove_file(folder.path().join("parts/report.json")).expect("a report");
    assert_eq!(newest(&trained("parts")), before, "nothing was trained again");
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().expect("a directory");
    let refused = |arguments: &[&str], words: &str| {
        let output = reproduce(folder.path(), arguments);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains(words) && complaint.contains("; hint: "), "{complaint}");
    };
    refused(&["terauchi-2025/table-9", "--share", "0.1"], "no paper has a table `terauchi-2025/table-9`");
    refused(&["terauchi-2025/table-4", "--share", "1.5"], "a share of 1.5 cannot be run");
    refused(
        &["kondo-2019/table-4", "--share", "0.01"],
        "taught by play records, but none were given; hint: `afterstate record",
    );
    refused(&["kondo-2019/figure-1", "--share", "0.1"], "kondo-2019/figure-1 cannot be run: an illustration");
    refused(&["terauchi-2025/table-1", "--share", "0.1"], "terauchi-2025/table-1 is about no training");
    refused(&["kondo-2019/table-4", "--share", "0.01", "--games", "3ply=no"], "gives no number of games");
    refused(&["nobody"], "no table of a paper has a name that begins with `nobody`");
}
