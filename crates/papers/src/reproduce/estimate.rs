//! How long a table would take here, from a short measured rate of training.

use std::{collections::HashMap, time::Instant};

use afterstate_dcnn::{self as convolutional, CrossEntropy, Dcnn, DcnnSpec, Sample};
use afterstate_game::{Game, Move, Rules};
use afterstate_learning::{Budget, Trainer};
use afterstate_network::Network;

use super::{Plan, ReproduceError, training::Method, work::lanes_of};
use afterstate_lab::{
    dcnn::{self, DcnnError},
    recipe::Recipe,
    run,
};

/// The rate is taken over spans of this many seconds …
const SPAN: f64 = 0.4;
/// … until it rises by less than this from one to the next: at first the system has to find memory.
const SETTLED: f64 = 1.1;
/// After this many seconds it is taken as it is.
const LONGEST: f64 = 6.0;

/// The records that each thread learns from at a time while that is measured.
const BATCH: usize = 125;

/// The points of a move, by terauchi-2025, Table 1, about: 210,000 points in 7,600 moves.
const POINTS_PER_MOVE: f64 = 27.0;

/// A large number as papers write it, such as 6e8.
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

/// Rates of training on this machine, each measured once.
#[derive(Debug, Default)]
pub struct Rates {
    measured: HashMap<(u64, u64, usize), Option<f64>>,
    /// Weights of policies times records in each second.
    taught: Option<Option<f64>>,
    threads: usize,
}

impl Rates {
    /// Nothing measured yet.
    pub fn new(threads: usize) -> Self {
        Rates { threads, ..Rates::default() }
    }

    /// The seconds that the trainings of a plan would take here, without their evaluations; none when nothing could be
    /// done in the time there was.
    ///
    /// # Errors
    /// When a training cannot be tried.
    pub fn seconds(&mut self, plan: &Plan) -> Result<Option<f64>, ReproduceError> {
        let mut sum = 0.0;
        for (i, training) in plan.trainings.iter().enumerate() {
            let seconds = match &training.method {
                Method::Recipe(recipe) => match recipe.budget {
                    Budget::Seconds(seconds) => Some(seconds),
                    Budget::Actions(actions) => self.rate(recipe)?.map(|rate| actions as f64 / rate),
                    Budget::Episodes(episodes) => {
                        self.rate(recipe)?.map(|rate| episodes as f64 * moves(plan, i) / rate)
                    }
                },
                Method::Lesson(lesson) => self.lesson_rate(lesson)?.map(|rate| lesson.samples as f64 / rate),
            };
            let Some(seconds) = seconds else { return Ok(None) };
            sum += seconds;
        }
        Ok(Some(sum * plan.seeds() as f64))
    }

    /// Moves in each second over all threads, by trainings side by side as in earnest. Networks of the same size, with
    /// as many numbers for each weight, are taken to be as fast.
    fn rate(&mut self, recipe: &Recipe) -> Result<Option<f64>, ReproduceError> {
        let plan = run::Plan::of(recipe)?;
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

    /// Records in each second over all threads. A record takes time as there are weights, so that one network is
    /// measured for all.
    fn lesson_rate(&mut self, lesson: &dcnn::Settings) -> Result<Option<f64>, ReproduceError> {
        let Some(spec) = lesson.spec()? else { return Ok(None) };
        let weights = spec.weights() as f64;
        let product = match self.taught {
            Some(product) => product,
            None => measure_lesson(spec, self.threads)?.map(|rate| rate * weights),
        };
        self.taught = Some(product);
        Ok(product.map(|product| product / weights))
    }
}

/// Teaches for a moment; which board makes no difference.
fn measure_lesson(spec: DcnnSpec, threads: usize) -> Result<Option<f64>, ReproduceError> {
    let mut trainer =
        convolutional::Trainer::<CrossEntropy>::new(Dcnn::new(spec, 1), threads).map_err(DcnnError::from)?;
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

/// Trains for a moment, as many networks side by side; none when not a move was made.
fn measure(recipe: &Recipe, lanes: usize, threads: usize) -> Result<Option<f64>, ReproduceError> {
    let mut recipe = Recipe { budget: Budget::Seconds(LONGEST), ..recipe.clone() };
    recipe.parallel.threads = threads;
    // Without a first value the memory is not written before it is used, and without first weights none are read.
    (recipe.network.initial_value, recipe.network.from) = (vec![0.0], String::new());
    recipe.start = afterstate_lab::recipe::Start::Fresh;
    let lane = || -> Result<Option<f64>, ReproduceError> {
        let network = Network::new(recipe.network.spec(recipe.game.side)?)?;
        let mut trainer = Trainer::new(&network, recipe.settings()).map_err(run::RunError::from)?;
        let mut spans = Spans::default();
        trainer.run(|now, _| spans.goes_on(now.actions, now.seconds));
        Ok(spans.rate())
    };
    let rates = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().filter_map(|lane| lane.join().ok()).collect::<Result<Vec<_>, _>>()
    })?;
    Ok(rates.into_iter().flatten().reduce(|sum, rate| sum + rate))
}

