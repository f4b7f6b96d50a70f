//! Reviews: how good the moves of a played game were.
//!
//! A move is judged by what it does to a chance that the player cares about: to reach the next large tile in this game
//! ([`Chance`]). It *keeps* a share of the chance that the best move would have given. The *accuracy* of a game is what
//! would be left of the chance after [`ACCURACY_MOVES`] moves that keep as much as those of the game did on average. docs/review.md
//! tells how the chances were calibrated.

mod chance;
mod judge;
mod text;

pub use chance::{Chance, Fit, LARGEST, Reference, SMALLEST, features, tile_chances};
pub use judge::{ACCURACY_MOVES, Accuracy, Grade, Judged, Regret, Summary, judge};
pub use text::{AnyGame, Format, LARGEST_NUMBER, Played, TextError, parse};
