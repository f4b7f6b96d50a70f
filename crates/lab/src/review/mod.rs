//! Reviews: grading the moves of a played game.
//!
//! A move is graded by its effect on a chance that players care about: that of reaching the next large tile in this
//! game ([`Chance`]). It *keeps* a share of the chance that the best move would have given, and *loses* the rest. The
//! *accuracy* of a game compares the loss of its moves with that of random moves in the same positions. docs/review.md
//! describes how the chances were calibrated.

mod chance;
mod judge;
mod text;

pub use chance::{Chance, Fit, LARGEST, Reference, SMALLEST, features, tile_chances};
pub use judge::{Accuracy, Grade, Judged, Lost, Regret, Summary, judge};
pub use text::{AnyGame, Format, LARGEST_NUMBER, Played, TextError, parse};
