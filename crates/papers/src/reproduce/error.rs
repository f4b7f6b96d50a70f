//! Why a table cannot be reproduced.

use std::{io, path::PathBuf};

use afterstate_network::{NetworkError, SpecError, file::FileError};

use afterstate_lab::{log::LogError, recipe::RecipeError, run::RunError};

/// Why a table cannot be reproduced.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// No table has this name.
    #[error("no paper has a table `{0}`")]
    NoTable(String),
    /// A table's file cannot be read.
    #[error("papers/{name}.toml: {source}")]
    Data {
        /// The table.
        name: String,
        /// The parser's error.
        source: Box<toml::de::Error>,
    },
    /// A share out of range.
    #[error("a share of {0} cannot be run: it must be above 0 and at most 1")]
    Share(f64),
    /// The directory holds trainings with another budget.
    #[error("{} holds a training with another budget", .0.display())]
    OtherBudget(PathBuf),
    /// Networks are taught by records, but none were given.
    #[error("the networks of {0} are taught by play records, but none were given")]
    NoRecords(String),
    /// The directory holds trainings with other records.
    #[error("{} holds a training by the records in {}", path.display(), found.display())]
    OtherRecords {
        /// The directory.
        path: PathBuf,
        /// The records there.
        found: PathBuf,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An error of a recipe of the table.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// An invalid network.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A network that cannot be created.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A model that cannot be loaded.
    #[error(transparent)]
    Model(#[from] FileError),
    /// An error of a training.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An error of the log of a training, or of the games of an evaluation.
    #[error(transparent)]
    Log(#[from] LogError),
    /// An invalid search.
    #[error(transparent)]
    Search(#[from] afterstate_search::SpecError),
}

impl ReproduceError {
    /// For `map_err`: an error on this file.
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| ReproduceError::File { path, source }
    }
}
