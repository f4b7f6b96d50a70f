//! Which trainings and which evaluations a table needs.

use std::path::{Path, PathBuf};

use afterstate_search::{Limit, PlayerSpec};

use super::{
    ReproduceError,
    estimate::{in_words, short},
    markdown::plural,
    paper::{Column, Dcnn, Measure, Row, Table},
    training::{Entrant, Method, Training},
};
use crate::{
    dcnn::{self, DcnnError, Taught},
    recipe::{Budget, Recipe, Start, StepSize},
    records::{Reader, shards},
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
    /// The directory of the play records, for networks that are taught.
    pub records: Option<PathBuf>,
}

impl Options {
    /// The share of a number, at least 1.
    pub(super) fn part(&self, number: u64) -> u64 {
        ((number as f64 * self.share).round() as u64).max(1)
    }
}

/// What a figure of ours is made of.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// It is not measured, for this reason.
    LeftOut(String),
    /// Games of a training's networks.
    Played {
        /// The training.
        training: usize,
        /// Who plays.
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
}

impl Source {
    /// The training that it needs.
    pub fn training(&self) -> Option<usize> {
        match *self {
            Source::LeftOut(_) => None,
            Source::Played { training, .. } | Source::Trained { training } | Source::Learned { training } => {
                Some(training)
            }
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
    /// Whose games teach, in words; none where no records are needed, or were given.
    pub taught_by: Option<String>,
}

impl Plan {
    /// Works out what is to be done.
    ///
    /// # Errors
    /// When the share cannot be, or a recipe of the table, or the records that it needs cannot be read.
    pub fn new(table: Table, options: Options) -> Result<Plan, ReproduceError> {
        if !(options.share > 0.0 && options.share <= 1.0) {
            return Err(ReproduceError::Share(options.share));
        }
        let (trainings, sources) = (Vec::new(), Vec::new());
        let mut plan = Plan { table, options, trainings, sources, taught_by: None };
        for row in plan.table.rows.clone() {
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
        self.trainings.iter().any(|training| matches!(training.method, Method::Lesson(_)))
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

    /// Why a row needs no training: all of its figures are by searches that were not asked for.
    fn not_asked_for(&self, row: &Row) -> Result<Option<String>, ReproduceError> {
        let mut reason = None;
        for column in &self.table.columns {
            reason = match (column.measure, row.dcnn) {
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
        if let Some(dcnn) = row.dcnn {
            return Ok(Ok(self.add_lesson(name, dcnn)));
        }
        let before = self.trainings.len();
        let training = self.add(&name)?;
        for added in &self.trainings[before..] {
            let Method::Recipe(recipe) = &added.method else { continue };
            let needs = run::Plan::of(recipe)?;
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
        let budget = in_words(recipe.budget);
        let after = match recipe.network.from.strip_prefix("runs/").map(str::to_owned) {
            Some(first) => Some(self.add(&first)?),
            None => None,
        };
        scale(&mut recipe, &self.options);
        let same = |other: &Training| match &other.method {
            Method::Recipe(other) => {
                let (name, description) = (recipe.name.clone(), recipe.description.clone());
                Recipe { name, description, ..(**other).clone() } == recipe
            }
            Method::Lesson(_) => false,
        };
        if let Some(found) = self.trainings.iter().position(same) {
            return Ok(found);
        }
        let (name, method) = (name.to_owned(), Method::Recipe(recipe.into()));
        self.trainings.push(Training { name, budget, method, after, evaluations: Vec::new() });
        Ok(self.trainings.len() - 1)
    }

    /// Adds the lesson of a network. A shorter one is the beginning of a longer one, and no training of its own.
    fn add_lesson(&mut self, name: String, dcnn: Dcnn) -> usize {
        let Dcnn { layers, channels, samples } = dcnn;
        let (part, budget) = (self.options.part(samples), format!("{} records", short(samples)));
        let known = self.trainings.iter_mut().enumerate().filter(|(_, training)| training.name == name);
        for (found, training) in known {
            if let Method::Lesson(lesson) = &mut training.method {
                if part > lesson.samples {
                    (lesson.samples, training.budget) = (part, budget);
                }
                return found;
            }
        }
        let lesson = dcnn::Settings {
            records: self.options.records.clone().unwrap_or_default(),
            network: Taught::Dcnn { layers, channels },
            samples: part,
            test_every: 0,
            ..dcnn::Settings::default()
        };
        let method = Method::Lesson(lesson);
        self.trainings.push(Training { name, budget, method, after: None, evaluations: Vec::new() });
        self.trainings.len() - 1
    }

    /// What a figure is made of; takes note of the evaluation that it needs.
    fn source(&mut self, row: &Row, column: &Column, training: usize) -> Result<Source, ReproduceError> {
        let (entrant, limit) = match (column.measure, row.dcnn) {
            (Measure::HighestInTraining, _) => return Ok(Source::Trained { training }),
            (Measure::Error | Measure::Accuracy, Some(_)) => return Ok(Source::Learned { training }),
            (Measure::Error | Measure::Accuracy, None) => {
                return Ok(Source::LeftOut("it does not learn from records".to_owned()));
            }
            (_, Some(dcnn)) => {
                let samples = column.samples.unwrap_or(dcnn.samples);
                (Entrant::Voting(self.options.part(samples)), None)
            }
            (_, None) => {
                let player: PlayerSpec = row.search(column).parse()?;
                if let Some(reason) = self.too_deep(player) {
                    return Ok(Source::LeftOut(reason));
                }
                (Entrant::Searching(player), player.search.map(|search| search.limit))
            }
        };
        let games = self.options.games.unwrap_or_else(|| row.games(column).min(most_games(limit)));
        let evaluations = &mut self.trainings[training].evaluations;
        if !evaluations.iter().any(|(other, _)| *other == entrant) {
            evaluations.push((entrant, games));
        }
        Ok(Source::Played { training, entrant })
    }
}

/// Who played the games of a directory of records.
fn whose_games(records: &Path) -> Result<String, ReproduceError> {
    let shards = shards(records).map_err(DcnnError::from)?;
    let about = Reader::open(&shards[0]).map_err(DcnnError::from)?.info().about.clone();
    let (model, search, files, place) = (about.model, about.search, shards.len(), records.display());
    Ok(format!("games of {model} with {search}, {files} file{} in {place}", plural(files as u64)))
}

/// More games than these would take longer than the training of a small share.
fn most_games(limit: Option<Limit>) -> u64 {
    match limit {
        Some(Limit::Plies(1)) | None => 1000,
        Some(Limit::Plies(2 | 3)) => 100,
        Some(Limit::Plies(_) | Limit::Time(_)) => 10,
    }
}

/// Cuts a recipe to a share of its budget: intervals that are counted in actions shrink with it, and so do the first states
/// of a stage that are collected before it is trained, which would take up all of a small budget.
fn scale(recipe: &mut Recipe, options: &Options) {
    let part = |number: u64| options.part(number);
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
    if let Start::Stage { collected } = &mut recipe.start {
        *collected = part(*collected as u64) as usize;
    }
    let evaluation = &mut recipe.evaluation;
    evaluation.every = match recipe.budget {
        Budget::Actions(actions) => part(evaluation.every).max(actions.div_ceil(CURVE_POINTS)),
        _ => part(evaluation.every).saturating_mul(CURVE_POINTS),
    };
    evaluation.games = evaluation.games.min(options.games.unwrap_or(most_games(None)));
}
