//! Why a model cannot be used.

use std::path::PathBuf;

use afterstate_network::{Values, file::FileError};
use afterstate_search::{DowngradeError, SpecError};
use afterstate_solver::SolutionError;

use crate::recipe::RecipeError;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file cannot be read, or is damaged.
    #[error(transparent)]
    File(#[from] FileError),
    /// The solution cannot be read, or is damaged.
    #[error(transparent)]
    Solution(#[from] SolutionError),
    /// The recipe in the file cannot be read.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The file selects an invalid downgrading.
    #[error("{} selects an invalid downgrading: {source}", path.display())]
    Downgrade {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: DowngradeError,
    },
    /// The text is not a search.
    #[error(transparent)]
    Search(#[from] SpecError),
    /// The model does not support the search.
    #[error("{model} is {kind}, which has no search `{search}`")]
    NoSearch {
        /// The model.
        model: String,
        /// Its kind.
        kind: &'static str,
        /// The requested one.
        search: String,
    },
    /// The model plays on other boards.
    #[error("the board is {board}×{board}, but the model plays on {side}×{side}")]
    Side {
        /// The side of the board.
        board: usize,
        /// The side of the model's boards.
        side: usize,
    },
    /// The solution for boards of this side is not available.
    #[error("there is no solution of {0}×{0}")]
    Unsolved(usize),
    /// The request needs an n-tuple network.
    #[error("{what} needs an n-tuple network, but {model} is {kind}")]
    NoNetwork {
        /// The operation.
        what: String,
        /// The model.
        model: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The operation needs other values than the model has.
    #[error("{what} needs values of afterstates, but {model} has values of {values}")]
    Values {
        /// The operation.
        what: String,
        /// The model.
        model: String,
        /// The values that it has.
        values: Values,
    },
}
