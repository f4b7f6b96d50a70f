//! The model that a command works with.

use std::path::{Path, PathBuf};

use afterstate_game::Rules;
use afterstate_lab::recipe::Recipe;
use afterstate_network::{Network, Values, file::ModelInfo, file::safetensors::TensorFile};

use super::model::{failure, open_model};
use crate::error::Failure;

/// A network in memory.
pub(super) struct Loaded {
    /// What the user called it.
    pub(super) name: String,
    /// Its file.
    pub(super) file: PathBuf,
    pub(super) network: Network,
    /// The rules that it has learned.
    pub(super) rules: Rules,
}

impl Loaded {
    /// Loads a model file, or that of a run directory.
    pub(super) fn open(model: Option<&Path>) -> Result<Loaded, Failure> {
        let Some(model) = model else {
            let message = "no model given, and there is no built-in model yet";
            return Err(Failure::input(message, "`afterstate train quick` makes one in runs/quick"));
        };
        let file = open_model(model)?;
        let rules = rules_of(&file)?;
        let network = Network::load(file.path()).map_err(failure)?;
        Ok(Loaded { name: model.to_string_lossy().into_owned(), file: file.path().into(), network, rules })
    }

    /// Refuses what only values of afterstates can do; `what` is the subject of the sentence.
    pub(super) fn check_afterstates(&self, what: &str) -> Result<(), Failure> {
        let values = self.network.spec().values;
        if values == Values::Afterstates {
            return Ok(());
        }
        let message = format!("{what} needs values of afterstates, but {} has values of {values}", self.name);
        Err(Failure::input(message, "`afterstate eval MODEL` plays it greedily, by its own values"))
    }

    /// The side of its board.
    pub(super) fn side(&self) -> usize {
        self.network.spec().side
    }
}

/// The rules that the model has learned; the usual ones if it does not say.
fn rules_of(file: &TensorFile) -> Result<Rules, Failure> {
    let info = ModelInfo::of(file).map_err(failure)?;
    let Some(text) = info.extra.get("recipe") else { return Ok(Rules::default()) };
    let place = format!("{}: recipe", file.path().display());
    let recipe = Recipe::parse("model", &place, text, &[]);
    let hint = "the model was made by another version of this program, or damaged";
    recipe.map(|recipe| recipe.game.rules()).map_err(|error| Failure::input(error, hint))
}

/// The number of threads that was asked for, 0 for all cores.
pub(super) fn thread_count(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}
