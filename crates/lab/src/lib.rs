//! Experiments on 2048: recipes, run files, statistics of games, and learning curves.

pub mod curve;
pub mod files;
pub mod log;
pub mod recipe;
pub mod stats;
