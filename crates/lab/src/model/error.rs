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
    /// The file selects a downgrading that does not exist.
    #[error("{} asks for downgrading that there is not: {source}", path.display())]
    Downgrade {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: DowngradeError,
    },
    /// The text is no search.
    #[error(transparent)]
    Search(#[from] SpecError),
    /// The model cannot play so.
    #[error("{model} is {kind}, which has no search `{search}`")]
    NoSearch {
        /// The model.
        model: String,
        /// What it is.
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
    /// There are no true values for boards of this side.
    #[error("the solution of {0}×{0} is not there")]
    Unsolved(usize),
    /// The request needs an n-tuple network.
    #[error("{what} needs an n-tuple network, but {model} is {kind}")]
    NoNetwork {
        /// Who asks.
        what: String,
        /// The model.
        model: String,
        /// What it is.
        kind: &'static str,
    },
    /// The request needs other values than the model has.
    #[error("{what} needs values of afterstates, but {model} has values of {values}")]
    Values {
        /// Who asks.
        what: String,
        /// The model.
        model: String,
        /// What it has.
        values: Values,
    },
}
