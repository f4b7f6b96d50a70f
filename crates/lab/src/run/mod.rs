//! Runs: a recipe carried out in a directory, which holds all that comes of it.
//!
//! | file | content |
//! | --- | --- |
//! | `recipe.toml` | the recipe with every default filled in |
//! | `log.jsonl` | a [`LogLine`] at intervals |
//! | `eval.jsonl` | an [`EvalLine`] for each evaluation |
//! | `curve.svg` | the learning curve |
//! | `model.safetensors` | the network as of the last checkpoint |
//! | `best.safetensors` | the network that was best by evaluations with the search of `checkpoint.best`, where it names one |
//! | `chain.json` | while what the run needs first is made: how far that is |
//! | `checkpoint/state.safetensors` | everything needed to continue: V, E, A, games, random streams, counters, and the recipe that they belong to |
//! | `checkpoint/previous.safetensors` | the checkpoint before it, should it turn out damaged |
//! | `checkpoint/finished.json` | how far it came, instead of a checkpoint, when it is finished and `checkpoint.keep` is false |
//!
//! A checkpoint is one file, and takes the place of the one before it by renames: a process
//! that is killed at any instant leaves a whole one. With one thread, a run that was interrupted
//! and resumed gives the same model file, bit for bit, as one that was not.

mod checkpoint;
mod error;
mod finished;
mod first_weights;
mod generations;
mod learner;
mod plan;
mod positions;
mod recorder;
mod remove;
mod replicas;
mod self_play;
mod session;
mod speed;

use std::{
    fs::{self, File},
    path::{Component, Path, PathBuf},
    sync::atomic::AtomicBool,
};

use afterstate_dcnn::{Device, Step};
use afterstate_learning::TrainingProgress;

use crate::{
    chain::StepStatus,
    dcnn,
    log::{EvalLine, LogLine, is_at},
    recipe::{Lesson, Recipe},
    stats::{Tally, TileRates},
};
pub(crate) use checkpoint::{State, check_origin, diverged, state_of};
pub use error::RunError;
pub use first_weights::{check_sources, continue_coherence, first_network};
pub(crate) use learner::{Learner, LearningReport, News};
pub use plan::{MemoryPlan, available_disk};
pub use replicas::{MergeEvery, MergeEveryError, Merging, Replicas};
use self_play::Beginning;
pub use speed::{LONGEST, Spans, moves_per_second};

/// Where the files of a run are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// The directory at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Directory(path.into())
    }

    /// The directory where a recipe runs unless another one is given: that of its name in a directory of runs.
    ///
    /// # Errors
    /// When the name leads elsewhere.
    pub fn default_for(recipe: &Recipe, runs: &Path) -> Result<Self, RunError> {
        let name = Path::new(&recipe.name);
        let inside = name.components().all(|part| matches!(part, Component::Normal(_)));
        if recipe.name.is_empty() || !inside {
            return Err(RunError::Name(recipe.name.clone()));
        }
        Ok(Directory(runs.join(name)))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `recipe.toml`.
    pub fn recipe(&self) -> PathBuf {
        self.0.join("recipe.toml")
    }

    /// `log.jsonl`.
    pub fn log(&self) -> PathBuf {
        self.0.join("log.jsonl")
    }

    /// `eval.jsonl`.
    pub fn evaluations(&self) -> PathBuf {
        self.0.join("eval.jsonl")
    }

    /// `curve.svg`.
    pub fn curve(&self) -> PathBuf {
        self.0.join("curve.svg")
    }

    /// `model.safetensors`.
    pub fn model(&self) -> PathBuf {
        self.0.join("model.safetensors")
    }

    /// `best.safetensors`.
    pub fn best(&self) -> PathBuf {
        self.0.join("best.safetensors")
    }

    /// `chain.json`.
    pub fn chain(&self) -> PathBuf {
        self.0.join("chain.json")
    }

    /// `checkpoint/finished.json`.
    pub fn finished(&self) -> PathBuf {
        self.0.join("checkpoint").join("finished.json")
    }

    /// Whether there is a run in it.
    pub fn holds_run(&self) -> bool {
        self.recipe().exists()
    }

    /// Whether anything in it is left of a run, even of one that has lost its recipe.
    pub fn is_taken(&self) -> bool {
        self.holds_run() || self.has_checkpoint() || self.finished().exists()
    }

    /// Whether a run in it has used up its budget and left its model.
    pub fn is_finished(&self) -> bool {
        if self.finished().exists() {
            return self.model().is_file();
        }
        let Ok(Some(recipe)) = Run::stored_recipe(self, &[]) else { return false };
        self.progress().is_some_and(|progress| recipe.budget.share(progress) >= 1.0)
    }

    /// How far the newest checkpoint has come; `None` where there is none, or the model is not of the same instant.
    pub fn progress(&self) -> Option<TrainingProgress> {
        checkpoint::progress(self)
    }

    /// Whether a lock still keeps other processes out: the directory may have been removed, and made again by another one.
    pub(crate) fn is_locked_by(&self, lock: &File) -> bool {
        is_at(lock, &self.0.join("checkpoint").join("lock"))
    }

    /// Whether a process is training in it. It is asked by trying the lock, for some microseconds.
    pub fn is_busy(&self) -> bool {
        let lock = File::open(self.0.join("checkpoint").join("lock"));
        lock.is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
    }

    /// Removes what [`lock`](Self::lock) made, where nothing else has come of it.
    fn remove_if_empty(&self) {
        if !self.is_taken() && !self.log().exists() {
            let checkpoint = self.0.join("checkpoint");
            // What is in use, or not empty, stays.
            let _ = fs::remove_file(checkpoint.join("lock"));
            let _ = fs::remove_dir(checkpoint).and_then(|()| fs::remove_dir(&self.0));
        }
    }

    /// Makes the directory, and keeps other processes out as long as the file is open.
    pub fn lock(&self) -> Result<File, RunError> {
        let lock = || {
            let checkpoint = self.0.join("checkpoint");
            fs::create_dir_all(&checkpoint)?;
            File::create(checkpoint.join("lock"))
        };
        let file = lock().map_err(|source| RunError::Directory { path: self.0.clone(), source })?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => Err(RunError::Busy(self.0.clone())),
            // Where the file system has no locks, nobody can be kept out.
            Ok(()) | Err(fs::TryLockError::Error(_)) => Ok(file),
        }
    }
}

