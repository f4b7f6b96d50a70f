//! Estimates of the time and space that the steps of a chain will take.

use std::{collections::HashMap, time::Instant};

use afterstate_game::Game;
use afterstate_learning::Budget;
use afterstate_network::Network;
use serde::Serialize;

use super::{Chain, Step, Work};
use crate::{
    recipe::{Collect, Recipe},
    run::{Directory, MemoryPlan, RunError, moves_per_second},
};

/// The moves of an episode if the budget counts episodes: about those of a game of 270,000 points.
const EPISODE: f64 = 10_000.0;

/// The mean growth of the sum of tiles per move: a 2, and every tenth time a 4.
const GROWTH: f64 = 2.2;

/// Trainings and games with fewer moves take seconds, and are not timed.
const SHORT: f64 = 1e7;

/// The approximate seconds per move of a short training.
const SHORT_SECONDS: f64 = 1e-6;

/// The seconds for which a search is timed.
const TRIAL: f64 = 0.5;

/// The cost of a step.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Cost {
    /// Remaining seconds; 0 for a finished step, `None` if unknown.
    pub seconds: Option<f64>,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes that stay on disk.
    pub disk: u64,
    /// Bytes on disk that are freed when it is done.
    pub passing_disk: u64,
}

/// The cost of all steps.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Costs {
    /// The cost of each step.
    pub steps: Vec<Cost>,
}

impl Costs {
    /// The seconds of all steps.
    pub fn seconds(&self) -> Option<f64> {
        self.steps.iter().map(|cost| cost.seconds).sum()
    }

    /// The memory of the most demanding step.
    pub fn memory(&self) -> u64 {
        self.steps.iter().map(|cost| cost.memory).max().unwrap_or_default()
    }

    /// The peak disk usage.
    pub fn disk(&self) -> u64 {
        let before = |i: usize| self.steps[..=i].iter().map(|cost| cost.disk).sum::<u64>();
        (0..self.steps.len()).map(|i| before(i) + self.steps[i].passing_disk).max().unwrap_or_default()
    }
}

impl Chain {
    /// The cost of each step on this machine. Runs trainings and searches briefly to time them, each kind once; without
    /// `time`, it times nothing, and only budgets in seconds have known times.
    ///
    /// # Errors
    /// If a recipe cannot be trained.
    pub fn costs(&self, time: bool) -> Result<Costs, RunError> {
        let mut rates = Rates { time, measured: HashMap::new() };
        let steps = self.steps.iter().map(|step| rates.cost(step)).collect::<Result<_, _>>()?;
        Ok(Costs { steps })
    }
}

/// Moves per second, by what makes them.
struct Rates {
    time: bool,
    measured: HashMap<String, Option<f64>>,
}

impl Rates {
    fn cost(&mut self, step: &Step) -> Result<Cost, RunError> {
        let recipe = step.recipe();
        let plan = MemoryPlan::of(recipe)?;
        match &step.work {
            Work::Train(_) => {
                let keeps = if recipe.checkpoint.keep { 2 * plan.checkpoint_bytes } else { 0 };
                let disk = plan.model_bytes + keeps;
                if step.is_done {
                    return Ok(Cost { seconds: Some(0.0), disk, ..Cost::default() });
                }
                // Two checkpoints, plus a third one or the model while it is being written.
                let passing_disk = plan.disk_bytes().saturating_sub(keeps);
                Ok(Cost { seconds: self.training(step, recipe)?, memory: plan.bytes, disk, passing_disk })
            }
            Work::Collect(..) if step.is_done => Ok(Cost { seconds: Some(0.0), ..Cost::default() }),
            Work::Collect(collect, _) => {
                let seconds = self.collecting(collect, recipe)?;
                Ok(Cost { seconds, memory: plan.model_bytes, ..Cost::default() })
            }
        }
    }

    /// The remaining seconds of a training.
    fn training(&mut self, step: &Step, recipe: &Recipe) -> Result<Option<f64>, RunError> {
        if recipe.lesson.is_some() {
            return Ok(None);
        }
        let share =
            Directory::new(&step.target).progress().map_or(0.0, |progress| recipe.budget.share(progress));
        let moves = match recipe.budget {
            Budget::Seconds(seconds) => return Ok(Some(seconds * (1.0 - share))),
            Budget::Actions(actions) => actions as f64,
            Budget::Episodes(episodes) => episodes as f64 * EPISODE,
        };
        if moves < SHORT {
            return Ok(Some(moves * SHORT_SECONDS * (1.0 - share)));
        }
        // A new game is in the first stage, whatever stages there are.
        let mut first = recipe.clone();
        (first.network.stages, first.network.promotion) = ("1".to_owned(), false);
        (first.network.halved, first.collect) = (Vec::new(), None);
        let (settings, tuples) = (first.settings(), &first.network.tuples);
        let key = format!("{tuples:?} {:?} {} threads", settings.target, settings.threads);
        let rate = self.rate(key, || moves_per_second(&first))?;
        Ok(rate.map(|rate| moves * (1.0 - share) / rate))
    }

    /// The seconds of games that get as far as the goal.
    fn collecting(&mut self, collect: &Collect, recipe: &Recipe) -> Result<Option<f64>, RunError> {
        let moves = collect.games as f64 * f64::from(collect.goal) / GROWTH;
        if moves < SHORT {
            return Ok(Some(moves * SHORT_SECONDS));
        }
        let key = format!("{:?} {}", recipe.network.tuples, collect.search);
        let rate = self.rate(key, || search_rate(collect, recipe))?;
        Ok(rate.map(|rate| moves / rate / recipe.parallel.thread_count() as f64))
    }

    fn rate(
        &mut self,
        key: String,
        measure: impl FnOnce() -> Result<Option<f64>, RunError>,
    ) -> Result<Option<f64>, RunError> {
        if !self.time {
            return Ok(None);
        }
        if let Some(&rate) = self.measured.get(&key) {
            return Ok(rate);
        }
        let rate = measure()?;
        self.measured.insert(key, rate);
        Ok(rate)
    }
}

/// Times a search briefly with an empty network.
fn search_rate(collect: &Collect, recipe: &Recipe) -> Result<Option<f64>, RunError> {
    let mut spec = recipe.network.spec(recipe.game.side)?;
    (spec.stages, spec.initial) = (Default::default(), vec![0.0]);
    let network = Network::new(spec)?;
    match recipe.game.side {
        4 => Ok(play::<4>(&network, collect, recipe)),
        3 => Ok(play::<3>(&network, collect, recipe)),
        _ => Ok(play::<2>(&network, collect, recipe)),
    }
}

fn play<const N: usize>(network: &Network, collect: &Collect, recipe: &Recipe) -> Option<f64> {
    let rules = recipe.game.rules();
    let mut player = collect.search.player::<N>(network.view(), rules, 1);
    let (start, mut moves, mut number) = (Instant::now(), 0, 0);
    let mut game = Game::new(rules, collect.seed, number);
    while start.elapsed().as_secs_f64() < TRIAL {
        match player.advise(game.state()).best() {
            Some(best) => {
                game.play(best);
                moves += 1;
            }
            None => {
                number += 1;
                game = Game::new(rules, collect.seed, number);
            }
        }
    }
    (moves > 0).then(|| f64::from(moves) / start.elapsed().as_secs_f64())
}
