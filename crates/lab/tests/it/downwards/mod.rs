//! Play records of a simple player, whose moves are learned quickly.

use std::path::Path;

use afterstate_game::{Move, Rules, State};
use afterstate_lab::{
    deal::Part,
    records::{About, Recorder},
};
use afterstate_search::{Advice, Player};

/// Moves down if it can, else left, right or up.
struct Downwards;

impl Player<4> for Downwards {
    fn advise(&mut self, state: State<4>) -> Advice {
        let legal = state.legal_moves();
        let worth = [0.0, 1.0, 3.0, 2.0];
        let values = Move::ALL.map(|a| legal.contains(a).then(|| worth[a as usize]));
        Advice { values, plies: 1, ..Advice::default() }
    }
}

/// Records games of it.
pub(crate) fn record(directory: &Path, games: u64) {
    let Rules { four, start_tiles } = Rules::default();
    let [model, checksum, search, version] = ["downwards", "0", "1ply", "0"].map(str::to_owned);
    let about = About { model, checksum, search, seed: 3, four, start_tiles, version };
    let recorder = Recorder { directory, about, games, part: Part::WHOLE, threads: 2 };
    assert!(recorder.record(|_| Downwards, |_, _| true).unwrap());
}
