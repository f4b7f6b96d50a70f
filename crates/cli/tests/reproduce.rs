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
fn tables_are_listed_with_budget_and_time_and_what_cannot_be_run() {
    let folder = tempfile::tempdir().expect("a directory");
    let text = good(folder.path(), &["ramesh-2018"]);
    for part in ["ramesh-2018/table-1", "Table 2, Experiments", "5 × 10 trainings of 200 games: ", " s"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let text = good(folder.path(), &["kondo-2019/table-1"]);
    for part in ["2 × 1 trainings of 12e8 records, 6e8 records: ", "; needs --records; without 5×4"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json: Value =
        serde_json::from_str(&good(folder.path(), &["kondo-2019/table-5", "--json"])).expect("JSON");
    assert_eq!((json[0]["rows"].as_u64(), json[0]["needs_records"].as_bool()), (Some(8), Some(true)));
    assert!(json[0]["seconds"].as_f64().is_some_and(|seconds| seconds > 3600.0), "{json}");
}

#[test]
fn networks_are_taught_by_records() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut record = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    record.current_dir(folder.path()).args("record --search 1ply --games 2 --out records".split(' '));
    assert!(record.output().expect("the binary runs").status.success());
    let table = ["kondo-2019/table-1", "--share", "0.0000001", "--games", "2", "--threads", "2"];
    let text = good(folder.path(), &[&table[..], &["--records", "records"]].concat());
    assert!(text.contains("| 5 layers                 |       93,830 | "), "{text}");
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
        "taught by play records, and none were given; hint: `afterstate record",
    );
    refused(&["nobody"], "no table of a paper has a name that begins with `nobody`");
}
