//! The directory of a training while what it needs is made: taken, and with a note of how far that is.

use std::{fs, fs::File, io, io::Write, path::PathBuf};

use afterstate_network::file::atomic::write_atomically;
use serde::{Deserialize, Serialize};

use super::Chain;
use crate::run::{Directory, MemoryPlan, RunError};

/// How far a chain is: `chain.json` in the directory of its last training, until that one begins.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Standing {
    /// The names of the steps, the last training included.
    pub steps: Vec<String>,
    /// The number of the step that is being made, from 1.
    pub number: usize,
}

impl Standing {
    /// How far the chain of a directory is; `None` when its needs are made, or it has none.
    pub fn read(directory: &Directory) -> Option<Self> {
        serde_json::from_slice(&fs::read(directory.chain()).ok()?).ok()
    }
}

/// The directory of the last training, from which others are kept out.
pub struct Reserved {
    directory: Directory,
    _lock: File,
}

impl Reserved {
    /// Takes the directory of a chain's last training, and writes its recipe, so that the chain can be resumed by the name
    /// of the run.
    ///
    /// # Errors
    /// If a step does not fit into memory, the directory holds a run that is not to be resumed, another process is at work
    /// there, or it cannot be written.
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

    /// Notes which step is being made.
    pub(super) fn note(&self, chain: &Chain, index: usize) -> Result<(), RunError> {
        let steps = chain.steps.iter().map(super::Step::name).collect();
        let standing = Standing { steps, number: index + 1 };
        let write = |file: &mut _| serde_json::to_writer(file, &standing).map_err(io::Error::from);
        Ok(write_atomically(&self.directory.chain(), write)?)
    }

    /// Leaves the directory to the training itself.
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
