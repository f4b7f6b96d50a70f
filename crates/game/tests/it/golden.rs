//! One numbered game, move by move, as it was when first recorded. It changes only when the rules,
//! the random streams or the text form of boards do; then regenerate it and say so in the changelog:
//!
//! `UPDATE_GOLDEN=1 cargo test -p afterstate-game --test it golden`

use std::{env, fmt::Write, fs};

use afterstate_game::{Game, Move, Rules};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/game-42.txt");

/// Game 42 of seed 1: into the corner where possible.
fn playthrough() -> String {
    let mut game = Game::<4>::new(Rules::default(), 1, 42);
    let mut text = format!("start {} 0\n", game.state());
    let preferred = [Move::Left, Move::Down, Move::Right, Move::Up];
    while let Some(a) = preferred.into_iter().find(|&a| game.play(a).is_some()) {
        writeln!(text, "{a:<5} {} {}", game.state(), game.score()).expect("a string takes everything");
    }
    text
}

#[test]
fn game_42_is_what_it_was() {
    let now = playthrough();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(FILE, &now).expect("the data file can be written");
    }
    let then = fs::read_to_string(FILE).expect("the data file can be read");
    for (number, (now, then)) in now.lines().zip(then.lines()).enumerate() {
        assert_eq!(now, then, "after {number} moves");
    }
    assert_eq!(now.lines().count(), then.lines().count());
}
