//! The tests of the crate as one program, which links only once.

mod advise;
mod command;
mod conformance;
mod dcnn;
mod docs;
mod documented;
mod endgame;
mod engine;
mod eval;
mod faults;
mod model;
mod parsers;
mod play;
mod report;
mod reproduce;
mod review;
mod runs;
mod serve;
mod solve;
mod train;
mod tutorials;
