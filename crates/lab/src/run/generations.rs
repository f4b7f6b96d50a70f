//! Two generations of checkpoints: a newest one that turns out damaged leaves the one before it.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use afterstate_network::file::{FileError, atomic};

use super::Directory;

impl Directory {
    /// `checkpoint/state.safetensors`.
    pub fn checkpoint(&self) -> PathBuf {
        self.0.join("checkpoint").join("state.safetensors")
    }

    /// `checkpoint/previous.safetensors`: the checkpoint before the newest one.
    pub fn previous_checkpoint(&self) -> PathBuf {
        self.checkpoint().with_file_name("previous.safetensors")
    }

    /// Whether there is a checkpoint to continue from.
    pub fn has_checkpoint(&self) -> bool {
        self.checkpoint().exists() || self.previous_checkpoint().exists()
    }

    /// Has a checkpoint written, whole or not at all, and keeps the one before it. Killed between the two renames, a
    /// process leaves that one alone.
    pub(crate) fn save_checkpoint<E: From<FileError>>(
        &self,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let (newest, fresh) = (self.checkpoint(), self.checkpoint().with_file_name("fresh.safetensors"));
        write(&fresh)?;
        if newest.exists() {
            atomic::rename(&newest, &self.previous_checkpoint())?;
        }
        Ok(atomic::rename(&fresh, &newest)?)
    }

    /// Loads the newest checkpoint, or the one before it if `is_damaged` says so of the error, which is then given too.
    pub(crate) fn load_checkpoint<T, E>(
        &self,
        mut load: impl FnMut(&Path) -> Result<T, E>,
        is_damaged: impl Fn(&E) -> bool,
    ) -> Result<(T, Option<E>), E> {
        let (newest, previous) = (self.checkpoint(), self.previous_checkpoint());
        if !newest.exists() && previous.exists() {
            return load(&previous).map(|loaded| (loaded, None));
        }
        match load(&newest) {
            // What is told is what is wrong with the newest one, whatever is wrong with the other.
            Err(error) if is_damaged(&error) && previous.exists() => match load(&previous) {
                Ok(loaded) => Ok((loaded, Some(error))),
                Err(_) => Err(error),
            },
            loaded => loaded.map(|loaded| (loaded, None)),
        }
    }

    /// Removes all checkpoints.
    ///
    /// # Errors
    /// When one of them cannot be removed.
    pub fn remove_checkpoints(&self) -> io::Result<()> {
        for path in [self.checkpoint(), self.previous_checkpoint()] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}
