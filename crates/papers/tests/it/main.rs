//! The tests of the crate as one program, which links only once.

#[path = "../../../lab/tests/it/downwards/mod.rs"]
mod downwards;
mod figure;
mod papers;
mod report;
mod reproduce;
mod taught;
