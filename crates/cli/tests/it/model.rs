//! `afterstate model`, as a user sees it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use afterstate_network::{Network, NetworkSpec, Tuples};
use serde_json::Value;

fn model(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).arg("model").args(arguments).output().expect("the binary runs")
}

fn good(directory: &Path, arguments: &[&str]) -> String {
    let output = model(directory, arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn refused(directory: &Path, arguments: &[&str]) -> String {
    let output = model(directory, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).expect("text")
}

fn write_model(path: &Path) {
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    network.set_table(1, [0.0, 2.5, -1.5]);
    let extra = [("actions".to_string(), "17\u{1b}[31m".to_string())].into();
    network.save(path, &extra).expect("a written model");
}

#[test]
fn info_shows_shape_and_weights() {
    let directory = tempfile::tempdir().expect("a directory");
    write_model(&directory.path().join("model.safetensors"));
    let text = good(directory.path(), &["info", "."]);
    for part in ["2x4: 2 tuples, 131,072 weights, 0.5 MiB", "· · · ·   1 2 3 4\n", "-1.500         2.500\n"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours in a pipe, and no escapes from the file");
    let object: Value =
        serde_json::from_str(&good(directory.path(), &["info", ".", "--json"])).expect("JSON");
    assert_eq!((&object["weights"], &object["non_zero"]), (&131_072.into(), &2.into()));
    assert_eq!((&object["tables"][1]["cells"], &object["tables"][1]["max"]), (&"4567".into(), &2.5.into()));
}

#[test]
fn export_and_import_give_the_same_network() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    write_model(&path("a.safetensors"));
    good(directory.path(), &["export", "a.safetensors", "-o", "a.w"]);
    good(directory.path(), &["import", "a.w", "-o", "b.safetensors"]);
    good(directory.path(), &["export", "b.safetensors", "-o", "b.w"]);
    assert_eq!(fs::read(path("a.w")).expect("a file"), fs::read(path("b.w")).expect("a file"));
    assert!(good(directory.path(), &["info", "a.w"]).contains("TDL2048+"));
    assert!(refused(directory.path(), &["import", "a.safetensors", "-o", "c"]).contains("already"));
}

#[test]
fn bad_files_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("bad");
    write_model(&path);
    let mut bytes = fs::read(&path).expect("a file");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).expect("a written file");
    assert!(refused(directory.path(), &["info", "bad"]).contains("the checksum of tensor `V.1`"));
    assert!(refused(directory.path(), &["info", "none"]).contains("none: cannot be read"));
    fs::write(&path, "no network").expect("a written file");
    assert!(refused(directory.path(), &["import", "bad", "-o", "c"]).contains("not a network"));
}

#[test]
fn fold_and_average_make_models() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    write_model(&path("a"));
    assert!(refused(directory.path(), &["fold", "a", "-o", "b"]).contains("nothing to fold"));
    let tuples = ["0123", "01"].map(|tuple| tuple.parse().expect("a tuple")).into();
    let spec = NetworkSpec { tuples: Tuples::new(tuples).expect("tuples"), ..NetworkSpec::default() };
    Network::new(spec).expect("a small network").save(&path("c"), &Default::default()).expect("a model");
    let text = good(directory.path(), &["fold", "c", "-o", "d"]);
    assert_eq!(text, "d: 1 tuple, 65,536 weights, folded from 2 tuples, 65,792 weights\n");
    assert!(refused(directory.path(), &["average", "a", "c", "-o", "e"]).contains("`tuples`"));
    good(directory.path(), &["average", "a", "a", "-o", "e"]);
    let table = |name: &str| Network::load(&path(name)).expect("a model").table(1).collect::<Vec<_>>();
    assert_eq!(table("a"), table("e"), "the mean of equal ones");
}

#[test]
fn initial_values_and_stages_are_exported() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let tuples = Tuples::named("2x4").expect("a set");
    let spec = NetworkSpec { tuples: tuples.clone(), initial: vec![3200.0], ..NetworkSpec::default() };
    let optimistic = Network::new(spec).expect("a small network");
    optimistic.set_table(0, (0..65_536u32).map(|i| (i % 97) as f32));
    optimistic.save(&path("optimistic.safetensors"), &[].into()).expect("a model");
    let stages = "2^2-carried".parse().expect("stages");
    let spec = NetworkSpec { tuples, stages, promotion: true, ..NetworkSpec::default() };
    let staged = Network::new(spec).expect("a small network");
    (0..8)
        .for_each(|table| staged.set_table(table, (0..65_536u32).map(|i| (i % (11 + table as u32)) as f32)));
    staged.save(&path("staged.safetensors"), &[].into()).expect("a model");

    let advice = |model: &str| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        let arguments = ["advise", "1234/0b12/0001/c000", "--search", "1ply", "--json", "--model", model];
        let output = command.current_dir(directory.path()).args(arguments).output().expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["values"].clone()
    };
    for (model, file) in [("optimistic", "o.w"), ("optimistic", "o.bin"), ("staged", "s.bin")] {
        let model = format!("{model}.safetensors");
        let answer = good(directory.path(), &["export", &model, "-o", file, "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&answer).expect("JSON")["file"], file);
        let (before, after) = (advice(&model), advice(file));
        for a in ["up", "right", "down", "left"] {
            let difference = before[a].as_f64().unwrap_or_default() - after[a].as_f64().unwrap_or_default();
            assert!(difference.abs() < 0.01, "{file}, {a}: {before} {after}");
        }
    }
    assert!(refused(directory.path(), &["export", "staged.safetensors", "-o", "s.w"]).contains("4 stages"));
}
