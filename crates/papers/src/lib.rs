//! The papers' tables and figures, made again beside the papers' own ([`reproduce`]), and reports of runs ([`report`]).

pub mod report;
pub mod reproduce;
