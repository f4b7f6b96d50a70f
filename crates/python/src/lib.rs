//! Afterstate from Python: the native half of the package `afterstate_2048`.
//!
//! `array.rs` checks input arrays and creates output arrays; `interrupt.rs` runs long work without the interpreter's
//! lock and stops it at Ctrl-C. The rest is one file for each part of the package: `rules.rs` and `text.rs`, `game.rs`,
//! `environments/`, `model.rs` and `advice.rs`, `learner.rs`, `training.rs`, `solution.rs`. Code that is better written
//! in Python, such as the classes for Gymnasium, is in `python/afterstate_2048`.
//!
//! Everything is behind the feature `extension`.

#[cfg(feature = "extension")]
mod advice;
#[cfg(feature = "extension")]
mod array;
#[cfg(feature = "extension")]
mod environments;
#[cfg(feature = "extension")]
mod error;
#[cfg(feature = "extension")]
mod game;
#[cfg(feature = "extension")]
mod interrupt;
#[cfg(feature = "extension")]
mod learner;
#[cfg(feature = "extension")]
mod model;
#[cfg(feature = "extension")]
mod model_files;
#[cfg(feature = "extension")]
mod number;
#[cfg(feature = "extension")]
mod policy;
#[cfg(feature = "extension")]
mod rules;
#[cfg(feature = "extension")]
mod side;
#[cfg(feature = "extension")]
mod solution;
#[cfg(feature = "extension")]
mod text;
#[cfg(feature = "extension")]
mod training;

/// The module `afterstate_2048._native`.
#[cfg(feature = "extension")]
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        environments::Environments,
        game::Game,
        learner::Learner,
        model::{Model, load},
        model_files::{import_model, tables},
        rules::{canonical, legal_mask, perft, random_actions, slide, slides, spawn, spawns, symmetries},
        solution::{Solution, solve},
        text::{draw, from_text, to_text},
        training::{Training, recipes, train},
    };
}