/// A rate from reports on how much has been done and when, the last one being what counts.
#[derive(Debug, Default)]
struct Spans {
    /// What had been done when the span began, and when that was.
    since: (u64, f64),
    /// What has been done at the last report that brought anything, and when that was.
    last: (u64, f64),
    /// The rate of the last whole span.
    rate: Option<f64>,
}

impl Spans {
    /// Takes a report; `false` when the rate has settled. What is done comes in pieces, and a span ends with one of
    /// them, however long it took.
    fn goes_on(&mut self, done: u64, seconds: f64) -> bool {
        if done == self.last.0 {
            return true;
        }
        self.last = (done, seconds);
        if seconds - self.since.1 < SPAN {
            return true;
        }
        let before = self.rate.unwrap_or(0.0);
        let rate = (done - self.since.0) as f64 / (seconds - self.since.1);
        (self.rate, self.since) = (Some(rate), self.last);
        rate > SETTLED * before
    }

    /// The rate of the last whole span, or of what was done without one; none when nothing was done.
    fn rate(&self) -> Option<f64> {
        let (done, seconds) = self.last;
        self.rate.or((done > 0).then(|| done as f64 / seconds.max(1e-3)))
    }
}

/// The moves of a game, about: from the paper's score of the first row that needs the training.
pub(super) fn moves(plan: &Plan, training: usize) -> f64 {
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

    /// The rate after these reports, as far as they are asked for.
    fn rate(reports: &[(u64, f64)]) -> Option<f64> {
        let mut spans = Spans::default();
        reports.iter().all(|&(done, seconds)| spans.goes_on(done, seconds));
        spans.rate()
    }

    #[test]
    fn numbers_are_short_where_papers_have_them_so() {
        let numbers = [1_200_000_000, 600_000_000, 10_000_000, 123_000_000, 200];
        assert_eq!(numbers.map(short), ["12e8", "6e8", "1e7", "123000000", "200"]);
    }

    #[test]
    fn a_rate_is_what_was_done_in_the_time_that_passed() {
        // Spans of 400, 410 and 600 a second: the last is not asked for.
        assert_eq!(rate(&[(100, 0.25), (200, 0.5), (405, 1.0), (705, 1.5)]), Some(410.0), "it has settled");
        assert_eq!(
            rate(&[(100, 0.5), (300, 1.0), (300, 1.2), (510, 1.5)]),
            Some(420.0),
            "it goes on while it rises"
        );
    }

    #[test]
    fn a_piece_that_takes_longer_than_a_span_counts() {
        assert_eq!(rate(&[(0, 0.1), (0, 0.5), (0, 1.9), (1000, 2.0)]), Some(500.0));
        assert_eq!(rate(&[(0, 0.1), (30, 0.2)]), Some(150.0), "nor need there be a whole span");
        assert_eq!(rate(&[(0, 0.1), (0, 7.0)]), None, "nothing was done");
    }
}
