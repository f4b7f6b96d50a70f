//! The built-in model is the documented one, and plays as documented.

use std::path::Path;

use afterstate_lab::{
    deal::Deck,
    evaluate::{Games, SEED, header_checksum},
    model::{BUILT_IN, Model, open_file},
};
use afterstate_search::Limit;

/// As in docs/built-in-model.md.
const CHECKSUM: &str = "ea1785c193dbf9f6";
const SIZE: u64 = 10_000_000;
const MEAN: f64 = 285_844.0;
const STANDARD_DEVIATION: f64 = 128_814.0;

/// As in models/README.md.
const LATE_CHECKSUM: &str = "1819a53c1a9a6a8d";

const GAMES: u64 = 200;

#[test]
fn it_is_the_documented_one() {
    let file = open_file(Path::new(BUILT_IN)).expect("the built-in model");
    assert!(file.size() <= SIZE);
    assert_eq!(Model::open(None).expect("the built-in model").checksum, CHECKSUM);
}

/// The second model, which is beside it: the header has the checksums of all tables.
#[test]
fn the_one_with_the_last_steps_is_the_documented_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/late.safetensors");
    let file = open_file(&path).expect("a model file");
    assert!(file.size() <= SIZE);
    assert_eq!(header_checksum(&file), LATE_CHECKSUM);
    assert_eq!(file.metadata().get("downgrade").map(String::as_str), Some("16384..24576"));
}

#[test]
fn it_plays_as_documented() {
    let model = Model::open(None).expect("the built-in model");
    let games = Games { rules: model.rules, seed: SEED + 1, dealer: &Deck::new(GAMES) };
    let search = model.search(None, Limit::Plies(1)).expect("a search");
    let outcome = model.play(search, games, 2, None, |_| true).expect("a search that it can do");
    let results = outcome.expect("games").results;
    let mean = results.iter().map(|result| result.score as f64).sum::<f64>() / GAMES as f64;
    // Four standard errors of the mean: the games are fixed, but a change to how they are played may have bad luck.
    let error = STANDARD_DEVIATION / (GAMES as f64).sqrt();
    assert!((mean - MEAN).abs() < 4.0 * error, "{mean} is not {MEAN} ± {error}");
}
