//! The tests of the crate, in one program: it links once.

#[path = "../../../lab/tests/it/downwards/mod.rs"]
mod downwards;
mod figure;
mod papers;
mod report;
mod reproduce;
mod taught;
