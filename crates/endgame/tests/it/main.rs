//! The tests of the crate, in one program: it links once.

mod brute_force;
mod files;
