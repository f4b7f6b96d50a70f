//! `afterstate review`.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

fn review(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_afterstate"))
        .arg("review")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // What is refused at once does not read.
    let _ = child.stdin.take().expect("its input").write_all(input.as_bytes());
    child.wait_with_output().expect("an end")
}

/// A game of the first legal move in the order left, down, right, up.
fn game() -> String {
    let mut game = afterstate_game::Game::<4>::new(afterstate_game::Rules::default(), 1, 2048);
    let mut text = String::from("afterstate game 1 2048 4\n");
    let order = [
        afterstate_game::Move::Left,
        afterstate_game::Move::Down,
        afterstate_game::Move::Right,
        afterstate_game::Move::Up,
    ];
    while let Some(a) = order.into_iter().find(|a| game.play(*a).is_some()) {
        text.push_str(&a.name()[..1]);
    }
    text
}

#[test]
fn a_game_is_judged_as_text_and_as_json() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("game.txt");
    std::fs::write(&file, game()).expect("a file");
    let output = review(&[file.to_str().expect("a path"), "--search", "1ply"], "");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("accuracy ") && text.contains("chance of a ") && text.contains("blunder"),
        "{text}"
    );
    let output = review(&["-", "--search", "1ply", "--json"], &game());
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let accuracy = json["accuracy"].as_f64().expect("a number");
    assert!((0.0..40.0).contains(&accuracy), "{accuracy}");
    assert!(text.contains(&format!("accuracy {accuracy:.1}%")));
    let moves = json["moves"].as_array().expect("moves");
    let grades = json["grades"].as_object().expect("grades").values().filter_map(Value::as_u64).sum::<u64>();
    assert_eq!((moves.len() as u64, moves.len()), (grades, game().lines().nth(1).map_or(0, str::len)));
    let worst = &moves[json["worst"][0].as_u64().expect("a move") as usize];
    assert!(worst["kept"].as_f64() < Some(0.9) && worst["grade"] != "best", "{worst}");
}

#[test]
fn what_is_no_game_is_refused() {
    for (input, message) in [
        ("", "0 cells"),
        ("afterstate game 1 42 4\nlx", "line 2: `x`"),
        ("0000/0000/0000/0001 right", "moves nothing on"),
    ] {
        let output = review(&["-"], input);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(message) && error.contains("hint"), "{input:?}: {error}");
        assert_eq!(output.status.code(), Some(2), "{error}");
    }
    let missing = review(&["/no/such/game"], "");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read"));
}
