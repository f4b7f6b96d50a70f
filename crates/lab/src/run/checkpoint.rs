//! Checkpoints: one safetensors file with V, E and A in the order of the paper's Eq. 3, where only what is not 0
//! takes room, and the state of everything else in its metadata.

use std::{collections::BTreeMap, path::Path};

use afterstate_learning::{Trainer, TrainerState, TrainingProgress};
use afterstate_network::{
    Network,
    file::{
        FileError, FileProblem, metadata,
        safetensors::{self, Part, Tensor, TensorFile},
    },
};
use serde::{Deserialize, Serialize};

use super::{Directory, Run, RunError, check_unchanged, replicas};
use crate::{
    model::DOWNGRADE,
    recipe::{Recipe, RecipeError},
    stats::Tally,
};

/// The metadata key of the state.
const STATE: &str = "state";

/// All of a run that is not a weight.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) trainer: TrainerState,
    /// The states of the other replicas, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replicas: Vec<TrainerState>,
    /// Where the last line of the log was written.
    pub(super) logged: TrainingProgress,
    /// The games since.
    pub(super) tally: Tally,
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
pub(super) fn save_model(
    path: &Path,
    network: &Network,
    recipe: &Recipe,
    progress: TrainingProgress,
) -> Result<(), RunError> {
    let saved = network.save(path, &origin(recipe, progress)?);
    saved.map_err(|error| unsaved(error, recipe, progress))
}

/// Writes a checkpoint, whole or not at all, and keeps the one before it.
pub(super) fn save(
    directory: &Directory,
    network: &Network,
    recipe: &Recipe,
    trainer: &Trainer<'_>,
    progress: TrainingProgress,
    state: &State,
) -> Result<(), RunError> {
    let mut extra = origin(recipe, progress)?;
    let text = serde_json::to_string(state).map_err(|error| unusable(&directory.checkpoint(), error))?;
    extra.insert(STATE.to_owned(), text);
    let numbers = trainer.numbers();
    let mut tables: Vec<Vec<Tensor<'_>>> = network.tensors().map(|tensor| vec![tensor]).collect();
    for numbers in &numbers {
        let of_step_size = network.tensors_of(numbers.name, |position| numbers.get(position));
        tables.iter_mut().zip(of_step_size).for_each(|(table, tensor)| table.push(tensor));
    }
    directory.save_checkpoint(|path| {
        let tables = tables.into_iter().map(Part::Sparse);
        let saved = safetensors::write(path, &metadata(network.spec(), &extra), tables);
        saved.map_err(|error| unsaved(error, recipe, progress))
    })
}

/// Numbers that are not finite are not the file's fault.
fn unsaved(error: FileError, recipe: &Recipe, progress: TrainingProgress) -> RunError {
    match error.problem {
        FileProblem::NotFinite { .. } => diverged(recipe, progress),
        _ => error.into(),
    }
}

/// That learning has diverged, and by which rate.
pub(super) fn diverged(recipe: &Recipe, progress: TrainingProgress) -> RunError {
    let (key, rate, factor) = recipe.learning.rate_at(recipe.budget.share(progress));
    RunError::Diverged { actions: progress.actions, key, rate, factor }
}

/// Takes everything from the newest checkpoint that can be used; also gives what is wrong with one that cannot.
pub(super) fn load(run: &Run, trainer: &mut Trainer<'_>) -> Result<(State, Option<RunError>), RunError> {
    let is_damaged = |error: &RunError| matches!(error, RunError::File(_) | RunError::Checkpoint { .. });
    run.origin.load_checkpoint(|path| load_one(path, run, trainer), is_damaged)
}

fn load_one(path: &Path, run: &Run, trainer: &mut Trainer<'_>) -> Result<State, RunError> {
    let file = TensorFile::open(path)?;
    check_unchanged(&recipe_of(&file, &[])?, &run.recipe, Some(path))?;
    run.network.fill(&file)?;
    restore_numbers(&file, &run.network, trainer)?;
    let text =
        file.metadata().get(STATE).ok_or_else(|| unusable(path, "it holds a network, but no state"))?;
    let state: State = serde_json::from_str(text).map_err(|error| unusable(path, error))?;
    let replicas = run.merging.map(|merging| merging.replicas);
    let (rank, size) = replicas.map_or((0, 1), |replicas| (replicas.rank(), replicas.size()));
    replicas::restore(trainer, (rank, size), &state.trainer, &state.replicas)?;
    Ok(state)
}

/// How far the newest checkpoint has come; `None` where the model beside it is not of the same instant.
pub(super) fn progress(directory: &Directory) -> Option<TrainingProgress> {
    let checkpoint = TensorFile::open(&directory.checkpoint()).ok()?;
    let state: State = serde_json::from_str(checkpoint.metadata().get(STATE)?).ok()?;
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

/// Restores what the step size remembers of every weight.
fn restore_numbers(file: &TensorFile, network: &Network, trainer: &Trainer<'_>) -> Result<(), RunError> {
    for numbers in trainer.numbers() {
        for table in 0..network.spec().tables() {
            let name = format!("{}.{}", numbers.name, network.spec().table_name(table));
            if file.len_of(&name).is_none() {
                let problem = format!("it holds no `{}`, which the step size needs", numbers.name);
                return Err(unusable(file.path(), problem));
            }
            for (index, number) in network.indices(table).zip(file.numbers(&name)?.floats().iter()) {
                numbers.set(index, number);
            }
        }
    }
    Ok(())
}

fn unusable(path: &Path, problem: impl ToString) -> RunError {
    RunError::Checkpoint { path: path.to_owned(), problem: problem.to_string() }
}
