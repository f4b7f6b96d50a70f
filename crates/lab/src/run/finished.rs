//! `checkpoint/finished.json`: how far a run came that is finished and keeps no checkpoint.
//!
//! E and A take twice the room of the weights, and a run whose budget is used up needs them only to be given a larger
//! one. Without them (`checkpoint.keep = false`) this file says that the run is over, so that it is not begun again.

use std::{
    fs,
    io::{self, ErrorKind},
};

use afterstate_learning::TrainingProgress;
use afterstate_network::file::atomic::write_atomically;

use super::{Directory, RunError};

/// How far a run came that is finished and keeps no checkpoint.
pub(super) fn read(directory: &Directory) -> Result<Option<TrainingProgress>, RunError> {
    let path = directory.finished();
    let unusable = |problem: String| RunError::Checkpoint { path: path.clone(), problem };
    match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(error.to_string())),
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| unusable(error.to_string())),
    }
}

/// Takes note that a run is finished, whose model is written; then its last checkpoint can go.
pub(super) fn write(directory: &Directory, progress: TrainingProgress) -> Result<(), RunError> {
    write_atomically(&directory.finished(), |file| {
        serde_json::to_writer(file, &progress).map_err(io::Error::from)
    })?;
    remove_checkpoints(directory)
}

/// Removes the checkpoints, if there are any.
pub(super) fn remove_checkpoints(directory: &Directory) -> Result<(), RunError> {
    let path = directory.checkpoint();
    directory.remove_checkpoints().map_err(|source| RunError::Directory { path, source })
}
