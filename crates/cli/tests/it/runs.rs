//! `afterstate runs`, sweeps and their reports.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

const TABLE: &str = "network.tuples = ['0123', '0145']\nlearning.step_size = 'fixed'\nbudget.actions = 20_000\n\
    evaluation = { every = 20_000, games = 5 }\n[[row]]\nname = 'fast'\nlearning.alpha = 0.5\n[[row]]\nname = 'slow'\n\
    learning.alpha = 0.01\n";

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

fn good(directory: &Path, arguments: &[&str]) -> String {
    let output = run(directory, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(directory: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&good(directory, arguments)).expect("JSON")
}

#[test]
fn a_sweep_trains_all_rows_with_all_seeds_and_its_report_averages_them() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = folder.path();
    fs::write(place.join("rates.toml"), TABLE).expect("a table");
    let sweep = ["train", "rates.toml", "--all", "--seeds", "2", "--jobs", "2", "--threads", "1"];
    let text = good(place, &sweep);
    assert!(text.contains("over 2 seeds") && text.contains("next: afterstate report runs/rates"), "{text}");
    for run in ["fast/seed-1", "fast/seed-2", "slow/seed-1", "slow/seed-2"] {
        assert!(place.join("runs/rates").join(run).join("model.safetensors").exists(), "{run}");
    }
    // Each has the result of the row alone.
    good(place, &["train", "rates/fast", "--seed", "2", "--threads", "1", "--out", "alone"]);
    let model = |run: &str| fs::read(place.join(run).join("model.safetensors")).expect("a model");
    let recipe = |run: &str| fs::read_to_string(place.join(run).join("recipe.toml")).expect("a recipe");
    assert_eq!(recipe("alone"), recipe("runs/rates/fast/seed-2"));
    assert!(model("alone") == model("runs/rates/fast/seed-2"));
    // Finished trainings are not repeated.
    let again = json(place, &[&sweep[..], &["--json"]].concat());
    assert_eq!((&again["finished"], again["trainings"].as_array().map(Vec::len)), (&true.into(), Some(4)));

    let report = json(place, &["report", "runs/rates", "--json"]);
    let series = report["series"].as_array().expect("series");
    assert_eq!(series.len(), 2, "{report}");
    assert!(series.iter().all(|series| series["runs"].as_array().map(Vec::len) == Some(2)), "{report}");
    let page = fs::read_to_string(place.join("report.html")).expect("a page");
    assert!(page.contains("rates/fast, 2 seeds"));

    let told = run(place, &["train", "alone/recipe.toml", "--all"]);
    assert_eq!(told.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&told.stderr).contains("not a table"), "{told:?}");
}

#[test]
fn runs_are_listed_and_removed() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = folder.path();
    assert!(good(place, &["runs"]).contains("no runs"));
    fs::write(place.join("rates.toml"), TABLE).expect("a table");
    good(place, &["train", "rates/fast", "--threads", "1"]);
    let list = json(place, &["runs", "--json"]);
    let entry = &list[0];
    assert_eq!((&entry["run"], &entry["state"]), (&"runs/rates/fast".into(), &"finished".into()));
    assert!(entry["bytes"].as_u64() > Some(0) && entry["evaluation"]["score"]["mean"].is_number(), "{entry}");
    let text = good(place, &["runs"]);
    assert!(text.contains("runs/rates/fast  finished 100.0%") && text.contains("1 run, "), "{text}");
    let told = run(place, &["runs", "rm", "runs"]);
    assert_eq!(told.status.code(), Some(2), "a directory that holds no run stays: {told:?}");
    assert!(good(place, &["runs", "rm", "runs/rates/fast"]).contains("removed runs/rates/fast"));
    assert!(!place.join("runs/rates/fast").exists());
}

#[test]
fn keys_are_explained() {
    let folder = tempfile::tempdir().expect("a directory");
    let text = good(folder.path(), &["train", "--keys", "learning.lambda"]);
    assert!(text.starts_with("learning.lambda [0.0]\n    λ, from 0 to 1"), "{text}");
    assert!(json(folder.path(), &["train", "--keys", "--json"]).as_array().map(Vec::len) > Some(40));
}

#[test]
fn the_game_on_three_by_three_ends_with_its_share_of_the_optimum() {
    let folder = tempfile::tempdir().expect("a directory");
    let arguments = ["train", "mini", "--set", "budget.actions=30000", "--set", "evaluation.games=20"];
    let text = good(folder.path(), &arguments);
    assert!(text.contains("of the best possible mean, 5468.49 by the exact solver"), "{text}");
    assert!(text.contains("next: afterstate solve --policy runs/mini --regret"), "{text}");
}

/// The character at which a part of a line begins.
fn column(line: &str, part: &str) -> usize {
    let at = line.find(part).unwrap_or_else(|| panic!("no `{part}` in `{line}`"));
    line[..at].chars().count()
}

#[test]
fn columns_align() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = folder.path();
    fs::write(place.join("rates.toml"), TABLE).expect("a table");
    for (row, out, actions) in [
        ("rates/fast", "runs/a", "1000"),
        ("rates/fast", "runs/größer/name", "300_000"),
        ("rates/slow", "runs/b", "40_000"),
    ] {
        good(
            place,
            &["train", row, "--threads", "1", "--out", out, "--set", &format!("budget.actions={actions}")],
        );
    }
    // Of the lines that have both, the part begins at one column.
    let aligned = |text: &str, line_has: &str, part: &str, least: usize| {
        let columns: Vec<_> =
            text.lines().filter(|line| line.contains(line_has)).map(|line| column(line, part)).collect();
        assert!(columns.len() >= least, "{text}");
        assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "`{part}` in\n{text}");
    };
    let list = good(place, &["runs"]);
    for part in [" actions", "iB  ", "finished"] {
        aligned(&list, "runs/", part, 3);
    }
    let models = ["eval", "--compare", "runs/a", "runs/größer/name", "runs/b", "--games", "3"];
    aligned(&good(place, &models), "runs/", "   runs/", 3);
    aligned(&good(place, &["eval", "runs/a", "--games", "100"]), "%  (", "%  (", 2);
    aligned(&good(place, &["train", "--list", "guei-2021"]), "guei-2021/table-2/", "V_init", 6);
}

#[test]
fn players_that_tie_are_said_to_tie() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = folder.path();
    fs::write(place.join("rates.toml"), TABLE).expect("a table");
    good(place, &["train", "rates/fast", "--threads", "1"]);
    let same = ["eval", "--compare", "runs/rates/fast", "runs/rates/fast", "--games", "20"];
    let text = good(place, &same);
    assert!(text.contains("A and B have the same score in every game"), "{text}");
    assert!(text.contains("A and B tie in all of 20 games") && !text.contains("50.0%"), "{text}");
    let object = json(place, &[&same[..], &["--json"]].concat());
    assert_eq!((&object["difference"]["ties"], &object["difference"]["better"]), (&1.0.into(), &0.5.into()));
}
