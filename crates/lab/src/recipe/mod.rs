//! Recipes: an experiment as a TOML file, resolved to concrete values once.
//!
//! Every key, its default and its paper are in `docs/recipes.md`. A resolved [`Recipe`] is written
//! into its run with all defaults filled in, and reading that file again gives the same recipe.
//!
//! ```
//! use afterstate_lab::recipe::Recipe;
//! use afterstate_learning::Budget;
//!
//! let recipe = Recipe::load("reference/4x6-td", &["budget.actions=1e9".to_owned()])?;
//! assert_eq!(recipe.budget, Budget::Actions(1_000_000_000));
//! let error = Recipe::load("reference/4x6-td", &["learning.lamda=0.5".to_owned()]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "--set learning.lamda=0.5: unknown key `learning.lamda`; did you mean `learning.lambda`?"
//! );
//! # Ok::<(), afterstate_lab::recipe::RecipeError>(())
//! ```

mod collect;
mod document;
mod error;
mod game;
mod learning;
mod lesson;
mod network;
mod resolve;
mod running;
mod shipped;
mod source;
mod start;
mod value;

use std::{collections::BTreeMap, path::Path};

use afterstate_learning::Budget;
use serde::{Serialize, Serializer, ser::SerializeMap};

pub use collect::Collect;
use document::Document;
pub use error::{Place, RecipeError, RecipeProblem};
pub use game::Game;
pub use learning::Learning;
pub use lesson::{Lesson, Taught};
pub use network::{Network, Tuples};
pub use running::{Checkpoint, Evaluation, Log, Threads};
pub use shipped::{Shipped, rows, shipped};
use source::Source;
pub use start::Start;

/// An experiment, with every default filled in.
#[derive(Clone, PartialEq, Debug)]
pub struct Recipe {
    /// What the recipe is called: the name it is shipped under, or its file's.
    pub name: String,
    /// What it is for, in one line.
    pub description: String,
    /// The seed of every random stream; at most 2^63 − 1, the largest number of TOML.
    pub seed: u64,
    /// What records teach, in the place of self-play: game, network, learning and start are then as usual and mean
    /// nothing.
    pub lesson: Option<Lesson>,
    /// The game that is learned.
    pub game: Game,
    /// The shape of the value function.
    pub network: Network,
    /// How its weights are learned.
    pub learning: Learning,
    /// Where episodes begin.
    pub start: Start,
    /// How the positions that it begins with are made.
    pub collect: Option<Collect>,
    /// How training is spread over threads.
    pub parallel: Threads,
    /// When training ends.
    pub budget: Budget,
    /// How often the player is measured.
    pub evaluation: Evaluation,
    /// How often the run is saved.
    pub checkpoint: Checkpoint,
    /// How often a line is added to the log.
    pub log: Log,
}

impl Recipe {
    /// The recipe in a file, or the shipped one of this name, with overrides `KEY=VALUE` applied. A row of the
    /// table in `tables/mine.toml` is `tables/mine/ROW`.
    pub fn load(name_or_path: &str, overrides: &[String]) -> Result<Recipe, RecipeError> {
        let (file, row) = match name_or_path.rsplit_once('/') {
            _ if Path::new(name_or_path).is_file() => (name_or_path.to_owned(), None),
            // A row of a table that is named with its ending.
            Some((table, row)) if Path::new(table).is_file() => (table.to_owned(), Some(row)),
            Some((table, row)) => (format!("{table}.toml"), Some(row)),
            None => return Shipped::find(name_or_path)?.recipe(overrides),
        };
        if !Path::new(&file).is_file() {
            return Shipped::find(name_or_path)?.recipe(overrides);
        }
        let read = std::fs::read_to_string(&file);
        let text = read.map_err(|source| RecipeError::Read { path: file.clone(), source })?;
        let stem = Path::new(&file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = row.map_or(stem.clone(), |row| format!("{stem}/{row}"));
        Recipe::resolve(&name, &file, Source::parse(&file, &text)?, row, overrides)
    }

    /// Resolves a recipe's text; `file` is what errors call it, `name` what it is called unless it says.
    pub fn parse(name: &str, file: &str, text: &str, overrides: &[String]) -> Result<Recipe, RecipeError> {
        Recipe::resolve(name, file, Source::parse(file, text)?, None, overrides)
    }

    fn resolve(
        name: &str,
        file: &str,
        source: Source,
        row: Option<&str>,
        overrides: &[String],
    ) -> Result<Recipe, RecipeError> {
        source.check_row(file, row)?;
        let mut doc = Document::new(file, source.resolve(row)?, overrides)?;
        let lesson = Lesson::read(&mut doc);
        let is_taught = lesson.is_some();
        let game = Game::read(&mut doc);
        let network = Network::read(&mut doc, game.side);
        let learning = Learning::read(&mut doc, network.values, network.active_features(game.side));
        if !learning.endgame.is_empty() && game.side != 4 {
            doc.impossible("learning.endgame", "endgames are those of the board of sixteen cells");
        }
        let evaluation = Evaluation::read(&mut doc, is_taught);
        let start = Start::read(&mut doc, &network, game.side);
        let budget = running::read_budget(&mut doc);
        if is_taught {
            Lesson::check_budget(&mut doc, budget);
        }
        let recipe = Recipe {
            name: doc.read("name", name.to_owned(), "a text", |_| true),
            description: doc.read("description", String::new(), "a text", |_| true),
            seed: doc.read("seed", 1, "a whole number from 0 to 2^63 - 1", |_| true),
            collect: Collect::read(&mut doc, &start),
            start,
            parallel: Threads::read(&mut doc, &network, &learning, game.side),
            learning,
            lesson,
            game,
            network,
            budget,
            checkpoint: Checkpoint::read(&mut doc, &evaluation, is_taught),
            evaluation,
            log: Log::read(&mut doc, is_taught),
        };
        doc.finish().map(|()| recipe)
    }

    /// The recipe as TOML, with every key.
    pub fn to_toml(&self) -> Result<String, RecipeError> {
        Ok(toml::to_string(self)?)
    }
}

impl Serialize for Recipe {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("description", &self.description)?;
        map.serialize_entry("seed", &self.seed)?;
        if let Some(lesson) = &self.lesson {
            map.serialize_entry("dcnn", lesson)?;
            map.serialize_entry("parallel", &BTreeMap::from([("threads", self.parallel.threads)]))?;
        } else {
            map.serialize_entry("game", &self.game)?;
            map.serialize_entry("network", &self.network)?;
            map.serialize_entry("learning", &self.learning)?;
            map.serialize_entry("start", &self.start)?;
            self.collect.iter().try_for_each(|collect| map.serialize_entry("collect", collect))?;
            map.serialize_entry("parallel", &self.parallel)?;
        }
        map.serialize_entry("budget", &self.budget)?;
        map.serialize_entry("evaluation", &self.evaluation)?;
        map.serialize_entry("checkpoint", &self.checkpoint)?;
        map.serialize_entry("log", &self.log)?;
        map.end()
    }
}
