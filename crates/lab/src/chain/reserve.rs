//! Reserving the directory of a training while its needs are being made, with a note of the progress.

use std::{fs, fs::File, io, io::Write, path::PathBuf};

use afterstate_network::file::atomic::write_atomically;
use serde::{Deserialize, Serialize};

use super::Chain;
use crate::run::{Directory, MemoryPlan, RunError};

/// The progress of a chain: `chain.json` in the directory of its last training, until that one begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Standing {
    /// The names of the steps, including the last training.
    pub steps: Vec<String>,
    /// The number of the current step, from 1.
    pub number: usize,
}

impl Standing {
    /// The progress of a directory's chain; `None` if its needs have been made, or it has none.
    pub fn read(directory: &Directory) -> Option<Self> {
        serde_json::from_slice(&fs::read(directory.chain()).ok()?).ok()
    }
}

/// The directory of the last training, locked against other processes.
pub struct Reserved {
    directory: Directory,
    _lock: File,
}

impl Reserved {
    /// Reserves the directory of a chain's last training, and writes its recipe, so that the chain can be resumed by
    /// the name of the run.
    ///
    /// # Errors
    /// If a step does not fit into memory, the directory holds a run that is not to be resumed, another process is
    /// working there, or it cannot be written.
    pub fn new(chain: &Chain, resume: bool) -> Result<Option<Self>, RunError> {
        let Some(last) = chain.steps.last() else { return Ok(None) };
        for step in chain.steps.iter().filter(|step| !step.is_done) {
            MemoryPlan::of(step.recipe())?.check()?;
        }
        let directory = Directory::new(&last.target);
        if directory.is_taken() && !resume {
            return Err(RunError::Exists(last.target.clone()));
        }
        if !directory.is_taken() {
            directory.check_unused()?;
        }
        let lock = directory.lock()?;
        let text = last.recipe().to_toml()?;
        write_atomically(&directory.recipe(), |file| file.write_all(text.as_bytes()))?;
        Ok(Some(Reserved { directory, _lock: lock }))
    }

    /// Records which step is being made.
    pub(super) fn note(&self, chain: &Chain, index: usize) -> Result<(), RunError> {
        let steps = chain.steps.iter().map(super::Step::name).collect();
        let standing = Standing { steps, number: index + 1 };
        let write = |file: &mut _| serde_json::to_writer(file, &standing).map_err(io::Error::from);
        Ok(write_atomically(&self.directory.chain(), write)?)
    }

    /// Releases the directory to the training itself.
    ///
    /// # Errors
    /// If the note cannot be removed.
    pub fn release(self) -> Result<(), RunError> {
        let path: PathBuf = self.directory.chain();
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(RunError::Directory { path, source: error })
            }
            _ => Ok(()),
        }
    }
}
