//! The tests of the crate, in one program: it links once.

mod common;
mod passes;
mod pytorch;
mod training;
