//! `afterstate eval`, as a user sees it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use afterstate_network::{Network, NetworkSpec, Tuples};
use serde_json::Value;

fn eval(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).arg("eval").args(arguments).output().expect("the binary runs")
}

fn good(directory: &Path, arguments: &[&str]) -> String {
    let output = eval(directory, arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// A directory with a model whose values are arbitrary but not all equal.
fn model() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    network.set_table(0, (0..65_536u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as f32));
    let path = directory.path().join("model.safetensors");
    network.save(&path, &[].into()).expect("a written model");
    directory
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let directory = model();
    let played = |threads: &str| -> Value {
        let arguments = [".", "--games", "101", "--seed", "5", "--threads", threads, "--json"];
        let mut object: Value = serde_json::from_str(&good(directory.path(), &arguments)).expect("JSON");
        let fields = object.as_object_mut().expect("an object");
        fields.remove("seconds");
        fields.remove("moves_per_second");
        object
    };
    let one = played("1");
    assert_eq!((&one["games"], &one["seed"], &one["search"]), (&101.into(), &5.into(), &"1ply".into()));
    assert!(one["score"]["min"].as_u64() < one["score"]["max"].as_u64(), "games differ: {one}");
    assert_eq!(one, played("2"));
    assert_eq!(one, played("7"));
}

#[test]
fn json_has_the_documented_fields() {
    let directory = model();
    let text = good(directory.path(), &["model.safetensors", "--games", "3", "--json"]);
    let object: Value = serde_json::from_str(&text).expect("JSON");
    let keys: Vec<_> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected =
        ["games", "model", "moves", "moves_per_second", "score", "search", "seconds", "seed", "tiles"];
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    for key in ["mean", "ci95", "sd", "median", "min", "max"] {
        assert!(object["score"][key].is_number(), "{key} in {text}");
    }
    assert!(object["tiles"]["2048"].is_number() && object["tiles"]["65536"].is_number(), "{text}");
}

#[test]
fn people_get_a_table() {
    let directory = model();
    let text = good(directory.path(), &[".", "--games", "20"]);
    for part in ["20 games", "mean ", " ± ", "median", "2048", "95% interval", "moves/s"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn bad_requests_are_refused() {
    let directory = model();
    fs::write(directory.path().join("bad"), "no network").expect("a written file");
    let cases: [(&[&str], &str); 5] = [
        (&[], "no built-in model yet"),
        (&["none"], "none: cannot be read"),
        (&["bad"], "not a network"),
        (&[".", "--search", "3ply"], "`3ply` yet"),
        (&[".", "--games", "0"], "'0'"),
    ];
    for (arguments, part) in cases {
        let output = eval(directory.path(), arguments);
        let complaint = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(output.stdout.is_empty() && complaint.contains(part), "{arguments:?}: {complaint}");
    }
}
