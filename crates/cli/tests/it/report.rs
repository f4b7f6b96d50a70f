//! `afterstate report`, as a user sees it.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

const SMALL: &str = "game.side = 3\nnetwork.tuples = ['0123']\nbudget.actions = 50_000\nparallel.threads = 1\n\
                     evaluation = { every = 20_000, games = 20 }";

fn afterstate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(folder).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

#[test]
fn runs_become_one_file() {
    let folder = tempfile::tempdir().expect("a directory");
    fs::write(folder.path().join("small.toml"), SMALL).expect("a recipe");
    for seed in ["1", "2"] {
        let run = format!("runs/{seed}");
        let output = afterstate(folder.path(), &["train", "small.toml", "--seed", seed, "--out", &run]);
        assert!(output.status.success(), "{output:?}");
    }
    let output = afterstate(folder.path(), &["report", "runs/1", "runs/2", "-o", "both.html"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "both.html\n");
    let html = fs::read_to_string(folder.path().join("both.html")).expect("a report");
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    for part in ["2 trainings", "runs/1", "runs/2", "<svg"] {
        assert!(html.contains(part), "no `{part}`");
    }
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let output = afterstate(folder.path(), &["report", "."]);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains(". holds neither a run nor a reproduced table; hint: "), "{complaint}");
}
