//! Estimates how long a table would take here, from a short measurement of the training speed.

use std::{collections::HashMap, time::Instant};

use afterstate_dcnn::{self as convolutional, CrossEntropy, Dcnn, DcnnSpec, Sample};
use afterstate_game::{Game, Move, Rules};
use afterstate_learning::Budget;
use afterstate_threads::for_each;

use super::{ReproduceError, TablePlan, work::lanes_of};
use afterstate_lab::{
    recipe::{Recipe, Taught},
    run::{self, LONGEST, RunError, Spans},
};

/// The number of records that each thread learns from at a time during the measurement.
const BATCH: usize = 125;

/// The approximate points of a move, by terauchi-2025, Table 1: 210,000 points in 7,600 moves.
const POINTS_PER_MOVE: f64 = 27.0;

/// A large number in short form, such as 6e8.
pub(super) fn short(number: u64) -> String {
    let zeros = (0..).take_while(|&zeros| number.is_multiple_of(10u64.pow(zeros + 1))).count() as u32;
    match (number / 10u64.pow(zeros), zeros) {
        (digits, 6..) if digits < 100 => format!("{digits}e{zeros}"),
        _ => number.to_string(),
    }
}

/// A budget in words.
pub(super) fn in_words(budget: Budget) -> String {
    match budget {
        Budget::Actions(actions) => format!("{} actions", short(actions)),
        Budget::Episodes(episodes) => format!("{} games", short(episodes)),
        Budget::Seconds(seconds) => format!("{seconds} s"),
    }
}

/// Training speeds on this machine, each measured once.
#[derive(Debug, Default)]
pub struct Rates {
    measured: HashMap<(u64, u64, usize), Option<f64>>,
    /// Weights times records per second, for policies.
    taught: Option<Option<f64>>,
    threads: usize,
}

impl Rates {
    /// Nothing measured yet.
    pub fn new(threads: usize) -> Self {
        Rates { threads, ..Rates::default() }
    }

    /// The seconds that the trainings of a plan would take here, without their evaluations; `None` if the measurement
    /// was too short for any result.
    ///
    /// # Errors
    /// If a training cannot be started.
    pub fn seconds(&mut self, plan: &TablePlan) -> Result<Option<f64>, ReproduceError> {
        let mut sum = 0.0;
        for (i, training) in plan.trainings.iter().enumerate() {
            let recipe = &training.recipe;
            let seconds = match recipe.budget {
                Budget::Seconds(seconds) => Some(seconds),
                Budget::Actions(actions) => self.rate(recipe)?.map(|rate| actions as f64 / rate),
                Budget::Episodes(episodes) => {
                    self.rate(recipe)?.map(|rate| episodes as f64 * moves(plan, i) / rate)
                }
            };
            let Some(seconds) = seconds else { return Ok(None) };
            sum += seconds;
        }
        Ok(Some(sum * plan.seeds() as f64))
    }

    /// Moves per second over all threads, with as many trainings side by side as in the actual work. Networks of the
    /// same size, with the same state for each weight, are assumed to be equally fast.
    fn rate(&mut self, recipe: &Recipe) -> Result<Option<f64>, ReproduceError> {
        if let Some(lesson) = &recipe.lesson {
            return self.lesson_rate(&lesson.network);
        }
        let plan = run::MemoryPlan::of(recipe)?;
        let features = recipe.network.spec(recipe.game.side)?.active_features();
        let key = (plan.weights, plan.bytes, features);
        if let Some(&rate) = self.measured.get(&key) {
            return Ok(rate);
        }
        let lanes = lanes_of(self.threads, recipe);
        let rate = measure(recipe, lanes, (self.threads / lanes).max(1))?;
        self.measured.insert(key, rate);
        Ok(rate)
    }

    /// Records per second over all threads. The time for a record is proportional to the number of weights, so one
    /// network is measured for all.
    fn lesson_rate(&mut self, network: &Taught) -> Result<Option<f64>, ReproduceError> {
        let Taught::Convolutional(spec) = network else { return Ok(None) };
        if !network.is_policy() {
            return Ok(None);
        }
        let weights = spec.weights() as f64;
        let product = match self.taught {
            Some(product) => product,
            None => measure_lesson(*spec, self.threads)?.map(|rate| rate * weights),
        };
        self.taught = Some(product);
        Ok(product.map(|product| product / weights))
    }
}

/// Trains briefly on records; their content does not matter.
fn measure_lesson(spec: DcnnSpec, threads: usize) -> Result<Option<f64>, ReproduceError> {
    let mut trainer =
        convolutional::Trainer::<CrossEntropy>::new(Dcnn::new(spec, 1), threads).map_err(RunError::from)?;
    let board = Game::<4>::new(Rules::default(), 1, 1).state().board();
    let batch = vec![Sample { board, target: Move::Down }; BATCH * threads.max(1)];
    let (start, mut spans, mut done) = (Instant::now(), Spans::default(), 0);
    loop {
        trainer.step(&batch, 0.001);
        done += batch.len() as u64;
        let seconds = start.elapsed().as_secs_f64();
        if !spans.goes_on(done, seconds) || seconds > LONGEST {
            return Ok(spans.rate());
        }
    }
}

/// Trains several networks side by side briefly; `None` if no move was made.
fn measure(recipe: &Recipe, lanes: usize, threads: usize) -> Result<Option<f64>, ReproduceError> {
    let mut recipe = recipe.clone();
    recipe.parallel.threads = threads;
    let rates = for_each(0..lanes, |_| run::moves_per_second(&recipe));
    let rates = rates.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(rates.into_iter().flatten().reduce(|sum, rate| sum + rate))
}

/// The approximate moves of a game, from the paper's score of the first row that needs the training.
pub(super) fn moves(plan: &TablePlan, training: usize) -> f64 {
    let row = plan
        .sources
        .iter()
        .position(|sources| sources.iter().any(|source| source.training() == Some(training)));
    let score = row.and_then(|row| plan.table.rows[row].figure(0)).map_or(300_000.0, |figure| figure.value);
    (score / POINTS_PER_MOVE).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_where_papers_have_them_so() {
        let numbers = [1_200_000_000, 600_000_000, 10_000_000, 123_000_000, 200];
        assert_eq!(numbers.map(short), ["12e8", "6e8", "1e7", "123000000", "200"]);
    }
}
