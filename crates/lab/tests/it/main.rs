//! The tests of the crate as one program, which links only once.

mod built_in;
mod chain;
mod compact;
mod curve;
mod dcnn;
mod downwards;
mod evaluate;
mod model;
mod recipe;
mod records;
mod replicas;
mod review;
mod run;
mod starts;
mod tables;
