//! The tests of the crate as one program, which links only once.

mod batch;
mod derived;
mod files;
mod files_of_others;
mod naive;
mod packed;
mod shapes;
mod stages;
mod values;
