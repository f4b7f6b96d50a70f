//! Reviews: how good the moves of a played game were.
//!
//! A move is judged by what it does to a chance that the player cares about: to reach the next large tile in this game
//! ([`Chance`]). It *keeps* a share of the chance that the best move would have given, and *loses* the rest. The *accuracy*
//! of a game compares what its moves lost with what moves at random would have lost in the same positions. docs/review.md
//! tells how the chances were calibrated.

mod chance;
mod judge;
mod text;

pub use chance::{Chance, Fit, LARGEST, Reference, SMALLEST, features, tile_chances};
pub use judge::{Accuracy, Grade, Judged, Lost, Regret, Summary, judge};
pub use text::{AnyGame, Format, LARGEST_NUMBER, Played, TextError, parse};
