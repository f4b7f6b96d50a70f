//! Our figures beside the paper's: the table, and a verdict on each claim.

use serde::{Deserialize, Serialize};

use super::{
    TablePlan,
    measure::sample,
    paper::{Figure, Spread},
    plan::Source,
    sample::Of,
    verdict::{ClaimReport, judge},
    work::Trained,
};

/// A table with our figures beside the paper's.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// PAPER/TABLE.
    pub table: String,
    /// What it is about.
    pub title: String,
    /// Where it is in the paper.
    pub place: String,
    /// The paper's budget of a training.
    pub budget: String,
    /// The share of it that was used.
    pub share: f64,
    /// Whose games teach; `None` if no records are needed.
    #[serde(default)]
    pub taught_by: Option<String>,
    /// The number of trainings of each row: the paper's, and ours.
    pub trainings: [u64; 2],
    /// The meaning of ± in the paper.
    pub spread: Spread,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<ReportRow>,
    /// The claims.
    pub claims: Vec<ClaimReport>,
    /// The total seconds of all trainings.
    pub seconds: f64,
}

/// A row of the table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportRow {
    /// Its name.
    pub name: String,
    /// Its name in the paper.
    pub label: String,
    /// The name of its training: of its recipe, or of the network that is taught.
    pub recipe: String,
    /// The mean number of actions of its trainings, or of records that taught it; `None` without a training.
    pub actions: Option<f64>,
    /// Its figures, column by column.
    pub cells: Vec<Cell>,
}

/// A figure of the paper and ours.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The paper's, if it has one.
    pub paper: Option<Figure>,
    /// Our figure, if it was measured …
    pub ours: Option<Ours>,
    /// … and otherwise why not.
    pub left_out: Option<String>,
}

/// A figure of ours.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ours {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; `None` for a single number.
    pub sd: Option<f64>,
    /// Half the 95% interval of the mean; `None` for a single number.
    pub ci95: Option<f64>,
    /// What it is the mean of.
    pub of: Of,
    /// The number of trainings, or of games or batches of one training.
    pub count: usize,
    /// The games of each evaluation; `None` for figures of the training itself.
    pub games: Option<u64>,
}

impl Ours {
    /// The number displayed after ±: the same kind as in the paper, if there are several trainings.
    pub fn plus_minus(&self, paper: Spread) -> Option<f64> {
        match (self.of, paper) {
            (Of::Trainings, Spread::TrainingsSd) => self.sd,
            _ => self.ci95,
        }
    }
}

impl Report {
    /// Creates the report from the results of a plan.
    pub fn new(plan: &TablePlan, trained: &[Vec<Trained>]) -> Report {
        let table = &plan.table;
        let sample = |row, column| sample(plan, trained, row, column);
        let rows = (0..table.rows.len()).map(|row| report_row(plan, trained, row)).collect();
        let mut budgets: Vec<String> =
            plan.trainings.iter().map(|training| training.budget.clone()).collect();
        budgets.dedup();
        Report {
            table: table.name.clone(),
            title: table.title.clone(),
            place: table.place.clone(),
            budget: budgets.join("; "),
            share: plan.options.share,
            taught_by: plan.taught_by.clone(),
            trainings: [table.trainings(), plan.seeds()],
            spread: table.spread,
            columns: table.columns.iter().map(|column| column.name.clone()).collect(),
            rows,
            claims: table.claims.iter().map(|claim| judge(table, claim, sample)).collect(),
            seconds: trained.iter().flatten().map(|trained| trained.record.seconds).sum(),
        }
    }
}

fn report_row(plan: &TablePlan, trained: &[Vec<Trained>], row: usize) -> ReportRow {
    let cell = |column: usize| {
        let ours = sample(plan, trained, row, column).map(|sample| {
            let (sd, ci95) = sample.spread();
            let games = match plan.sources[row][column] {
                Source::Played { training, entrant } => {
                    trained[training].first().map(|trained| trained.games(entrant).len() as u64)
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
    let actions = training.map(|training| match data.lesson() {
        // Several rows can be points of one training.
        Some((_, samples)) => plan.options.part(samples) as f64,
        None => {
            let actions = trained[training].iter().map(|trained| trained.record.actions as f64);
            actions.sum::<f64>() / trained[training].len().max(1) as f64
        }
    });
    ReportRow {
        name: data.name.clone(),
        label: data.label.clone(),
        recipe: plan.table.training_name(data),
        actions,
        cells: (0..plan.table.columns.len()).map(cell).collect(),
    }
}
