//! Why a run cannot begin or continue.

use std::{io, path::PathBuf};

use afterstate_dcnn::DeviceError;
use afterstate_endgame::TableError;
use afterstate_learning::TrainerError;
use afterstate_network::{MemoryError, NetworkError, SpecError, file::FileError};

use crate::{
    curve::CurveError,
    log::{LogError, Repaired},
    model::ModelError,
    recipe::RecipeError,
    records::RecordError,
};

/// Why a run cannot begin or continue.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The directory already holds a run.
    #[error("{} already holds a run", .0.display())]
    Exists(PathBuf),
    /// A run by records of an earlier version.
    #[error("{} holds a run of an earlier version of afterstate (dcnn.json), which this one cannot continue", .0.display())]
    Former(PathBuf),
    /// Another process is at work in the directory.
    #[error("another process is training in {}", .0.display())]
    Busy(PathBuf),
    /// A file that a new run would replace, and that is of no run.
    #[error("{} is there already, and belongs to no run; it is left as it is", .0.display())]
    Foreign(PathBuf),
    /// The recipe's name cannot be that of a directory.
    #[error("`{0}` cannot be the name of a directory of runs")]
    Name(String),
    /// A resumed run was told to learn something else.
    #[error("`{key}` cannot be changed when a run is resumed: the run has {stored}, the recipe {wanted}")]
    Changed {
        /// The first key that differs.
        key: String,
        /// Its value in the run.
        stored: String,
        /// Its value in the recipe.
        wanted: String,
    },
    /// A run that ended after a number of games was told to play more.
    #[error("a run that has played all {0} games of its budget cannot play more")]
    Extended(u64),
    /// A run that kept no checkpoint was told to continue.
    #[error("the run in {} is finished, and has kept no checkpoint to go on from (checkpoint.keep = false)", .0.display())]
    Finished(PathBuf),
    /// Several processes cannot share the training.
    #[error("training in several processes needs {0}")]
    Replicas(&'static str),
    /// The weights are no numbers any more.
    #[error(
        "learning has diverged within {actions} actions: values are no longer finite numbers with {key} = {rate}{}",
        times(*factor)
    )]
    Diverged {
        /// How far it came.
        actions: u64,
        /// The key of the learning rate.
        key: &'static str,
        /// The learning rate.
        rate: f64,
        /// What `learning.schedule` multiplied it by.
        factor: f64,
    },
    /// The checkpoint is of another run.
    #[error("{}: the checkpoint is of a run with another `{key}` than the recipe says", path.display())]
    OtherRecipe {
        /// The checkpoint.
        path: PathBuf,
        /// The first key that differs.
        key: String,
    },
    /// The checkpoint is of another version of the program.
    #[error("{}: the checkpoint was written by afterstate {found}, and this is afterstate {}", path.display(), env!("CARGO_PKG_VERSION"))]
    Version {
        /// The checkpoint.
        path: PathBuf,
        /// The version that wrote it.
        found: String,
    },
    /// The newest checkpoint is damaged; a warning.
    #[error("{0}; it goes on from the checkpoint before")]
    FellBack(Box<RunError>),
    /// A log was damaged; a warning.
    #[error(transparent)]
    Repaired(#[from] Repaired),
    /// The directory of the run had been removed; a warning.
    #[error("{} was removed while it was in use, and has been made again", .0.display())]
    MadeAgain(PathBuf),
    /// The positions to begin with cannot be used.
    #[error("{}: the positions cannot be used: {problem}", path.display())]
    Positions {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        problem: String,
    },
    /// An endgame table cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A directory of endgame tables without any.
    #[error("{} holds no endgame table: `afterstate endgame build` makes some", .0.display())]
    NoTables(PathBuf),
    /// The checkpoint is not one of this run.
    #[error("{}: the checkpoint cannot be used: {problem}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A run that another one needs, and that no recipe makes.
    #[error("{needed} is needed first, and there is no recipe `{name}` to make it by")]
    Needs {
        /// The directory of the run.
        needed: PathBuf,
        /// The recipe that would make it.
        name: String,
    },
    /// A run that needs itself.
    #[error("{} needs itself first", .0.display())]
    Circle(PathBuf),
    /// The records are others than when the run began.
    #[error("the records in {} have changed since the run began, so that it would not go on as it was", .0.display())]
    OtherRecords(PathBuf),
    /// The records cannot be read.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// There is no such convolutional network.
    #[error(transparent)]
    Dcnn(#[from] afterstate_dcnn::SpecError),
    /// There is no such device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// There are no matrices in it for a GPU.
    #[error("n-tuple networks learn on the CPU alone")]
    CpuOnly,
    /// The model to begin or play with cannot be used.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// The directory cannot be made or used.
    #[error("cannot use the directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file or directory of a run cannot be removed.
    #[error("cannot remove {}: {source}", path.display())]
    Unremoved {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The recipe cannot be used.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The recipe describes no network.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The network cannot be made.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The trainer cannot be made.
    #[error(transparent)]
    Trainer(#[from] TrainerError),
    /// A model, checkpoint or recipe cannot be written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A log cannot be written or read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The curve cannot be drawn.
    #[error(transparent)]
    Curve(#[from] CurveError),
}

fn times(factor: f64) -> String {
    if factor == 1.0 { String::new() } else { format!(", which learning.schedule multiplies by {factor}") }
}

impl From<ModelError> for RunError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::File(error) => RunError::File(error),
            error => RunError::Model(error.into()),
        }
    }
}
