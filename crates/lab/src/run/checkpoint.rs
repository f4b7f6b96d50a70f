//! Checkpoints: one safetensors file with V, E and A in the order of the paper's Eq. 3, and the state of
//! everything else in its metadata.

use std::{collections::BTreeMap, path::Path};

use afterstate_learning::{Progress, Trainer, TrainerState};
use afterstate_network::{
    Network,
    file::{
        metadata,
        safetensors::{self, TensorFile},
    },
};
use serde::{Deserialize, Serialize};

use super::RunError;
use crate::{
    recipe::{Recipe, RecipeError},
    stats::Tally,
};

/// The metadata key of the state.
const STATE: &str = "state";

/// All of a run that is not a weight.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    pub(super) trainer: TrainerState,
    /// Where the last line of the log was written.
    pub(super) logged: Progress,
    /// The games since.
    pub(super) tally: Tally,
}

/// What a model file says of where its weights come from: nothing in it depends on time or place.
fn origin(recipe: &Recipe, progress: Progress) -> Result<BTreeMap<String, String>, RecipeError> {
    let entries = [
        ("afterstate", env!("CARGO_PKG_VERSION").to_owned()),
        ("recipe", recipe.origin()?),
        ("seed", recipe.seed.to_string()),
        ("actions", progress.actions.to_string()),
        ("episodes", progress.episodes.to_string()),
    ];
    Ok(entries.map(|(key, value)| (key.to_owned(), value)).into())
}

/// Writes the network alone.
pub(super) fn save_model(
    path: &Path,
    network: &Network,
    recipe: &Recipe,
    progress: Progress,
) -> Result<(), RunError> {
    Ok(network.save(path, &origin(recipe, progress)?)?)
}

/// Writes a checkpoint, whole or not at all.
pub(super) fn save(
    path: &Path,
    network: &Network,
    recipe: &Recipe,
    trainer: &Trainer<'_>,
    state: &State,
) -> Result<(), RunError> {
    let mut extra = origin(recipe, state.trainer.progress)?;
    let text = serde_json::to_string(state).map_err(|error| unusable(path, error))?;
    extra.insert(STATE.to_owned(), text);
    let numbers = trainer.numbers();
    let of_step_size =
        numbers.iter().flat_map(|numbers| network.tensors_of(numbers.name, |p| numbers.get(p)));
    let tensors = network.tensors().chain(of_step_size);
    Ok(safetensors::write(path, &metadata(network.spec(), &extra), tensors)?)
}

/// Takes everything from a checkpoint.
pub(super) fn load(path: &Path, network: &Network, trainer: &mut Trainer<'_>) -> Result<State, RunError> {
    let file = TensorFile::open(path)?;
    network.fill(&file)?;
    restore_numbers(&file, network, trainer)?;
    let text =
        file.metadata().get(STATE).ok_or_else(|| unusable(path, "it holds a network, but no state"))?;
    let state: State = serde_json::from_str(text).map_err(|error| unusable(path, error))?;
    trainer.restore(&state.trainer)?;
    Ok(state)
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
            for (position, number) in network.positions(table).zip(file.tensor(&name)?.iter()) {
                numbers.set(position, number);
            }
        }
    }
    Ok(())
}

fn unusable(path: &Path, problem: impl ToString) -> RunError {
    RunError::Checkpoint { path: path.to_owned(), problem: problem.to_string() }
}
