//! How a recipe is run: threads, budget, evaluation, checkpoints, log.

use afterstate_network::Stages;
use serde::Serialize;

use super::{Learning, Network, StepSize, document::Document};

const AT_LEAST_ONE: &str = "a whole number above 0";
const SECONDS: &str = "a number of seconds above 0";

/// How training is spread over threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Parallel {
    /// The number of threads; 0 stands for all cores.
    pub threads: usize,
    /// What the threads share.
    pub mode: ParallelMode,
}

impl Parallel {
    /// The number of threads on this machine.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    pub(super) fn read(doc: &mut Document, network: &Network, learning: &Learning) -> Self {
        let expected = "a number of threads, 0 for all cores";
        let threads = doc.read("parallel.threads", 0, expected, |threads| *threads <= 1024);
        let modes = [("private-hot", ParallelMode::PrivateHot), ("lock-free", ParallelMode::LockFree)];
        let mut mode = doc.choice("parallel.mode", &modes);
        if let Some(reason) = all_shared(network, learning).filter(|_| mode == ParallelMode::PrivateHot) {
            if doc.is_given("parallel.mode") {
                doc.impossible("parallel.mode", reason);
            }
            mode = ParallelMode::LockFree;
        }
        Parallel { threads, mode }
    }
}

/// Why the threads cannot keep weights of their own.
fn all_shared(network: &Network, learning: &Learning) -> Option<&'static str> {
    let stages = network.stages.parse::<Stages>().map_or(1, |stages| stages.count());
    let sets = stages * network.values.sets();
    if network.promotion {
        Some(
            "with promotion all weights are shared: threads that promote a copy of their own would add it twice",
        )
    } else if sets > 2 {
        Some(
            "threads would have too many copies to merge with more than two stages, or with tables for each action",
        )
    } else if network.tile_values != 16 || !network.ranges.is_empty() {
        Some("threads can have copies of plain tables with tile_values = 16 only")
    } else if matches!(learning.step_size, StepSize::Autostep { .. }) {
        Some("autostep has no rule for merging the step sizes of several threads")
    } else {
        None
    }
}

/// What the threads of a trainer share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParallelMode {
    /// Every weight, without locks: jaskowski-2016, section V.A.3.
    LockFree,
    /// The rarer weights; the hottest ones are private to a thread and merged at intervals.
    PrivateHot,
}

/// When training ends.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// After this many moves.
    Actions(u64),
    /// After this many episodes, wherever they begin.
    Episodes(u64),
    /// After this many seconds of training.
    Seconds(f64),
}

impl Budget {
    /// The share of the budget, from 0 to 1, that this much training uses.
    pub fn share(&self, actions: u64, episodes: u64, seconds: f64) -> f64 {
        let share = match *self {
            Budget::Actions(budget) => actions as f64 / budget as f64,
            Budget::Episodes(budget) => episodes as f64 / budget as f64,
            Budget::Seconds(budget) => seconds / budget,
        };
        share.min(1.0)
    }

    pub(super) fn read(doc: &mut Document) -> Self {
        let keys = ["budget.actions", "budget.episodes", "budget.seconds"];
        match doc.one_of(&keys) {
            Some("budget.seconds") => Budget::Seconds(doc.read(keys[2], 1.0, SECONDS, |s| *s > 0.0)),
            Some("budget.episodes") => Budget::Episodes(doc.read(keys[1], 1, AT_LEAST_ONE, |n| *n > 0)),
            Some(_) => Budget::Actions(doc.read(keys[0], 1, AT_LEAST_ONE, |n| *n > 0)),
            None => {
                doc.missing("budget", &keys);
                Budget::Actions(1)
            }
        }
    }
}

/// How often, and how well, the greedy player is measured during training.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Evaluation {
    /// The number of actions between evaluations; 0 stands for never.
    pub every: u64,
    /// The number of games of an evaluation.
    pub games: u64,
}

impl Evaluation {
    pub(super) fn read(doc: &mut Document) -> Self {
        let every = "a number of actions, 0 for never";
        Evaluation {
            every: doc.read("evaluation.every", 100_000_000, every, |_| true),
            games: doc.read("evaluation.games", 1000, AT_LEAST_ONE, |games| *games > 0),
        }
    }
}

/// How often a run is saved so that it can be resumed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Checkpoint {
    /// The number of seconds between checkpoints.
    pub every_seconds: f64,
    /// Whether a finished run keeps one, so that it can be given a larger budget.
    pub keep: bool,
}

impl Checkpoint {
    pub(super) fn read(doc: &mut Document) -> Self {
        Checkpoint {
            every_seconds: doc.read("checkpoint.every_seconds", 600.0, SECONDS, |s| *s > 0.0),
            keep: doc.read("checkpoint.keep", true, "true or false", |_| true),
        }
    }
}

/// How often a line is added to the log.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Log {
    /// After this many seconds.
    EverySeconds(f64),
    /// After this many episodes.
    EveryEpisodes(u64),
}

impl Log {
    pub(super) fn read(doc: &mut Document) -> Self {
        let keys = ["log.every_seconds", "log.every_episodes"];
        match doc.one_of(&keys) {
            Some("log.every_episodes") => Log::EveryEpisodes(doc.read(keys[1], 1, AT_LEAST_ONE, |n| *n > 0)),
            _ => Log::EverySeconds(doc.read(keys[0], 10.0, SECONDS, |s| *s > 0.0)),
        }
    }
}
