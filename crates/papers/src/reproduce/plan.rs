//! The trainings and evaluations that a table needs.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use afterstate_dcnn::{DcnnSpec, Device, Play};
use afterstate_learning::{Budget, StepSizeSpec};
use afterstate_search::{Limit, PlayerSpec};

use super::{
    ReproduceError,
    estimate::{in_words, short},
    markdown::plural,
    paper::{Column, Dcnn, Measure, Row, Table, TupleCount},
    training::{Entrant, Training},
};
use afterstate_lab::{
    recipe::{Recipe, Start},
    records::{ShardInfo, shards},
    run::{self, RunError},
};

/// The number of evaluations during a training of a table, and the minimum for a curve.
const POINTS: u64 = 10;

/// Empty and the tiles up to 131072.
const TILE_VALUES: u64 = 18;
/// 64-bit weights with E and A, in two stages (terauchi-2025, Table 2).
const BYTES_PER_WEIGHT: u64 = 8 * 3 * 2;

/// How much of a table is run.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// The share of the paper's budget.
    pub share: f64,
    /// The number of trainings of each row; the paper's by default.
    pub trainings: Option<u64>,
    /// The number of games of each evaluation; the paper's by default, limited if the budget is not the whole one.
    pub games: GameCounts,
    /// Searches deeper than this, and those by time, are left out.
    pub plies: Option<u32>,
    /// The number of threads.
    pub threads: usize,
    /// The directory of the play records for networks that are taught.
    pub records: Option<PathBuf>,
    /// The device on which these learn.
    pub device: Device,
}

impl Options {
    /// The share of a number, at least 1.
    pub(super) fn part(&self, number: u64) -> u64 {
        ((number as f64 * self.share).round() as u64).max(1)
    }

    /// The number of games of a player, given the paper's number.
    fn games(&self, search: &str, limit: Option<Limit>, paper: u64) -> u64 {
        let usual = if self.share < 1.0 { paper.min(most_games(limit)) } else { paper };
        self.games.of(search).unwrap_or(usual)
    }
}

/// The numbers of games of evaluations: one for all, or one for each search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameCounts {
    all: Option<u64>,
    each: Vec<(String, u64)>,
}

impl GameCounts {
    /// The same number for all.
    pub fn all(games: u64) -> Self {
        GameCounts { all: Some(games), each: Vec::new() }
    }

    /// The number given for a search, if any.
    pub fn of(&self, search: &str) -> Option<u64> {
        let own = self.each.iter().find(|(other, _)| other == search);
        own.map(|(_, games)| *games).or(self.all)
    }
}

impl FromStr for GameCounts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut counts = GameCounts::default();
        for part in text.split(',') {
            let (search, games) = part.rsplit_once('=').map_or((None, part), |(s, games)| (Some(s), games));
            let games = games.parse().ok().filter(|&games| games > 0);
            let search = search.map(|search| match search.parse::<PlayerSpec>() {
                Ok(player) => Ok(player.to_string()),
                Err(_) if search.parse::<Play>().is_ok() => Ok(search.to_owned()),
                Err(error) => Err(error.to_string()),
            });
            match (search.transpose()?, games) {
                (Some(search), Some(games)) => counts.each.push((search, games)),
                (None, Some(games)) => counts.all = Some(games),
                (_, None) => {
                    return Err(format!("`{part}` gives no number of games, such as 1000 or 3ply=100"));
                }
            }
        }
        Ok(counts)
    }
}

/// The source of one of our figures.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// It is not measured, for this reason.
    LeftOut(String),
    /// It is computed without training.
    Counted(f64),
    /// Games of a training's networks.
    Played {
        /// The training.
        training: usize,
        /// The player.
        entrant: Entrant,
    },
    /// The games of the training itself.
    Trained {
        /// The training.
        training: usize,
    },
    /// The last batches of records that the training learned from.
    Learned {
        /// The training.
        training: usize,
    },
    /// How long the training took.
    Timed {
        /// The training.
        training: usize,
    },
}

impl Source {
    /// The training that it needs.
    pub fn training(&self) -> Option<usize> {
        match *self {
            Source::LeftOut(_) | Source::Counted(_) => None,
            Source::Played { training, .. }
            | Source::Trained { training }
            | Source::Learned { training }
            | Source::Timed { training } => Some(training),
        }
    }
}

