//! The tests of the crate as one program, which links only once.

mod algorithms;
mod budget;
mod common;
mod identities;
mod oracle;
mod q_learning;
mod replicas;
mod restore;
mod starts;
mod teacher;
mod updater;
