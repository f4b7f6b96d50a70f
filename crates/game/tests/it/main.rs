//! The tests of the crate as one program, which links only once.

mod golden;
mod oracle;
mod perft;
mod properties;
mod slides;
mod spawns;
mod text;
