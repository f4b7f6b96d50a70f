//! Exact chances of endgames.
//!
//! Late in a game of 2048 the largest tiles stand still: they are *walls*. The free cells between them play on towards a *target*
//! tile. An [`Endgame`] is a set of wall shapes and a target; [`Solver`] computes, for every afterstate that can come up, the
//! chance that best play makes the target, by layers of the sum of the free tiles. A [`Table`] is that in a file, and [`Tables`]
//! are those that a player asks.
//!
//! ```
//! use afterstate_endgame::{Endgame, Position, Solver};
//!
//! let endgame = Endgame::parse(&["FFFF/FFFF/FF../...."], 32)?;
//! let start: Position = "FFFF/FFFF/FF00/0012".parse()?;
//! let solved = Solver::new(&endgame)?.from(&[start])?.solve(&mut |_| true)?;
//! assert!(solved.chances[0] > 0.5 && solved.chances[0] < 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod background;
mod bitmap;
mod board;
mod bound;
mod code;
mod endgame;
mod expand;
mod file;
mod frame;
mod half;
mod layer;
mod line;
mod lock;
mod output;
mod pass;
mod precision;
mod set;
mod simd;
mod solve;
mod space;
mod store;
mod table;
mod tables;
mod verify;

pub use board::{Position, PositionError};
pub use endgame::{Endgame, EndgameError, MAX_FREE, MIN_FREE, Walls};
pub use file::TableError;
pub use pass::GoalValues;
pub use precision::{Precision, PrecisionError};
pub use set::{Set, SetError, SetTable};
pub use solve::{SolveError, SolveProgress, Solved, Solver};
pub use table::{ChanceError, Histogram, Table, Window};
pub use tables::{EXTENSION, Match, Near, Region, Tables};
pub use verify::Verified;
