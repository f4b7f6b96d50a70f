//! The tests of the crate, in one program: it links once.

mod advise;
mod command;
mod dcnn;
mod docs;
mod endgame;
mod eval;
mod model;
mod parsers;
mod report;
mod reproduce;
mod review;
mod serve;
mod solve;
mod train;
