//! The tests of the crate, in one program: it links once.

mod common;
mod convolutional;
mod hostile;
mod limits;
mod routes;
mod training;
