//! The built-in model is the documented one, and plays as documented.

use std::path::Path;

use afterstate_lab::{
    evaluate::{Games, SEED, evaluate},
    model::{BUILT_IN, Loaded, open_file},
};

/// As in docs/built-in-model.md.
const CHECKSUM: &str = "ea1785c193dbf9f6";
const SIZE: u64 = 10_000_000;
const MEAN: f64 = 240_973.0;
const STANDARD_DEVIATION: f64 = 86_080.0;

const GAMES: u64 = 200;

#[test]
fn it_is_the_documented_one() {
    let file = open_file(Path::new(BUILT_IN)).expect("the built-in model");
    assert!(file.size() <= SIZE);
    assert_eq!(Loaded::open(None).expect("the built-in model").checksum, CHECKSUM);
}

#[test]
fn it_plays_as_documented() {
    let model = Loaded::open(None).expect("the built-in model");
    let games = Games { rules: model.rules, seed: SEED + 1, count: GAMES };
    let results = evaluate(&model.network, games, 2, |_| true).expect("games");
    let mean = results.iter().map(|result| result.score as f64).sum::<f64>() / GAMES as f64;
    // Four standard errors of the mean: games are always the same, but who changes how they are played may be unlucky.
    let error = STANDARD_DEVIATION / (GAMES as f64).sqrt();
    assert!((mean - MEAN).abs() < 4.0 * error, "{mean} is not {MEAN} ± {error}");
}
