//! The learning curves of a figure: the results of a plan's runs, point by point.

use std::path::Path;

use afterstate_learning::Budget;

use super::{
    ReproduceError, TablePlan,
    paper::{Column, Figure, Measure, Row, Spread},
    sample::Sample,
    training::{Entrant, Training},
    work::{Job, Trained, run_path},
};
use afterstate_lab::{
    log::{EvalLine, Log, LogLine},
    recipe::Recipe,
    run::Directory,
    stats::Summary,
};

/// More points on a line would only enlarge the file.
const MOST_POINTS: usize = 300;

/// A figure of learning curves.
#[derive(Clone, PartialEq, Debug)]
pub struct LearningCurves {
    /// PAPER/FIGURE.
    pub name: String,
    /// What it is about, and where it is in the paper.
    pub title: String,
    /// The unit of the x-axis: actions, games or records.
    pub unit: &'static str,
    /// The paper's budget, in words.
    pub budget: String,
    /// The share of it that was used.
    pub share: f64,
    /// The number of trainings of each line.
    pub trainings: u64,
    /// The measures, from top to bottom.
    pub panels: Vec<Panel>,
}

/// A measure of a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Panel {
    /// The name of the measure.
    pub name: String,
    /// The lines.
    pub curves: Vec<Curve>,
}

/// A line of a panel.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// Its name in the paper.
    pub label: String,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// The paper's figure at the end of its whole budget, if it gives one.
    pub paper: Option<Figure>,
}

/// A point of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// The actions, games or records so far.
    pub x: f64,
    /// The mean over the trainings.
    pub mean: f64,
    /// Half the interval over the trainings, or over the games of a single one; 0 if there is none.
    pub half: f64,
}

impl LearningCurves {
    /// Reads the course of every training of a completed plan.
    ///
    /// # Errors
    /// If the record of a run cannot be read.
    pub fn read(
        plan: &TablePlan,
        directory: &Path,
        trained: &[Vec<Trained>],
    ) -> Result<Self, ReproduceError> {
        let mut panels = Vec::new();
        for (at, column) in plan.table.columns.iter().enumerate() {
            // Columns of one measure after different numbers of records are points of one line.
            if column.samples.is_some_and(|_| at + 1 < plan.table.columns.len()) {
                continue;
            }
            let mut curves = Vec::new();
            for (row, sources) in plan.table.rows.iter().zip(&plan.sources) {
                let Some(training) = sources[at].training() else { continue };
                let mut courses = Vec::new();
                for (seed, trained) in (1..).zip(&trained[training]) {
                    let place = run_path(plan, directory, Job { training, seed });
                    let course = match &plan.trainings[training].recipe {
                        Recipe { lesson: Some(_), .. } => lesson(&place, column, trained)?,
                        recipe => course(recipe, &place, row, column)?,
                    };
                    courses.push(course);
                }
                let points = together(&courses, plan.table.spread);
                curves.push(Curve { label: row.label.clone(), points, paper: row.figure(at).cloned() });
            }
            let name = if column.samples.is_some() { "score".to_owned() } else { column.name.clone() };
            panels.push(Panel { name, curves });
        }
        let mut budgets: Vec<String> =
            plan.trainings.iter().map(|training| training.budget.clone()).collect();
        budgets.dedup();
        Ok(LearningCurves {
            name: plan.table.name.clone(),
            title: format!("{} ({})", plan.table.title, plan.table.place),
            unit: plan.trainings.first().map_or("actions", unit),
            budget: budgets.join(", "),
            share: plan.options.share,
            trainings: plan.seeds(),
            panels,
        })
    }
}

fn unit(training: &Training) -> &'static str {
    match training.recipe.budget {
        Budget::Episodes(_) => "games",
        _ if training.recipe.lesson.is_some() => "records",
        _ => "actions",
    }
}