/// Is told how a run goes.
#[allow(unused_variables, reason = "an observer need not look at everything")]
pub trait Observer {
    /// Progress of training, some times a second.
    fn training(&mut self, status: &Status) {}
    /// A network has learned from a batch of records, and did so well on it before.
    fn learned(&mut self, progress: TrainingProgress, batch: &Step) {}
    /// A line was added to the log.
    fn logged(&mut self, line: &LogLine) {}
    /// A step of a chain is about to begin.
    fn begins(&mut self, step: &StepStatus) {}
    /// Positions are being collected: the games that have ended, of how many.
    fn collecting(&mut self, ended: &Tally, games: u64) {}
    /// Progress of an evaluation: the games that have ended, of how many.
    fn evaluating(&mut self, ended: &Tally, games: u64) {}
    /// An evaluation was added to `eval.jsonl`.
    fn evaluated(&mut self, line: &EvalLine) {}
    /// A checkpoint is about to be written.
    fn saving(&mut self) {}
    /// Something failed that training survives, such as a checkpoint on a full disk.
    fn warning(&mut self, error: &RunError) {}
}

/// Nobody looks.
impl Observer for () {}

/// How training goes.
#[derive(Clone, PartialEq, Debug)]
pub struct Status {
    /// How far it has come.
    pub progress: TrainingProgress,
    /// The share of the budget that is used, from 0 to 1.
    pub share: f64,
    /// The seconds of training that the rest takes at the present speed; infinite before that is known.
    pub seconds_left: f64,
    /// The present speed.
    pub moves_per_second: f64,
    /// The last games.
    pub recent: Tally,
    /// The share of them that reached each tile.
    pub tiles: TileRates,
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub struct RunOutcome {
    /// Whether the budget is used up; otherwise it was stopped, and can be resumed.
    pub finished: bool,
    /// How far it came.
    pub progress: TrainingProgress,
    /// The last evaluations, one for each search, if there were any.
    pub evaluations: Vec<EvalLine>,
}

/// A run that is ready to go.
pub struct Run {
    directory: Directory,
    /// Where the checkpoint is: with several replicas, where the first of them runs.
    origin: Directory,
    merging: Option<Merging>,
    recipe: Recipe,
    material: Material,
    /// Where a convolutional network learns.
    device: Device,
    resumed: bool,
    /// How far it came, when it is finished and nothing is left to do.
    finished: Option<TrainingProgress>,
    lock: File,
}

/// What a run learns from.
enum Material {
    /// Its own games.
    SelfPlay(Box<Beginning>),
    /// Records.
    Records(Lesson),
}

impl Run {
    /// Prepares a new run.
    ///
    /// # Errors
    /// When the directory holds a run or cannot be used, or there is not enough memory.
    pub fn start(directory: Directory, recipe: Recipe) -> Result<Self, RunError> {
        MemoryPlan::of(&recipe)?.check()?;
        directory.check_former()?;
        if directory.is_taken() {
            return Err(RunError::Exists(directory.0));
        }
        directory.check_unused()?;
        // The directory is made last, so that what is refused leaves nothing behind.
        check_sources(&recipe)?;
        let lock = directory.lock()?;
        Run::prepare(directory, recipe, lock)
    }

