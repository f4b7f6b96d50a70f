//! Which trainings and which evaluations a table needs.

use afterstate_search::{Limit, PlayerSpec};

use super::{
    ReproduceError,
    paper::{Column, Measure, Row, Table},
};
use crate::{
    recipe::{Budget, Recipe, StepSize},
    run,
};

/// The most evaluations during a training: enough to see the curve.
const CURVE_POINTS: u64 = 10;

/// How much of a table is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The share of the paper's budget.
    pub share: f64,
    /// The number of trainings of each row; the paper's unless it is given.
    pub trainings: Option<u64>,
    /// The number of games of each evaluation; the paper's within limits unless it is given.
    pub games: Option<u64>,
    /// Searches deeper than this, and those by time, are left out.
    pub plies: Option<u32>,
    /// The number of threads.
    pub threads: usize,
}

/// A training that one or several rows need, with as many seeds as there are trainings.
#[derive(Clone, PartialEq, Debug)]
pub struct Training {
    /// The name of its recipe.
    pub name: String,
    /// The recipe at the share of its budget, with the first seed.
    pub recipe: Recipe,
    /// The training whose weights it begins with.
    pub after: Option<usize>,
    /// The searches that it is evaluated with, and the number of games of each.
    pub evaluations: Vec<(PlayerSpec, u64)>,
}

/// What a figure of ours is made of.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// It is not measured, for this reason.
    LeftOut(String),
    /// Games of a training's networks with a search.
    Played {
        /// The training.
        training: usize,
        /// The search.
        player: PlayerSpec,
    },
    /// The games of the training itself.
    Trained {
        /// The training.
        training: usize,
    },
}

impl Source {
    /// The training that it needs.
    pub fn training(&self) -> Option<usize> {
        match *self {
            Source::LeftOut(_) => None,
            Source::Played { training, .. } | Source::Trained { training } => Some(training),
        }
    }
}

/// All that a table needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The table.
    pub table: Table,
    /// How much of it.
    pub options: Options,
    /// The trainings; one that another begins with comes before it.
    pub trainings: Vec<Training>,
    /// What the figures are made of, row by row, column by column.
    pub sources: Vec<Vec<Source>>,
}

impl Plan {
    /// Works out what is to be done.
    ///
    /// # Errors
    /// When the share cannot be, or a recipe of the table.
    pub fn new(table: Table, options: Options) -> Result<Plan, ReproduceError> {
        if !(options.share > 0.0 && options.share <= 1.0) {
            return Err(ReproduceError::Share(options.share));
        }
        let mut plan = Plan { table, options, trainings: Vec::new(), sources: Vec::new() };
        for row in plan.table.rows.clone() {
            let sources = match plan.training_of(&row)? {
                Err(reason) => vec![Source::LeftOut(reason); plan.table.columns.len()],
                Ok(training) => {
                    let columns = plan.table.columns.clone();
                    columns
                        .iter()
                        .map(|column| plan.source(&row, column, training))
                        .collect::<Result<_, _>>()?
                }
            };
            plan.sources.push(sources);
        }
        Ok(plan)
    }

    /// The number of trainings of each row.
    pub fn seeds(&self) -> u64 {
        self.options.trainings.unwrap_or(self.table.trainings())
    }

    /// The rows of which nothing is measured, and why.
    pub fn left_out(&self) -> impl Iterator<Item = (&Row, &str)> {
        self.table.rows.iter().zip(&self.sources).filter_map(|(row, sources)| {
            let reasons = sources.iter().map(|source| match source {
                Source::LeftOut(reason) => Some(reason.as_str()),
                _ => None,
            });
            Some((row, reasons.collect::<Option<Vec<_>>>()?.first().copied()?))
        })
    }

