//! `[game]`: which board, which rules.

use afterstate_game::Rules;
use serde::Serialize;

use super::document::Document;

/// The game that is learned.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Game {
    /// The number of rows, and of columns: 2, 3 or 4.
    pub side: usize,
    /// The probability that a new tile is a 4 rather than a 2.
    pub four: f64,
    /// The number of tiles on the board at the start.
    pub start_tiles: u32,
}

impl Game {
    /// The parameters of the rules.
    pub fn rules(&self) -> Rules {
        Rules { four: self.four, start_tiles: self.start_tiles }
    }

    pub(super) fn read(doc: &mut Document) -> Self {
        let rules = Rules::default();
        let side = doc.read("game.side", 4, "2, 3 or 4", |side| (2..=4).contains(side));
        let four =
            doc.read("game.four", rules.four, "a probability from 0 to 1", |p| (0.0..=1.0).contains(p));
        // A free cell at the start means a legal move: no game is over before it begins.
        let most = (side * side - 1) as u32;
        let expected = format!("a whole number from 1 to {most}");
        let start_tiles = rules.start_tiles;
        let start_tiles =
            doc.read("game.start_tiles", start_tiles, &expected, |tiles| (1..=most).contains(tiles));
        Game { side, four, start_tiles }
    }
}
