//! Experiments on 2048: recipes, runs and their files, models, evaluation, statistics of games, learning curves.

pub mod chain;
pub mod compact;
pub mod curve;
pub mod dcnn;
pub mod deal;
pub mod evaluate;
pub mod log;
pub mod model;
pub mod recipe;
pub mod records;
pub mod review;
pub mod run;
pub mod stats;
