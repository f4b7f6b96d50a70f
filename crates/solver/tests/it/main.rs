//! The tests of the crate, in one program: it links once.

mod file;
mod mini2048;
mod naive;
