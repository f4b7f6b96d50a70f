//! The tests of the crate, in one program: it links once.

mod batch;
mod derived;
mod files;
mod files_of_others;
mod naive;
mod packed;
mod shapes;
mod stages;
mod values;
