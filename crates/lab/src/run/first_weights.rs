//! What a training begins with: the weights of `network.from`, the positions of `start.positions`, and endgame tables.

use std::{path::Path, sync::Arc};

use afterstate_endgame::Tables;
use afterstate_learning::{EndgameTeacher, Trainer};
use afterstate_network::{
    Network,
    file::{ModelInfo, safetensors::TensorFile},
};

use super::{RunError, positions};
use crate::{
    dcnn,
    model::open_file,
    recipe::{Learning, Recipe},
};

/// Checks everything that a new run reads, without the memory that it takes.
///
/// # Errors
/// When `network.from` cannot be read or holds another network, or positions, tables or records cannot be used.
pub fn check_sources(recipe: &Recipe) -> Result<(), RunError> {
    if let Some(lesson) = &recipe.lesson {
        return dcnn::settle(&mut lesson.clone());
    }
    positions::positions(recipe)?;
    teacher(&recipe.learning)?;
    let spec = recipe.network.spec(recipe.game.side)?;
    Ok(source(recipe)?.map_or(Ok(()), |file| spec.check_first_stages(&file))?)
}

/// The network that a new run begins with.
///
/// # Errors
/// When there is not enough memory, or `network.from` cannot be read or holds another network.
pub fn first_network(recipe: &Recipe) -> Result<Network, RunError> {
    let network = Network::new(recipe.network.spec(recipe.game.side)?)?;
    if let Some(file) = source(recipe)? {
        network.fill_first_stages(&file)?;
        for (stage, factor) in recipe.network.halved_stages() {
            network.begin_halved(stage, factor)?;
        }
    }
    Ok(network)
}

/// Gives the trainer the E and A of `network.from`, where the file holds them and the step size has them.
///
/// # Errors
/// When the file cannot be read.
pub fn continue_coherence(recipe: &Recipe, trainer: &Trainer<'_>, network: &Network) -> Result<(), RunError> {
    let Some(file) = source(recipe)? else { return Ok(()) };
    let found = ModelInfo::of(&file)?;
    if !found.has_coherence || network.spec().tables() < found.spec.tables() {
        return Ok(());
    }
    for numbers in trainer.numbers() {
        for table in 0..found.spec.tables() {
            let name = format!("{}.{}", numbers.name, found.spec.table_name(table));
            if file.len_of(&name).is_none() {
                break;
            }
            for (index, number) in network.indices(table).zip(file.numbers(&name)?.floats().iter()) {
                numbers.set(index, number);
            }
        }
    }
    Ok(())
}

/// The file of `network.from`: a model, that of a run, or a file of another program.
fn source(recipe: &Recipe) -> Result<Option<TensorFile>, RunError> {
    if recipe.network.from.is_empty() {
        return Ok(None);
    }
    Ok(Some(open_file(Path::new(&recipe.network.from))?))
}

/// The tables of the recipe, none where it names no directory.
pub(super) fn teacher(learning: &Learning) -> Result<Option<EndgameTeacher>, RunError> {
    if learning.endgame.is_empty() {
        return Ok(None);
    }
    let tables = Tables::open(Path::new(&learning.endgame))?;
    if tables.all().is_empty() {
        return Err(RunError::NoTables(learning.endgame.clone().into()));
    }
    Ok(Some(EndgameTeacher::new(Arc::new(tables), learning.endgame_value as f32)))
}
