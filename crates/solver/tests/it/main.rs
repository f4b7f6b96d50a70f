//! The tests of the crate as one program, which links only once.

mod file;
mod mini2048;
mod naive;
