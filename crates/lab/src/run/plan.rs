//! What a run will need, before it begins.

use std::path::Path;

use afterstate_network::{Layout, MemoryError, SpecError, available_memory};

use crate::recipe::Recipe;

/// The room on the disk where a directory is, or will be; `None` where the system does not tell.
pub fn available_disk(path: &Path) -> Option<u64> {
    let here = path.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let exists = here.into_iter().find(|path| path.exists()).unwrap_or(Path::new("."));
    let stat = rustix::fs::statvfs(exists).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The memory that training needs, and the memory there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryPlan {
    /// The number of weights.
    pub weights: u64,
    /// The bytes of the weights.
    pub model_bytes: u64,
    /// The bytes of the weights and of what the step size, or Adam, remembers of each: those of a checkpoint.
    pub checkpoint_bytes: u64,
    /// The bytes of memory of all of training.
    pub bytes: u64,
    /// The bytes that can be had; `None` where the system does not tell.
    pub available: Option<u64>,
}

impl MemoryPlan {
    /// The needs of a recipe.
    ///
    /// # Errors
    /// When it describes no network.
    pub fn of(recipe: &Recipe) -> Result<Self, SpecError> {
        let available = available_memory();
        if let Some(lesson) = &recipe.lesson {
            let weights = lesson.weights()?;
            let (checkpoint_bytes, bytes) = lesson.bytes(recipe.parallel.thread_count())?;
            let model_bytes = weights * size_of::<f32>() as u64;
            return Ok(MemoryPlan { weights, model_bytes, checkpoint_bytes, bytes, available });
        }
        let spec = recipe.network.spec(recipe.game.side)?;
        let entries = Layout::new(&spec).len() * spec.sets() as u64;
        let model_bytes = entries * size_of::<f32>() as u64;
        let learning_bytes = entries * recipe.learning.step_size.bytes_per_weight();
        let bytes = model_bytes + learning_bytes;
        Ok(MemoryPlan { weights: spec.weights(), model_bytes, checkpoint_bytes: bytes, bytes, available })
    }

    /// The most that a run takes on the disk: two checkpoints, one that is being written, and the model. Weights that are 0
    /// take next to nothing.
    pub fn disk_bytes(&self) -> u64 {
        3 * self.checkpoint_bytes + self.model_bytes
    }

    /// Whether there is enough memory, as far as one can tell.
    pub fn fits(&self) -> bool {
        self.available.is_none_or(|available| self.bytes <= available)
    }

    /// Refuses what does not fit, with the figures.
    pub(crate) fn check(&self) -> Result<(), MemoryError> {
        match self.available {
            Some(available) if !self.fits() => {
                Err(MemoryError::TooLarge { what: "training".to_owned(), needed: self.bytes, available })
            }
            _ => Ok(()),
        }
    }
}