    /// The training of a row, or why there is none.
    fn training_of(&mut self, row: &Row) -> Result<Result<usize, String>, ReproduceError> {
        if let Some(reason) = row.left_out.clone().or_else(|| self.table.left_out.clone()) {
            return Ok(Err(reason));
        }
        let before = self.trainings.len();
        let training = self.add(&self.table.recipe_name(row))?;
        for added in &self.trainings[before..] {
            let needs = run::Plan::of(&added.recipe)?;
            if let Some(available) = needs.available.filter(|_| !needs.fits()) {
                let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
                let reason = format!(
                    "training needs {:.1} GiB of memory, and {:.1} GiB are available",
                    gib(needs.bytes),
                    gib(available)
                );
                self.trainings.truncate(before);
                return Ok(Err(reason));
            }
        }
        Ok(Ok(training))
    }

    /// Adds the training of a recipe, and those that it needs, unless they are there.
    fn add(&mut self, name: &str) -> Result<usize, ReproduceError> {
        let mut recipe = Recipe::load(name, &[])?;
        let after = match recipe.network.from.strip_prefix("runs/").map(str::to_owned) {
            Some(first) => Some(self.add(&first)?),
            None => None,
        };
        scale(&mut recipe, &self.options);
        let same = |other: &Training| {
            let names = (recipe.name.clone(), recipe.description.clone());
            let (name, description) = names;
            Recipe { name, description, ..other.recipe.clone() } == recipe
        };
        if let Some(found) = self.trainings.iter().position(same) {
            return Ok(found);
        }
        self.trainings.push(Training { name: name.to_owned(), recipe, after, evaluations: Vec::new() });
        Ok(self.trainings.len() - 1)
    }

    /// What a figure is made of; takes note of the evaluation that it needs.
    fn source(&mut self, row: &Row, column: &Column, training: usize) -> Result<Source, ReproduceError> {
        if column.measure == Measure::HighestInTraining {
            return Ok(Source::Trained { training });
        }
        let text = row.search(column);
        let player: PlayerSpec = text.parse()?;
        let limit = player.search.map(|search| search.limit);
        if let Some(plies) = self.options.plies
            && !matches!(limit, Some(Limit::Plies(wanted)) if wanted <= plies)
        {
            return Ok(Source::LeftOut(format!("{text} was not asked for: --plies {plies}")));
        }
        let games = self.options.games.unwrap_or_else(|| row.games(column).min(most_games(limit)));
        let evaluations = &mut self.trainings[training].evaluations;
        if !evaluations.iter().any(|(other, _)| *other == player) {
            evaluations.push((player, games));
        }
        Ok(Source::Played { training, player })
    }
}

/// More games than these would take longer than the training of a small share.
fn most_games(limit: Option<Limit>) -> u64 {
    match limit {
        Some(Limit::Plies(1)) | None => 1000,
        Some(Limit::Plies(2 | 3)) => 100,
        Some(Limit::Plies(_) | Limit::Time(_)) => 10,
    }
}

/// Cuts a recipe to a share of its budget: intervals that are counted in actions shrink with it.
fn scale(recipe: &mut Recipe, options: &Options) {
    let part = |number: u64| ((number as f64 * options.share).round() as u64).max(1);
    recipe.budget = match recipe.budget {
        Budget::Actions(actions) => Budget::Actions(part(actions)),
        Budget::Episodes(episodes) => Budget::Episodes(part(episodes)),
        Budget::Seconds(seconds) => Budget::Seconds(seconds * options.share),
    };
    if let StepSize::Tc { tc_reset, .. } = &mut recipe.learning.step_size
        && *tc_reset > 0
    {
        *tc_reset = part(*tc_reset);
    }
    let evaluation = &mut recipe.evaluation;
    evaluation.every = match recipe.budget {
        Budget::Actions(actions) => part(evaluation.every).max(actions.div_ceil(CURVE_POINTS)),
        _ => part(evaluation.every).saturating_mul(CURVE_POINTS),
    };
    evaluation.games = evaluation.games.min(options.games.unwrap_or(most_games(None)));
}
