//! `afterstate solve` and `afterstate advise --exact`, as a user sees them.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use afterstate_network::{Network, NetworkSpec, Tuples};
use serde_json::Value;

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).args(arguments).output().expect("the binary runs")
}

fn good(directory: &Path, arguments: &[&str]) -> String {
    let output = run(directory, arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(directory: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&good(directory, arguments)).expect("JSON")
}

/// A model with this table: with arbitrary values its moves differ between images of a board.
fn model(directory: &Path, side: usize, tuples: &str, table: fn(u32) -> u32) {
    let tuples = Tuples::new(vec![tuples.parse().expect("a tuple")]).expect("tuples");
    let network = Network::new(NetworkSpec { side, tuples, symmetric: false, ..NetworkSpec::default() });
    let network = network.expect("a small network");
    network.set_table(0, (0..1 << 16).map(|i| table(i) as f32));
    network.save(&directory.join("model.safetensors"), &[].into()).expect("a written model");
}

fn arbitrary(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761) >> 26
}

#[test]
fn two_by_two_is_solved() {
    let directory = tempfile::tempdir().expect("a directory");
    let object = json(directory.path(), &["solve", "--board", "2x2", "--json"]);
    let near = |key: &str, value: f64| (object[key].as_f64().expect(key) - value).abs() < 1e-6;
    assert!(near("expected_score", 66.964_149_457) && near("sd", 23.971_258_456), "{object}");
    assert!(near("expected_moves", 11.960_445_769), "{object}");
    assert_eq!((&object["states"], &object["afterstates"]), (&110.into(), &67.into()));
    assert_eq!(object["tiles"]["8"], 1.0);
    let table = good(directory.path(), &["solve", "--board", "2x2"]);
    for part in ["mean 66.96, sd 23.97", "states       110", "32              8.288729%"] {
        assert!(table.contains(part), "{part} in {table}");
    }
    let goal = json(directory.path(), &["solve", "--board", "2x2", "--goal", "16", "--json"]);
    let chances = goal["probability"].as_f64().zip(object["tiles"]["16"].as_f64());
    assert!(chances.is_some_and(|(best, by_score)| best > by_score - 1e-9), "{goal}");
}

/// The mean of 20,000 games is within its confidence interval of the exact value.
fn games_agree(side: usize, tuples: &str, table: fn(u32) -> u32) {
    let directory = tempfile::tempdir().expect("a directory");
    model(directory.path(), side, tuples, table);
    let exact = json(directory.path(), &["solve", "--policy", ".", "--json"]);
    let played = json(directory.path(), &["eval", ".", "--games", "20000", "--json"]);
    let number = |value: &Value| value.as_f64().expect("a number");
    let (mean, ci95) = (number(&played["score"]["mean"]), number(&played["score"]["ci95"]));
    let expected = number(&exact["expected_score"]);
    assert!((mean - expected).abs() < ci95, "{expected}, but games: {mean} ± {ci95}");
    let ratio = number(&exact["sd"]) / number(&played["score"]["sd"]);
    assert!((0.97..1.03).contains(&ratio), "{exact} {played}");
    let moves = number(&played["moves"]) / 20_000.0;
    assert!((number(&exact["expected_moves"]) / moves - 1.0).abs() < 0.02, "{exact} {played}");
    let share = number(&exact["tiles"]["16"]) - number(&played["tiles"]["16"]);
    assert!(share.abs() < 0.01, "{exact} {played}");
}

#[test]
fn a_policy_on_two_by_two_comes_to_the_mean_of_its_games() {
    games_agree(2, "0123", arbitrary);
}

#[test]
fn a_policy_on_three_by_three_comes_to_the_mean_of_its_games() {
    // Values of 0 leave the rewards and many ties, and the games are short.
    games_agree(3, "0134", |_| 0);
}

#[test]
fn the_regret_of_a_policy_is_what_it_is_short_of_the_optimum() {
    let directory = tempfile::tempdir().expect("a directory");
    model(directory.path(), 2, "0123", arbitrary);
    let object = json(directory.path(), &["solve", "--policy", ".", "--regret", "--json"]);
    let number = |value: &Value| value.as_f64().expect("a number");
    let short = number(&object["optimum"]) - number(&object["expected_score"]);
    assert!(short > 1.0 && (number(&object["regret"]["total"]) - short).abs() < 1e-3, "{object}");
    let text = good(directory.path(), &["solve", "--policy", ".", "--regret"]);
    assert!(text.contains("of the moves are not the best") && text.contains("instead of"), "{text}");
    // The search knows the rest of the game better than these values.
    let deeper = json(directory.path(), &["solve", "--policy", ".", "--search", "3ply", "--json"]);
    assert!(number(&deeper["expected_score"]) > number(&object["expected_score"]), "{deeper}");
}

#[test]
fn exact_advice_from_a_file_and_without() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    good(path, &["solve", "--board", "2x2", "-o", "2x2.solution"]);
    let from_file = json(path, &["advise", "1100", "--exact=2x2.solution", "--json"]);
    assert_eq!(from_file, json(path, &["advise", "1100", "--exact", "--json"]));
    let values = &from_file["values"];
    assert!(values["up"].is_null() && values["right"] == values["left"], "{from_file}");
    let text = good(path, &["advise", "0110", "--exact=2x2.solution"]);
    assert!(text.contains("up") && text.contains("best") && text.contains("exact: "), "{text}");
    assert!(good(path, &["advise", "1221", "--exact=2x2.solution"]).contains("the game is over"));

    let mut bytes = fs::read(path.join("2x2.solution")).expect("the file");
    bytes[500] ^= 4;
    fs::write(path.join("altered"), &bytes).expect("a file");
    fs::write(path.join("short"), &bytes[..800]).expect("a file");
    let cases: [(&[&str], &str); 6] = [
        (&["advise", "0110", "--exact=altered"], "altered: is damaged"),
        (&["advise", "0110", "--exact=short"], "short: is cut short"),
        (&["advise", "010000000", "--exact=2x2.solution"], "of side 2, not 3"),
        (&["advise", "6660", "--exact"], "no game reaches 66/60"),
        (&["advise", "0110000000000000", "--exact"], "4×4 is not solved"),
        (&["advise", "0110", "--exact=none"], "cannot be read"),
    ];
    for (arguments, part) in cases {
        refused(path, arguments, part);
    }
}

fn refused(directory: &Path, arguments: &[&str], part: &str) {
    let output = run(directory, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
    assert!(error.contains(part), "{arguments:?}: {part} in {error}");
}

#[test]
fn bad_requests_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    model(directory.path(), 4, "0145", arbitrary);
    let cases: [(&[&str], &str); 6] = [
        (&["solve", "--policy", "."], "too many to count"),
        (&["solve", "--policy", ".", "--search", "10ms"], "does not always make the same move"),
        (&["solve", "--policy", ".", "--board", "3x3"], "cannot be used with"),
        (&["solve", "--goal", "500"], "a tile is 2, 4, 8"),
        (&["solve", "--four", "1.5"], "a number from 0 to 1"),
        (&["solve", "--board", "4x4"], "4x4"),
    ];
    for (arguments, part) in cases {
        refused(directory.path(), arguments, part);
    }
}
