//! The tests of the crate as one program, which links only once.

mod common;
mod convolutional;
mod hostile;
mod limits;
mod routes;
mod training;
