//! How a recipe is run: threads, budget, evaluation, checkpoints, log.

use afterstate_learning::{Budget, Parallel, StepSizeSpec};
use afterstate_network::{Layout, Stages};
use afterstate_search::{Downgrade, Limit, PlayerSpec};
use serde::{Serialize, Serializer};

use super::{Learning, Network, document::Document, value::FromToml};

/// The most actions or episodes that a recipe may ask for: far more than any machine makes.
pub(super) const MOST: u64 = 1_000_000_000_000_000_000;

const COUNT: &str = "a whole number from 1 to 10^18";
const DOWNGRADED: &str = "the boards to downgrade, such as \"16384\" or \"16384..24576\"";
const SECONDS: &str = "a number of seconds above 0, at most 10^9";

fn is_count(count: &u64) -> bool {
    (1..=MOST).contains(count)
}

/// A time that [`Duration`](std::time::Duration) can hold, and nobody waits longer.
fn is_time(seconds: &f64) -> bool {
    *seconds > 0.0 && *seconds <= 1e9
}

/// How training is spread over threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Threads {
    /// The number of threads; 0 stands for all cores.
    pub threads: usize,
    /// How they share the weights.
    pub mode: Parallel,
}

impl Threads {
    /// The number of threads on this machine.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    pub(super) fn read(doc: &mut Document, network: &Network, learning: &Learning, side: usize) -> Self {
        let expected = "a number of threads up to 1024, 0 for all cores";
        let threads = doc.read("parallel.threads", 0, expected, |threads| *threads <= 1024);
        let modes = [("private-hot", Parallel::PrivateHot), ("lock-free", Parallel::LockFree)];
        let mut mode = doc.choice("parallel.mode", &modes);
        let reason = all_shared(network, learning, side).filter(|_| mode == Parallel::PrivateHot);
        match reason {
            Some(reason) if doc.is_given("parallel.mode") => doc.impossible("parallel.mode", reason),
            None if doc.is_given("parallel.mode") || is_plain(network) => {}
            // The paper's mode, unless given.
            _ => mode = Parallel::LockFree,
        }
        Threads { threads, mode }
    }
}

/// Whether the tables are plain ones with c = 16.
fn is_plain(network: &Network) -> bool {
    network.tile_values == 16 && network.ranges.is_empty()
}

/// Why the threads cannot keep weights of their own.
fn all_shared(network: &Network, learning: &Learning, side: usize) -> Option<&'static str> {
    let has_own = || network.spec(side).is_ok_and(|spec| Layout::new(&spec).private_len() > 0);
    let stages = network.stages.parse::<Stages>().map_or(1, |stages| stages.count());
    let sets = stages * network.values.sets();
    if network.promotion {
        Some(
            "with promotion all weights are shared: threads that promote a copy of their own would add it twice",
        )
    } else if sets > 2 {
        Some(
            "with more than two stages, or with tables for each action, threads would go through too many copies: each is \
             compared with the others' at short intervals, visited or not",
        )
    } else if !is_plain(network) && !has_own() {
        Some(
            "threads can have copies of small tiles in plain tables with tile_values = 16, found by exponents of three bits \
             a cell, and of tables for a value range of at most 2^20 weights; these tables are neither",
        )
    } else if matches!(learning.step_size, StepSizeSpec::Autostep { .. }) {
        Some("autostep has no rule for merging the step sizes of several threads")
    } else {
        None
    }
}

/// Reads the budget.
pub(super) fn read_budget(doc: &mut Document) -> Budget {
    let keys = ["budget.actions", "budget.episodes", "budget.seconds"];
    match doc.one_of(&keys) {
        Some("budget.seconds") => Budget::Seconds(doc.read(keys[2], 1.0, SECONDS, is_time)),
        Some("budget.episodes") => Budget::Episodes(doc.read(keys[1], 1, COUNT, is_count)),
        Some(_) => Budget::Actions(doc.read(keys[0], 1, COUNT, is_count)),
        None => {
            doc.missing("budget", &keys);
            Budget::Actions(1)
        }
    }
}

/// How often, and how well, the network is measured during training: jaskowski-2016, section V.A.2.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Evaluation {
    /// The number of actions between evaluations; 0 stands for never.
    pub every: u64,
    /// Who plays, such as `1ply` and `3ply`; empty for a network that is taught by records, which plays in its own way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<PlayerSpec>,
    /// The number of games of each.
    #[serde(serialize_with = "one_for_all_or_each")]
    pub games: Vec<u64>,
    /// The boards that are downgraded unless a search says otherwise, here and wherever the model plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downgrade: Option<Downgrade>,
}

