//! The rules of 2048, exact up to the 131072-tile, on boards of 4×4, 3×3 and 2×2.
//!
//! A [`State`] is a board on which the player is to move; an [`Afterstate`] is the board after a slide,
//! before the new tile. They are different types, so that their values cannot be mixed up:
//!
//! ```
//! use afterstate_game::{Move, State};
//!
//! let state: State<4> = "0000/0010/0100/0000".parse()?;
//! let slide = state.slide(Move::Left).expect("both tiles can move left");
//! assert_eq!(slide.afterstate.to_string(), "0000/1000/1000/0000");
//! assert_eq!(slide.reward, 0);
//! assert_eq!(slide.afterstate.spawns(&Default::default()).count(), 28);
//! # Ok::<(), afterstate_game::ParseError>(())
//! ```

mod board;
mod draw;
mod game;
mod moves;
mod perft;
mod random;
mod rules;
mod slide;
mod state;
mod symmetry;
mod text;

pub use board::{AnyBoard, Board, BoardError, Cells, LARGEST_EXPONENT};
pub use draw::{draw, tile_colour};
pub use game::Game;
pub use moves::{Move, Moves};
pub use perft::perft;
pub use random::{GameRng, game_rng};
pub use rules::Rules;
pub use state::{Afterstate, Slide, Slides, State};
pub use symmetry::Symmetry;
pub use text::{Cell, ParseError, has_faces};
