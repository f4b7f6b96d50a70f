//! The tests of the crate, in one program: it links once.

mod common;
mod endgames;
mod naive;
mod players;
