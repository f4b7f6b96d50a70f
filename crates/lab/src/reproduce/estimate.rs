//! How long a table would take here, from a short measured rate of training.

use std::{collections::HashMap, sync::atomic::AtomicU64, sync::atomic::Ordering::Relaxed};

use afterstate_learning::{Progress, Trainer};
use afterstate_network::Network;

use super::{Plan, ReproduceError, Training, work::lanes_of};
use crate::{
    recipe::{Budget, Recipe},
    run,
};

/// The rate is taken over spans of this many seconds …
const SPAN: f64 = 0.4;
/// … until it rises by less than this from one to the next: at first the system has to find memory.
const SETTLED: f64 = 1.1;
/// After this many seconds it is taken as it is.
const LONGEST: f64 = 6.0;

/// The points of a move, by terauchi-2025, Table 1, about: 210,000 points in 7,600 moves.
const POINTS_PER_MOVE: f64 = 27.0;

/// The budget of a shipped recipe in words.
pub fn describe_budget(recipe: &str) -> String {
    let number = |number: u64| {
        let zeros = (0..).take_while(|&zeros| number.is_multiple_of(10u64.pow(zeros + 1))).count() as u32;
        match (number / 10u64.pow(zeros), zeros) {
            (1, 6..) => format!("1e{zeros}"),
            (digits, 6..) if digits < 10 => format!("{digits}e{zeros}"),
            _ => number.to_string(),
        }
    };
    match Recipe::load(recipe, &[]).map(|recipe| recipe.budget) {
        Ok(Budget::Actions(actions)) => format!("{} actions", number(actions)),
        Ok(Budget::Episodes(episodes)) => format!("{} games", number(episodes)),
        Ok(Budget::Seconds(seconds)) => format!("{seconds} s"),
        Err(_) => String::new(),
    }
}

/// Rates of training on this machine, each measured once.
#[derive(Debug, Default)]
pub struct Rates {
    measured: HashMap<(u64, u64, usize), f64>,
    threads: usize,
}

impl Rates {
    /// Nothing measured yet.
    pub fn new(threads: usize) -> Self {
        Rates { measured: HashMap::new(), threads }
    }

    /// The seconds that the trainings of a plan would take here, without their evaluations.
    ///
    /// # Errors
    /// When a training cannot be tried.
    pub fn seconds(&mut self, plan: &Plan) -> Result<f64, ReproduceError> {
        let mut seconds = 0.0;
        for (i, training) in plan.trainings.iter().enumerate() {
            seconds += plan.seeds() as f64
                * match training.recipe.budget {
                    Budget::Seconds(seconds) => seconds,
                    Budget::Actions(actions) => actions as f64 / self.rate(training)?,
                    Budget::Episodes(episodes) => episodes as f64 * moves(plan, i) / self.rate(training)?,
                };
        }
        Ok(seconds)
    }

    /// Moves in each second over all threads, by trainings side by side as in earnest. Networks of the same size, with
    /// as many numbers for each weight, are taken to be as fast.
    fn rate(&mut self, training: &Training) -> Result<f64, ReproduceError> {
        let recipe = &training.recipe;
        let plan = run::Plan::of(recipe)?;
        let features = recipe.network.spec(recipe.game.side)?.active_features();
        let key = (plan.weights, plan.bytes, features);
        if let Some(&rate) = self.measured.get(&key) {
            return Ok(rate);
        }
        let lanes = lanes_of(self.threads)(recipe);
        let rate = measure(recipe, lanes, (self.threads / lanes).max(1))?;
        self.measured.insert(key, rate);
        Ok(rate)
    }
}

/// Trains for a moment, as many networks side by side.
fn measure(recipe: &Recipe, lanes: usize, threads: usize) -> Result<f64, ReproduceError> {
    let mut recipe = Recipe { budget: Budget::Seconds(LONGEST), ..recipe.clone() };
    recipe.parallel.threads = threads;
    // Without a first value the memory is not written before it is used, and without first weights none are read.
    (recipe.network.initial_value, recipe.network.from) = (vec![0.0], String::new());
    recipe.start = crate::recipe::Start::Fresh;
    let rates = AtomicU64::new(0);
    let lane = || -> Result<(), ReproduceError> {
        let network = Network::new(recipe.network.spec(recipe.game.side)?)?;
        let mut trainer = Trainer::new(&network, recipe.settings()).map_err(run::RunError::from)?;
        let (mut rate, mut since) = (0.0, Progress::default());
        trainer.run(|now, _| {
            let seconds = now.seconds - since.seconds;
            if seconds < SPAN {
                return true;
            }
            let before = rate;
            rate = (now.actions - since.actions) as f64 / seconds;
            since = now;
            rate > SETTLED * before
        });
        rates.fetch_add(rate as u64, Relaxed);
        Ok(())
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().filter_map(|lane| lane.join().ok()).collect::<Result<(), _>>()
    })?;
    Ok((rates.into_inner() as f64).max(1.0))
}

/// The moves of a game, about: from the paper's score of the first row that needs the training.
fn moves(plan: &Plan, training: usize) -> f64 {
    let row = plan
        .sources
        .iter()
        .position(|sources| sources.iter().any(|source| source.training() == Some(training)));
    let score = row.and_then(|row| plan.table.rows[row].figure(0)).map_or(300_000.0, |figure| figure.value);
    (score / POINTS_PER_MOVE).max(1.0)
}