/// Everything that a table needs.
#[derive(Clone, PartialEq, Debug)]
pub struct TablePlan {
    /// The table.
    pub table: Table,
    /// How much of it.
    pub options: Options,
    /// The trainings; each one comes after the training with which it begins.
    pub trainings: Vec<Training>,
    /// The sources of the figures, row by row, column by column.
    pub sources: Vec<Vec<Source>>,
    /// Whose games teach, in words; `None` if no records are needed or given.
    pub taught_by: Option<String>,
}

impl TablePlan {
    /// Derives the plan of a table.
    ///
    /// # Errors
    /// If the share or a recipe of the table is invalid, or the necessary records cannot be read.
    pub fn new(table: Table, options: Options) -> Result<TablePlan, ReproduceError> {
        if !(options.share > 0.0 && options.share <= 1.0) {
            return Err(ReproduceError::Share(options.share));
        }
        let (trainings, sources) = (Vec::new(), Vec::new());
        let mut plan = TablePlan { table, options, trainings, sources, taught_by: None };
        for row in plan.table.rows.clone() {
            if plan.table.is_counted() {
                plan.sources.push(plan.counted(&row)?);
                continue;
            }
            let training = match plan.not_asked_for(&row)? {
                Some(reason) => Err(reason),
                None => plan.training_of(&row)?,
            };
            let sources = match training {
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
        if let Some(records) = plan.options.records.as_deref().filter(|_| plan.needs_records()) {
            plan.taught_by = Some(whose_games(records)?);
        }
        Ok(plan)
    }

    /// Whether networks are taught by play records.
    pub fn needs_records(&self) -> bool {
        self.trainings.iter().any(|training| training.recipe.lesson.is_some())
    }

    /// The number of trainings of each row.
    pub fn seeds(&self) -> u64 {
        self.options.trainings.unwrap_or(self.table.trainings())
    }

    /// The rows without any measured figure, and why.
    pub fn left_out(&self) -> impl Iterator<Item = (&Row, &str)> {
        self.table.rows.iter().zip(&self.sources).filter_map(|(row, sources)| {
            let reasons = sources.iter().map(|source| match source {
                Source::LeftOut(reason) => Some(reason.as_str()),
                _ => None,
            });
            Some((row, reasons.collect::<Option<Vec<_>>>()?.first().copied()?))
        })
    }

    /// The figures of a row that are computed without training.
    fn counted(&self, row: &Row) -> Result<Vec<Source>, ReproduceError> {
        if let Some(reason) = row.left_out.clone().or_else(|| self.table.left_out.clone()) {
            return Ok(vec![Source::LeftOut(reason); self.table.columns.len()]);
        }
        let weights = match (row.dcnn, row.tuples) {
            (Some(Dcnn { layers, channels, .. }), _) => {
                DcnnSpec::policy(layers, channels).map_err(RunError::from)?.weights() as u64
            }
            (None, Some(TupleCount { count, cells })) => count * TILE_VALUES.pow(cells),
            (None, None) => {
                let recipe = Recipe::load(&self.table.training_name(row), &[])?;
                recipe.network.spec(recipe.game.side)?.weights()
            }
        };
        let figure = |column: &Column| match column.measure {
            Measure::Memory => Source::Counted((weights * BYTES_PER_WEIGHT) as f64 / f64::from(1 << 30)),
            _ => Source::Counted(weights as f64),
        };
        Ok(self.table.columns.iter().map(figure).collect())
    }

    /// The number of points of a training's curve: the paper's for the whole budget, otherwise proportional, with a
    /// minimum.
    fn points(&self) -> u64 {
        match self.table.points.filter(|_| self.table.curve) {
            Some(theirs) => self.options.part(theirs).clamp(POINTS.min(theirs), theirs),
            None => POINTS,
        }
    }

    /// Cuts a recipe to the share of its budget. For a curve the network is evaluated as its columns say, otherwise
    /// greedily.
    fn scale(&self, recipe: &mut Recipe, row: Option<&Row>) -> Result<(), ReproduceError> {
        scale(recipe, &self.options);
        let (theirs, ours) = (self.table.points.unwrap_or(POINTS), self.points());
        let evaluation = &mut recipe.evaluation;
        evaluation.every = match recipe.budget {
            _ if evaluation.every == 0 => 0,
            Budget::Actions(actions) if self.table.curve => actions.div_ceil(ours),
            Budget::Actions(actions) => self.options.part(evaluation.every).max(actions.div_ceil(ours)),
            _ if self.table.curve => {
                self.options.part(evaluation.every).saturating_mul(theirs.div_ceil(ours))
            }
            _ => self.options.part(evaluation.every).saturating_mul(POINTS),
        };
        let mut contests: Vec<(PlayerSpec, u64)> = Vec::new();
        let row = row.filter(|_| self.table.curve);
        for (row, column) in
            row.iter().flat_map(|row| self.table.columns.iter().map(move |column| (row, column)))
        {
            let player: PlayerSpec = row.search(column).parse()?;
            let known = contests.iter().any(|(other, _)| *other == player);
            if !known && self.too_deep(player).is_none() {
                let limit = player.search.map(|search| search.limit);
                contests.push((player, self.options.games(&player.to_string(), limit, row.games(column))));
            }
        }
        if contests.is_empty() {
            let greedy = PlayerSpec::new(Limit::Plies(1));
            let theirs = evaluation.games.first().copied().unwrap_or(1000);
            contests.push((greedy, self.options.games("1ply", Some(Limit::Plies(1)), theirs).min(theirs)));
        }
        (evaluation.searches, evaluation.games) = contests.into_iter().unzip();
        Ok(())
    }

    /// Why a row needs no training: all of its figures use searches that were not requested.
    fn not_asked_for(&self, row: &Row) -> Result<Option<String>, ReproduceError> {
        let mut reason = None;
        for column in &self.table.columns {
            reason = match (column.measure, row.lesson()) {
                (Measure::Mean | Measure::Highest, None) => self.too_deep(row.search(column).parse()?),
                _ => None,
            };
            if reason.is_none() {
                break;
            }
        }
        Ok(reason)
    }

    /// Why a player's games are left out.
    fn too_deep(&self, player: PlayerSpec) -> Option<String> {
        let plies = self.options.plies?;
        let asked = matches!(player.search?.limit, Limit::Plies(wanted) if wanted <= plies);
        (!asked).then(|| format!("{player} was not asked for: --plies {plies}"))
    }

    /// The training of a row, or why there is none.
    fn training_of(&mut self, row: &Row) -> Result<Result<usize, String>, ReproduceError> {
        if let Some(reason) = row.left_out.clone().or_else(|| self.table.left_out.clone()) {
            return Ok(Err(reason));
        }
        let name = self.table.training_name(row);
        if let Some((network, samples)) = row.lesson() {
            return Ok(Ok(self.add_lesson(name, network, samples)?));
        }
        let before = self.trainings.len();
        let training = self.add(&name, Some(row))?;
        for added in &self.trainings[before..] {
            let needs = run::MemoryPlan::of(&added.recipe)?;
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

    /// Adds the training of a recipe, and those that it needs, unless they exist.
    fn add(&mut self, name: &str, row: Option<&Row>) -> Result<usize, ReproduceError> {
        let mut recipe = Recipe::load(name, &[])?;
        let budget = in_words(recipe.budget);
        let after = match recipe.network.from.strip_prefix("runs/").map(str::to_owned) {
            Some(first) => Some(self.add(&first, None)?),
            None => None,
        };
        self.scale(&mut recipe, row)?;
        let same = |other: &Training| {
            let (name, description) = (recipe.name.clone(), recipe.description.clone());
            Recipe { name, description, ..other.recipe.clone() } == recipe
        };
        if let Some(found) = self.trainings.iter().position(same) {
            return Ok(found);
        }
        let name = name.to_owned();
        self.trainings.push(Training { name, budget, recipe, after, evaluations: Vec::new() });
        Ok(self.trainings.len() - 1)
    }

    /// Adds the lesson of a network. A shorter lesson is the beginning of a longer one, not a separate training.
    fn add_lesson(
        &mut self,
        name: String,
        mut keys: Vec<String>,
        samples: u64,
    ) -> Result<usize, ReproduceError> {
        let (part, budget) = (self.options.part(samples), format!("{} records", short(samples)));
        if let Some(found) = self.trainings.iter().position(|training| training.name == name) {
            let training = &mut self.trainings[found];
            if training.records().is_some_and(|records| part > records) {
                (training.recipe.budget, training.budget) = (Budget::Actions(part), budget);
            }
            return Ok(found);
        }
        keys.extend([format!("budget.actions={part}"), "evaluation.every=0".to_owned()]);
        let mut recipe = Recipe::parse(&name, &name, "dcnn.records = 'records'", &keys)?;
        if let (Some(lesson), Some(records)) = (&mut recipe.lesson, &self.options.records) {
            lesson.records = records.clone();
        }
        self.trainings.push(Training { name, budget, recipe, after: None, evaluations: Vec::new() });
        Ok(self.trainings.len() - 1)
    }

    /// The source of a figure; adds the evaluation that it needs.
    fn source(&mut self, row: &Row, column: &Column, training: usize) -> Result<Source, ReproduceError> {
        let (entrant, limit) = match (column.measure, row.lesson()) {
            (Measure::HighestInTraining, _) => return Ok(Source::Trained { training }),
            (Measure::Seconds, _) => return Ok(Source::Timed { training }),
            (Measure::Weights | Measure::Memory, _) => {
                return Ok(Source::LeftOut("what is counted has a table of its own".to_owned()));
            }
            (Measure::Error | Measure::Accuracy, Some(_)) => return Ok(Source::Learned { training }),
            (Measure::Error | Measure::Accuracy, None) => {
                return Ok(Source::LeftOut("it does not learn from records".to_owned()));
            }
            (_, Some((_, whole))) if row.dcnn.is_some() => {
                let samples = column.samples.unwrap_or(whole);
                if self.table.curve {
                    self.add_points(training, whole, row.games(column));
                }
                (Entrant::Voting(self.options.part(samples)), None)
            }
            (_, Some(_)) => (Entrant::Valuing, None),
            (_, None) => {
                let player: PlayerSpec = row.search(column).parse()?;
                if let Some(reason) = self.too_deep(player) {
                    return Ok(Source::LeftOut(reason));
                }
                (Entrant::Searching(player), player.search.map(|search| search.limit))
            }
        };
        let games = self.options.games(&entrant.search(), limit, row.games(column));
        self.add_evaluation(training, entrant, games);
        Ok(Source::Played { training, entrant })
    }

    /// The test plays of a lesson along a curve.
    fn add_points(&mut self, training: usize, samples: u64, games: u64) {
        let (points, whole) = (self.points(), self.options.part(samples));
        for point in 1..=points {
            let entrant = Entrant::Voting((whole * point / points).max(1));
            self.add_evaluation(training, entrant, self.options.games(&entrant.search(), None, games));
        }
    }

    /// Adds an evaluation, unless it exists.
    fn add_evaluation(&mut self, training: usize, entrant: Entrant, games: u64) {
        let evaluations = &mut self.trainings[training].evaluations;
        if !evaluations.iter().any(|(other, _)| *other == entrant) {
            evaluations.push((entrant, games));
        }
    }
}

/// The player of the games in a directory of records.
fn whose_games(records: &Path) -> Result<String, ReproduceError> {
    let shards = shards(records).map_err(RunError::from)?;
    let about = ShardInfo::read(&shards[0]).map_err(RunError::from)?.about;
    let (model, search, files, place) = (about.model, about.search, shards.len(), records.display());
    Ok(format!("games of {model} with {search}, {files} file{} in {place}", plural(files as u64)))
}

/// An upper bound on the games: more would take longer than the training of a small share.
fn most_games(limit: Option<Limit>) -> u64 {
    match limit {
        Some(Limit::Plies(1)) | None => 1000,
        Some(Limit::Plies(2 | 3)) => 100,
        Some(_) => 10,
    }
}

/// Cuts a recipe to a share of its budget. Resets, which are counted in actions, shrink with it, and so do the first
/// states of a stage that are collected before it is trained, which would otherwise use up a small budget.
fn scale(recipe: &mut Recipe, options: &Options) {
    let part = |number: u64| options.part(number);
    recipe.budget = match recipe.budget {
        Budget::Actions(actions) => Budget::Actions(part(actions)),
        Budget::Episodes(episodes) => Budget::Episodes(part(episodes)),
        Budget::Seconds(seconds) => Budget::Seconds(seconds * options.share),
    };
    if let StepSizeSpec::TemporalCoherence { reset, .. } | StepSizeSpec::FixedThenCoherence { reset, .. } =
        &mut recipe.learning.step_size
        && *reset > 0
    {
        *reset = part(*reset);
    }
    if let Start::Stage { collected, .. } = &mut recipe.start {
        *collected = part(*collected as u64) as usize;
    }
}