    /// Prepares to continue a run, or to begin it when it was stopped before its first
    /// checkpoint. Of the stored recipe only budget, evaluation, checkpoints and log may change.
    ///
    /// # Errors
    /// When something else has changed, the directory cannot be used, or there is not enough memory.
    pub fn resume(directory: Directory, mut recipe: Recipe) -> Result<Self, RunError> {
        directory.check_former()?;
        if !directory.is_taken() {
            return Run::start(directory, recipe);
        }
        MemoryPlan::of(&recipe)?.check()?;
        let lock = directory.lock()?;
        if let Some(stored) = Run::stored_recipe(&directory, &[])? {
            recipe.keep_records_of(&stored);
            check_unchanged(&stored, &recipe, None)?;
            if stored.budget != recipe.budget && finished::read(&directory)?.is_some() {
                return Err(RunError::Finished(directory.0));
            }
        }
        Run::prepare(directory, recipe, lock)
    }

    /// The recipe of the run in a directory, with overrides `KEY=VALUE`; `None` when there is no run. One that has lost its
    /// `recipe.toml` has the recipe of its checkpoint.
    ///
    /// # Errors
    /// When it is damaged, or an override is wrong.
    pub fn stored_recipe(directory: &Directory, overrides: &[String]) -> Result<Option<Recipe>, RunError> {
        directory.check_former()?;
        if directory.recipe().exists() {
            return Ok(Some(Recipe::load(&directory.recipe().to_string_lossy(), overrides)?));
        }
        let origin = directory.load_checkpoint(|path| checkpoint::origin_of(path, overrides), |_| true);
        if directory.has_checkpoint() { Ok(Some(origin?.0)) } else { Ok(None) }
    }

    /// Prepares one of several replicas of a run, which is not the first: that one [starts](Run::start) or
    /// [resumes](Run::resume) the run.
    ///
    /// # Errors
    /// When the directory cannot be used, or there is not enough memory.
    pub fn replica(origin: Directory, mut recipe: Recipe, rank: usize) -> Result<Self, RunError> {
        MemoryPlan::of(&recipe)?.check()?;
        let directory = Directory::new(origin.path().join(format!("replica-{rank}")));
        let lock = directory.lock()?;
        recipe.evaluation.every = 0;
        let run = Run::prepare(origin, recipe, lock)?;
        Ok(Run { directory, ..run })
    }

    /// Prepares one of several replicas, the first of which goes on with the run or begins it.
    ///
    /// # Errors
    /// As for [`resume`](Self::resume).
    pub fn of_replica(directory: Directory, recipe: Recipe, merging: Merging) -> Result<Self, RunError> {
        let run = match merging.replicas.rank() {
            0 => Run::resume(directory, recipe),
            rank => Run::replica(directory, recipe, rank),
        };
        Ok(run?.with_replicas(merging))
    }

    /// Merges what is learned with other replicas.
    #[must_use]
    pub fn with_replicas(self, merging: Merging) -> Self {
        Run { merging: Some(merging), ..self }
    }

    /// Has a convolutional network learn on a device.
    #[must_use]
    pub fn on(self, device: Device) -> Self {
        Run { device, ..self }
    }

    fn prepare(directory: Directory, mut recipe: Recipe, lock: File) -> Result<Self, RunError> {
        recipe.parallel.threads = recipe.parallel.thread_count();
        let finished = finished::read(&directory)?;
        let resumed = finished.is_some() || directory.has_checkpoint();
        let material = match &mut recipe.lesson {
            Some(lesson) => {
                dcnn::settle(lesson)?;
                Material::Records(lesson.clone())
            }
            None => Material::SelfPlay(Beginning::of(&recipe, resumed)?.into()),
        };
        let origin = directory.clone();
        Ok(Run {
            directory,
            origin,
            merging: None,
            recipe,
            material,
            device: Device::default(),
            resumed,
            finished,
            lock,
        })
    }

    /// Its directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Its recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Whether it continues from a checkpoint, or is finished.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Trains until the budget is used up or `stop` is set, and saves.
    ///
    /// # Errors
    /// When the checkpoint cannot be used, or the last one cannot be written; the one before it is
    /// then still there.
    pub fn train(self, stop: &AtomicBool, observer: &mut dyn Observer) -> Result<RunOutcome, RunError> {
        session::train(&self, stop, observer)
    }
}

/// Checks that a resumed run learns what it learned before: what its `recipe.toml` says, or what its checkpoint says.
fn check_unchanged(stored: &Recipe, recipe: &Recipe, checkpoint: Option<&Path>) -> Result<(), RunError> {
    match (stored.first_difference(recipe), checkpoint) {
        (None, _) => Ok(()),
        (Some((key, stored, wanted)), None) => Err(RunError::Changed { key, stored, wanted }),
        (Some((key, ..)), Some(path)) => Err(RunError::OtherRecipe { path: path.to_owned(), key }),
    }
}
