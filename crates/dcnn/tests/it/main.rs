//! The tests of the crate as one program, which links only once.

mod common;
mod passes;
mod pytorch;
mod training;
