//! Checkpoints: one safetensors file with the weights and what the step size remembers of them (V, E and A in the order of
//! the paper's Eq. 3, where only what is not 0 takes room; or Adam's averages), and the state of everything else in its metadata.

use std::{collections::BTreeMap, path::Path};

use afterstate_learning::TrainingProgress;
use afterstate_network::file::{FileError, FileProblem, safetensors::TensorFile};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Directory, RunError, check_unchanged, learner::Learner, replicas};
use crate::{
    model::DOWNGRADE,
    recipe::{Recipe, RecipeError},
    stats::Tally,
};

/// The metadata key of the state.
const STATE: &str = "state";

/// All of a run that is not a weight, where `T` is what the learner keeps.
#[derive(Serialize, Deserialize)]
pub(crate) struct State<T> {
    pub(crate) trainer: T,
    /// The states of the other replicas, where there are several.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub(crate) replicas: Vec<T>,
    /// Where the last line of the log was written.
    pub(crate) logged: TrainingProgress,
    /// The games since.
    pub(crate) tally: Tally,
}

/// What a model file says of where its weights come from: nothing in it depends on time or place.
fn origin(recipe: &Recipe, progress: TrainingProgress) -> Result<BTreeMap<String, String>, RecipeError> {
    let entries = [
        ("afterstate", env!("CARGO_PKG_VERSION").to_owned()),
        ("recipe", recipe.origin()?),
        ("seed", recipe.seed.to_string()),
        ("actions", progress.actions.to_string()),
        ("episodes", progress.episodes.to_string()),
    ];
    let downgrade = recipe.evaluation.downgrade.map(|boards| (DOWNGRADE, boards.to_string()));
    Ok(entries.into_iter().chain(downgrade).map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Writes the network alone.
pub(super) fn save_model(path: &Path, learner: &dyn Learner, recipe: &Recipe) -> Result<(), RunError> {
    let progress = learner.progress();
    let saved = learner.save_model(path, &origin(recipe, progress)?);
    saved.map_err(|error| unsaved(error, recipe, progress))
}

/// Writes a checkpoint, whole or not at all, and keeps the one before it.
pub(super) fn save(
    directory: &Directory,
    learner: &dyn Learner,
    recipe: &Recipe,
    state: String,
) -> Result<(), RunError> {
    let progress = learner.progress();
    let mut about = origin(recipe, progress)?;
    about.insert(STATE.to_owned(), state);
    directory
        .save_checkpoint(|path| learner.save(path, &about).map_err(|error| unsaved(error, recipe, progress)))
}

/// Numbers that are not finite are not the file's fault.
fn unsaved(error: FileError, recipe: &Recipe, progress: TrainingProgress) -> RunError {
    match error.problem {
        FileProblem::NotFinite { .. } => diverged(recipe, progress),
        _ => error.into(),
    }
}

/// That learning has diverged, and by which rate.
pub(crate) fn diverged(recipe: &Recipe, progress: TrainingProgress) -> RunError {
    let (key, rate, factor) = recipe.rate_at(recipe.budget.share(progress));
    RunError::Diverged { actions: progress.actions, key, rate, factor }
}

/// Takes everything from the newest checkpoint that can be used; also gives what is wrong with one that cannot.
pub(super) fn load(
    origin: &Directory,
    learner: &mut dyn Learner,
) -> Result<((TrainingProgress, Tally), Option<RunError>), RunError> {
    let is_damaged = |error: &RunError| matches!(error, RunError::File(_) | RunError::Checkpoint { .. });
    origin.load_checkpoint(|path| learner.load(path), is_damaged)
}

/// Refuses a checkpoint of a run that learns something else.
pub(crate) fn check_origin(file: &TensorFile, recipe: &Recipe) -> Result<(), RunError> {
    check_unchanged(&recipe_of(file, &[])?, recipe, Some(file.path()))
}

/// The state in a checkpoint.
pub(crate) fn state_of<T: DeserializeOwned>(file: &TensorFile) -> Result<State<T>, RunError> {
    let text = file.metadata().get(STATE);
    let text = text.ok_or_else(|| unusable(file.path(), "it holds a network, but no state"))?;
    serde_json::from_str(text).map_err(|error| unusable(file.path(), error))
}

/// How far the newest checkpoint has come; `None` where the model beside it is not of the same instant.
pub(super) fn progress(directory: &Directory) -> Option<TrainingProgress> {
    /// What all learners keep.
    #[derive(Deserialize)]
    struct Reached {
        progress: TrainingProgress,
    }
    let state: State<Reached> = state_of(&TensorFile::open(&directory.checkpoint()).ok()?).ok()?;
    let model = TensorFile::open(&directory.model()).ok()?;
    let progress = replicas::of_all(state.trainer.progress, state.replicas.len() + 1);
    (model.metadata().get("actions")? == &progress.actions.to_string()).then_some(progress)
}

/// The recipe that a checkpoint is of; what it does not say of evaluations, checkpoints and log is as usual.
pub(super) fn origin_of(path: &Path, overrides: &[String]) -> Result<Recipe, RunError> {
    recipe_of(&TensorFile::open(path)?, overrides)
}

fn recipe_of(file: &TensorFile, overrides: &[String]) -> Result<Recipe, RunError> {
    let entry = |key: &str| {
        let missing = || unusable(file.path(), format!("it does not say which `{key}` it is of"));
        file.metadata().get(key).ok_or_else(missing)
    };
    let version = entry("afterstate")?;
    if version != env!("CARGO_PKG_VERSION") {
        return Err(RunError::Version { path: file.path().to_owned(), found: version.clone() });
    }
    let place = format!("{}: recipe", file.path().display());
    Ok(Recipe::parse("run", &place, entry("recipe")?, overrides)?)
}

pub(crate) fn unusable(path: &Path, problem: impl ToString) -> RunError {
    RunError::Checkpoint { path: path.to_owned(), problem: problem.to_string() }
}
