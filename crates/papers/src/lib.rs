//! Reproduces the papers' tables and figures beside the originals ([`reproduce`]), and makes reports of runs
//! ([`report`]).

pub mod report;
pub mod reproduce;
