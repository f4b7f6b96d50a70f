//! Ours beside the paper's: the table, and a verdict on each claim.

use serde::{Deserialize, Serialize};

use super::{
    Plan,
    estimate::describe_budget,
    paper::{Column, Figure, Measure, Pick, Spread},
    plan::Source,
    sample::{Of, Sample},
    verdict::{ClaimReport, judge},
    work::Trained,
};
use crate::stats::GameResult;

/// A table with our figures beside the paper's.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// PAPER/TABLE.
    pub table: String,
    /// What it is about.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// The paper's budget of a training.
    pub budget: String,
    /// The share of it that was used.
    pub share: f64,
    /// The number of trainings of each row: the paper's, and ours.
    pub trainings: [u64; 2],
    /// What stands behind ± in the paper.
    pub spread: Spread,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<ReportRow>,
    /// The claims.
    pub claims: Vec<ClaimReport>,
    /// The seconds that all trainings took, one after the other.
    pub seconds: f64,
}

/// A row of the table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportRow {
    /// Its name.
    pub name: String,
    /// What the paper calls it.
    pub label: String,
    /// The name of its recipe.
    pub recipe: String,
    /// The mean number of actions of its trainings; none when there was no training.
    pub actions: Option<f64>,
    /// Its figures, column by column.
    pub cells: Vec<Cell>,
}

/// A figure of the paper's, and ours.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The paper's, if it has one.
    pub paper: Option<Figure>,
    /// Ours, if it was measured …
    pub ours: Option<Ours>,
    /// … and otherwise why not.
    pub left_out: Option<String>,
}

/// A figure of ours.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ours {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; none for one number.
    pub sd: Option<f64>,
    /// Half the 95% interval of the mean; none for one number.
    pub ci95: Option<f64>,
    /// What it is the mean of.
    pub of: Of,
    /// How many trainings, or games of one training.
    pub count: usize,
    /// The games of each evaluation; none for figures of the training itself.
    pub games: Option<u64>,
}

impl Ours {
    /// What is shown behind ±: of the paper's kind, where there are several trainings.
    pub fn plus_minus(&self, paper: Spread) -> Option<f64> {
        match (self.of, paper) {
            (Of::Trainings, Spread::TrainingsSd) => self.sd,
            _ => self.ci95,
        }
    }
}

impl Report {
    /// Puts together what came of a plan.
    pub fn new(plan: &Plan, trained: &[Vec<Trained>]) -> Report {
        let table = &plan.table;
        let sample = |row, column| sample(plan, trained, row, column);
        let rows = (0..table.rows.len()).map(|row| report_row(plan, trained, row)).collect();
        let budgets = plan.trainings.iter().map(|training| describe_budget(&training.name));
        let mut budgets: Vec<String> = budgets.collect();
        budgets.dedup();
        Report {
            table: table.name.clone(),
            title: table.title.clone(),
            place: table.place.clone(),
            budget: budgets.join("; "),
            share: plan.options.share,
            trainings: [table.trainings(), plan.seeds()],
            spread: table.spread,
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            rows,
            claims: table.claims.iter().map(|claim| judge(table, claim, sample)).collect(),
            seconds: trained.iter().flatten().map(|trained| trained.record.seconds).sum(),
        }
    }
}

fn report_row(plan: &Plan, trained: &[Vec<Trained>], row: usize) -> ReportRow {
    let cell = |column: usize| {
        let ours = sample(plan, trained, row, column).map(|sample| {
            let (sd, ci95) = sample.spread();
            let games = match plan.sources[row][column] {
                Source::Played { training, player } => {
                    trained[training].first().map(|trained| trained.games(player).len() as u64)
                }
                _ => None,
            };
            Ours { mean: sample.mean(), sd, ci95, of: sample.of, count: sample.values.len(), games }
        });
        let left_out = match &plan.sources[row][column] {
            Source::LeftOut(reason) => Some(reason.clone()),
            _ => None,
        };
        Cell { paper: plan.table.rows[row].figure(column).cloned(), ours, left_out }
    };
    let data = &plan.table.rows[row];
    let training = plan.sources[row].iter().find_map(Source::training);
    let actions = training.map(|training| {
        let actions = trained[training].iter().map(|trained| trained.record.actions as f64);
        actions.sum::<f64>() / trained[training].len().max(1) as f64
    });
    ReportRow {
        name: data.name.clone(),
        label: data.label.clone(),
        recipe: plan.table.recipe_name(data),
        actions,
        cells: (0..plan.table.columns.len()).map(cell).collect(),
    }
}

/// The numbers behind a figure; none if it was not measured.
fn sample(plan: &Plan, trained: &[Vec<Trained>], row: usize, column: usize) -> Option<Sample> {
    let measured = &plan.table.columns[column];
    match plan.sources[row][column] {
        Source::LeftOut(_) => None,
        Source::Trained { training } => {
            let highest =
                trained[training].iter().map(|trained| trained.record.highest.map(|score| score as f64));
            Some(Sample { of: Of::Trainings, values: highest.collect::<Option<_>>()? })
        }
        Source::Played { training, player } => {
            let values = |trained: &Trained| values(measured, trained.games(player));
            let seeds = &trained[training];
            let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
            match (&seeds[..], plan.table.pick) {
                ([only], _) if measured.measure == Measure::Mean => {
                    Some(Sample { of: Of::Games, values: values(only) })
                }
                (_, Pick::Best) => {
                    best(plan, seeds, training).map(|best| Sample { of: Of::Games, values: values(best) })
                }
                _ => {
                    let values = seeds.iter().map(|trained| mean(values(trained))).collect();
                    Some(Sample { of: Of::Trainings, values })
                }
            }
        }
    }
}

/// The training whose first evaluation, greedy play where there is any, has the best mean.
fn best<'a>(plan: &Plan, seeds: &'a [Trained], training: usize) -> Option<&'a Trained> {
    let evaluations = &plan.trainings[training].evaluations;
    let greedy = evaluations.iter().find(|(player, _)| player.is_greedy());
    let (player, _) = *greedy.or(evaluations.first())?;
    let score = |trained: &Trained| trained.games(player).iter().map(|game| game.score).sum::<u64>();
    seeds.iter().max_by_key(|trained| score(trained))
}

/// What a column takes of the games of one training.
fn values(column: &Column, games: &[GameResult]) -> Vec<f64> {
    let reached = |game: &GameResult, tile: u64| if 1 << game.max_exponent >= tile { 100.0 } else { 0.0 };
    match (column.measure, column.tile) {
        (Measure::Highest, _) => {
            games.iter().map(|game| game.score as f64).reduce(f64::max).into_iter().collect()
        }
        (_, Some(tile)) => games.iter().map(|game| reached(game, tile)).collect(),
        (_, None) => games.iter().map(|game| game.score as f64).collect(),
    }
}
