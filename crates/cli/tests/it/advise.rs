//! `afterstate advise`, as a user sees it.

use std::process::{Command, Output};

use afterstate_network::{Network, NetworkSpec, Tuples};
use serde_json::Value;

/// Advice by an empty network, which values only the merges that it sees.
fn advise(arguments: &[&str]) -> Output {
    let directory = tempfile::tempdir().expect("a directory");
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let model = directory.path().join("model.safetensors");
    Network::new(spec).expect("a small network").save(&model, &[].into()).expect("a written model");
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory.path()).args(["advise", "--model", "."]).args(arguments);
    command.output().expect("the binary runs")
}

fn good(arguments: &[&str]) -> String {
    let output = advise(arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn json_has_the_values_of_all_moves() {
    let text = good(&["1123/0000/0000/0000", "--search", "1ply", "--json"]);
    let object: Value = serde_json::from_str(&text).expect("JSON");
    // 2 and 2 make a 4; nothing moves up.
    assert_eq!(object["values"], serde_json::json!({ "up": null, "right": 4.0, "down": 0.0, "left": 4.0 }));
    assert_eq!(
        (&object["best"], &object["expected"], &object["plies"]),
        (&"right".into(), &4.0.into(), &1.into())
    );
    assert_eq!(object["line"][0]["move"], "right");
    let deeper: Value =
        serde_json::from_str(&good(&["1123/0000/0000/0000", "--search", "3ply", "--json"])).expect("JSON");
    assert!(deeper["expected"].as_f64() > Some(12.0), "two more merges are in sight: {deeper}");
    assert_eq!(deeper["line"].as_array().map(Vec::len), Some(3));
}

#[test]
fn people_get_the_best_move_and_the_line() {
    let text = good(&["2 2 4 8  0 0 0 0  0 0 0 0  0 0 0 0", "--search", "2ply"]);
    for part in ["up        illegal", "best", "line   ", "2ply: 2 moves ahead"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(good(&["1212/2121/1212/2121"]).contains("the game is over"));
    assert!(good(&["1212/2121/1212/2100", "--search", "1ms"]).contains("best"));
}

#[test]
fn bad_requests_are_refused() {
    let cases: [(&[&str], &str); 4] = [
        (&["0000/0010"], "a board has"),
        (&["010/000/100"], "the board is 3×3"),
        (&["0000/0010/0100/0000", "--search", "x"], "`x` is not a search"),
        (&["0000/0010/0100/0000", "--model", "none"], "cannot be used multiple times"),
    ];
    for (arguments, part) in cases {
        let output = advise(arguments);
        let complaint = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(part), "{arguments:?}: {complaint}");
    }
}

#[test]
fn boards_come_from_standard_input_and_lines_keep_their_notation() {
    use std::{io::Write, process::Stdio};
    let ask = |arguments: &[&str], boards: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_afterstate"))
            .args(["advise", "--search", "1ply"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        child.stdin.take().expect("a pipe").write_all(boards.as_bytes()).expect("it listens");
        child.wait_with_output().expect("an end")
    };
    let output = ask(&["-", "--json"], "1123/0000/0000/0000\n\n2 2 4 8  . . . .  _ _ _ _  0 0 0 0\n");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["values"], answers[1]["values"], "the same board in two notations");
    let output = ask(&["-"], "1123/0000/0000/0000\nnonsense\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 2"), "{output:?}");

    let text = good(&["2 2 4 8  0 0 0 0  0 0 0 0  0 0 0 0", "--search", "2ply"]);
    assert!(text.contains("      2      2      4      8\n"), "the board is drawn: {text}");
    let line = text.lines().find(|line| line.starts_with("line")).expect("a line");
    assert!(line.contains(" 0 ") && !line.contains('/'), "face values: {line}");
    let text = good(&["1123/..../____/0000", "--search", "2ply"]);
    assert!(text.lines().any(|line| line.starts_with("line") && line.contains('/')), "exponents: {text}");
}

#[test]
fn a_model_for_three_by_three_is_built_in() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_afterstate")).args(["advise", "123/012/001", "--json"]).output();
    let output = output.expect("the binary runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(answer["expected"].as_f64() > Some(1000.0), "{answer}");
}
