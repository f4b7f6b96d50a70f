//! The tests of the crate, in one program: it links once.

mod golden;
mod oracle;
mod perft;
mod properties;
mod slides;
mod spawns;
mod text;