impl Evaluation {
    /// Who plays, and how many games.
    pub fn contests(&self) -> impl Iterator<Item = (PlayerSpec, u64)> {
        self.searches.iter().copied().zip(self.games.iter().copied())
    }

    /// Reads the section, of a network that records teach or one that plays for itself.
    pub(super) fn read(doc: &mut Document, is_taught: bool) -> Self {
        let (every, usual) = if is_taught { (2_000_000, 100) } else { (100_000_000, 1000) };
        let expected = "a number of actions up to 10^18, 0 for never";
        let every = doc.read("evaluation.every", every, expected, |n| *n <= MOST);
        let expected = "a list of different searches, such as [\"1ply\", \"3ply\"]";
        let different = |searches: &Vec<PlayerSpec>| {
            let first = |(i, search): (usize, &PlayerSpec)| !searches[..i].contains(search);
            !searches.is_empty() && searches.iter().enumerate().all(first)
        };
        let greedy = PlayerSpec::new(Limit::Plies(1));
        let mut searches = doc.read("evaluation.searches", vec![greedy], expected, different);
        let downgrade = doc.read("evaluation.downgrade", None, DOWNGRADED, |_| true);
        searches.iter_mut().for_each(|search| *search = search.or_downgraded(downgrade));
        let key = "evaluation.games";
        let expected = "a whole number from 1 to 10^9, or a list of one for each of evaluation.searches";
        let count = searches.len();
        let OneOrEach(games) = doc.read(key, OneOrEach(vec![usual]), expected, |OneOrEach(games)| {
            (games.len() == 1 || games.len() == count)
                && games.iter().all(|games| (1..=1_000_000_000).contains(games))
        });
        let games = if games.len() == count { games } else { vec![games[0]; count] };
        let searches = if is_taught { Vec::new() } else { searches };
        Evaluation { every, searches, games, downgrade }
    }
}

/// A number, or a list of numbers.
struct OneOrEach(Vec<u64>);

impl FromToml for OneOrEach {
    fn from_toml(value: &toml::Value) -> Option<Self> {
        u64::from_toml(value).map(|number| vec![number]).or_else(|| Vec::from_toml(value)).map(OneOrEach)
    }
}

impl FromToml for PlayerSpec {
    fn from_toml(value: &toml::Value) -> Option<Self> {
        value.as_str()?.parse().ok()
    }
}

impl FromToml for Downgrade {
    fn from_toml(value: &toml::Value) -> Option<Self> {
        value.as_str()?.parse().ok()
    }
}

fn one_for_all_or_each<S: Serializer>(games: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    match games {
        [all] => all.serialize(serializer),
        each => each.serialize(serializer),
    }
}

/// How often a run is saved so that it can be resumed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Checkpoint {
    /// The number of seconds between checkpoints.
    pub every_seconds: f64,
    /// Whether a finished run keeps one, so that it can be given a larger budget.
    pub keep: bool,
    /// The search by whose evaluations the best network so far is kept, beside the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<PlayerSpec>,
}

impl Checkpoint {
    pub(super) fn read(doc: &mut Document, evaluation: &Evaluation, is_taught: bool) -> Self {
        let best: Option<PlayerSpec> =
            doc.read("checkpoint.best", None, "a search, such as \"3ply\"", |_| true);
        let best = best.map(|search| search.or_downgraded(evaluation.downgrade));
        if best.is_some_and(|best| evaluation.every == 0 || !evaluation.searches.contains(&best)) {
            let reason = "the best network is known by evaluations: name the search in evaluation.searches, with evaluation.every";
            doc.impossible("checkpoint.best", reason);
        }
        let usual = if is_taught { 60.0 } else { 600.0 };
        Checkpoint {
            every_seconds: doc.read("checkpoint.every_seconds", usual, SECONDS, is_time),
            keep: doc.read("checkpoint.keep", true, "true or false", |_| true),
            best,
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
    /// After this many actions.
    EveryActions(u64),
}

impl Log {
    pub(super) fn read(doc: &mut Document, is_taught: bool) -> Self {
        let keys = ["log.every_seconds", "log.every_episodes", "log.every_actions"];
        match doc.one_of(&keys) {
            Some("log.every_episodes") => Log::EveryEpisodes(doc.read(keys[1], 1, COUNT, is_count)),
            Some("log.every_actions") => Log::EveryActions(doc.read(keys[2], 1, COUNT, is_count)),
            None if is_taught => Log::EveryActions(50_000),
            _ => Log::EverySeconds(doc.read(keys[0], 10.0, SECONDS, is_time)),
        }
    }
}