/// The evaluations of a run with the search of a column, or the games of its training.
fn course(recipe: &Recipe, place: &Path, row: &Row, column: &Column) -> Result<Vec<Point>, ReproduceError> {
    let place = Directory::new(place);
    let by_games = matches!(recipe.budget, Budget::Episodes(_));
    let x = |actions: u64, episodes: u64| if by_games { episodes as f64 } else { actions as f64 };
    if column.measure == Measure::HighestInTraining {
        let mut highest = 0;
        let lines = Log::<LogLine>::read(&place.log())?;
        let points = lines.iter().map(|line| {
            highest = highest.max(line.max_score.unwrap_or(0));
            Point { x: x(line.actions, line.episodes), mean: highest as f64, half: 0.0 }
        });
        return Ok(thinned(points.collect()));
    }
    let player: afterstate_search::PlayerSpec = row.search(column).parse()?;
    let search = player.to_string();
    let lines = Log::<EvalLine>::read(&place.evaluations())?;
    let of_search = lines.iter().filter(|line| line.report.search == search);
    let point = |line: &EvalLine| {
        let score = &line.report.score;
        let (mean, half) = match (column.measure, column.tile) {
            (Measure::Highest, _) => (score.max as f64, 0.0),
            (_, Some(tile)) => (100.0 * line.report.tiles.get(&tile).copied().unwrap_or(0.0), 0.0),
            _ => (score.mean, score.ci95.unwrap_or(0.0)),
        };
        Point { x: x(line.actions, line.episodes), mean, half }
    };
    Ok(of_search.map(point).collect())
}

/// Error and accuracy of a lesson, line by line from its log, or its test plays.
fn lesson(place: &Path, column: &Column, trained: &Trained) -> Result<Vec<Point>, ReproduceError> {
    if matches!(column.measure, Measure::Error | Measure::Accuracy) {
        let lines = Log::<LogLine>::read(&Directory::new(place).log())?;
        let point = |line: &LogLine| {
            let mean = match column.measure {
                Measure::Accuracy => line.fit?.accuracy?,
                _ => line.fit?.error,
            };
            Some(Point { x: line.actions as f64, mean, half: 0.0 })
        };
        return Ok(thinned(lines.iter().filter_map(point).collect()));
    }
    let mut points: Vec<Point> = Vec::new();
    for (entrant, games) in &trained.games {
        if let (Entrant::Voting(records), Some(summary)) = (entrant, Summary::of(4, games)) {
            let (mean, half) = (summary.score.mean, summary.score.ci95.unwrap_or(0.0));
            points.push(Point { x: *records as f64, mean, half });
        }
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Ok(points)
}

/// Averages neighbours if there are too many points.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let average = |chunk: &[Point]| {
        let mean = chunk.iter().map(|point| point.mean).sum::<f64>() / chunk.len() as f64;
        Point { mean, ..chunk[chunk.len() - 1] }
    };
    points.chunks(points.len().div_ceil(MOST_POINTS).max(1)).map(average).collect()
}

/// A single course as it is; for several, the mean at each common point, and their spread.
fn together(courses: &[Vec<Point>], spread: Spread) -> Vec<Point> {
    if let [only] = courses {
        return only.clone();
    }
    let count = courses.iter().map(Vec::len).min().unwrap_or(0);
    let point = |at: usize| {
        let sample = Sample::of_trainings(courses.iter().map(|course| course[at].mean).collect());
        let (sd, ci95) = sample.spread();
        let half = if spread == Spread::TrainingsSd { sd } else { ci95 };
        let x = courses.iter().map(|course| course[at].x).sum::<f64>() / courses.len() as f64;
        Point { x, mean: sample.mean(), half: half.unwrap_or(0.0) }
    };
    (0..count).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(values: &[f64]) -> Vec<Point> {
        (1..).zip(values).map(|(x, &mean)| Point { x: f64::from(x), mean, half: 7.0 }).collect()
    }

    #[test]
    fn several_trainings_are_a_mean_with_a_band() {
        let one = course(&[10.0, 20.0]);
        assert_eq!(together(std::slice::from_ref(&one), Spread::TrainingsSd), one, "one is as it is");
        let two = together(&[one, course(&[14.0, 26.0, 30.0])], Spread::TrainingsSd);
        assert_eq!(two.len(), 2, "as far as all have come");
        assert_eq!((two[0].x, two[0].mean, two[1].mean), (1.0, 12.0, 23.0));
        assert!((two[0].half - 8f64.sqrt()).abs() < 1e-12, "the standard deviation of 10 and 14");
    }

    #[test]
    fn many_points_are_averaged() {
        let many = thinned(course(&(0..1000).map(f64::from).collect::<Vec<_>>()));
        assert!(many.len() <= MOST_POINTS);
        assert_eq!((many[0].x, many[0].mean), (4.0, 1.5));
    }
}
