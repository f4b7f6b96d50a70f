//! Evaluation: numbered games, on any number of threads, with the same result for any number.
//!
//! A game depends only on the player, the seed and its number (except for players that search by time, whose depth
//! depends on the machine). The threads take the numbers from one [`Dealer`].

mod greedy;
mod kept;
mod merge;
mod milestones;
mod players;
mod survival;
mod times;

use std::collections::BTreeMap;

use afterstate_game::Rules;
use afterstate_network::Network;
use afterstate_search::{Endgames, Player, PlayerSpec};
use serde::{Deserialize, Serialize};

use crate::{deal::Dealer, stats::GameResult};

pub(crate) use players::in_parallel;

pub use kept::{Kept, KeptGames, KeptHeader, Share, header_checksum};
pub use merge::{MergeError, Merged, merge};
pub use milestones::{Mean, Milestone};
pub use survival::{Position, Steps, Survival, SurvivalError, Survivor, positions_at, write_positions};
pub use times::{TimeSummary, Times};

/// The default seed of evaluations. It differs from that of training, and
/// evaluations of different models play the same games.
pub const SEED: u64 = 2048;

/// Which games to play.
#[derive(Clone, Copy)]
pub struct Games<'a> {
    /// The rules.
    pub rules: Rules,
    /// The seed of all games.
    pub seed: u64,
    /// Deals out the numbers of the games.
    pub dealer: &'a dyn Dealer,
}

/// Lets a network play greedily, and returns the results by number. `watch` receives the games as they end, short
/// ones first; when it returns `false`, play stops and there is no result.
pub fn evaluate(
    network: &Network,
    games: Games<'_>,
    threads: usize,
    mut watch: impl FnMut(&PlayOutcome) -> bool,
) -> Option<Vec<GameResult>> {
    greedy::evaluate(network, None, None, games, threads, &mut watch)
}

/// Lets players other than networks with a search play, such as DCNNs: each thread has its own player, and plays as
/// many games in step as [it prefers](Player::games_in_step). `watch` is the same as for [`Contest`].
pub fn evaluate_players<const N: usize, P: Player<N>>(
    games: Games<'_>,
    threads: usize,
    player: impl Fn() -> P + Sync,
    watch: impl FnMut(&PlayOutcome) -> bool,
) -> Option<PlayOutcome> {
    players::play_in_step(games, threads, player, watch)
}

/// Games of a network with a search.
#[derive(Clone, Copy)]
pub struct Contest<'a> {
    /// The network.
    pub network: &'a Network,
    /// The search.
    pub player: PlayerSpec,
    /// Tables that the search probes at its leaves.
    pub endgames: Option<&'a Endgames>,
    /// Which games to play.
    pub games: Games<'a>,
    /// The number of threads.
    pub threads: usize,
    /// Steps whose first positions are collected.
    pub collect: Option<Steps>,
}

/// The outcome of a contest.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PlayOutcome {
    /// The games by number.
    pub results: Vec<GameResult>,
    /// The times of moves; unknown for greedy play, where games alternate.
    pub times: Times,
    /// The first positions of the steps.
    pub positions: Vec<Position>,
    /// The courses of the games; unknown for greedy play.
    #[serde(default)]
    pub courses: Vec<Course>,
}

/// The course of a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Course {
    /// The number of the game.
    pub game: u64,
    /// The last board.
    pub board: String,
    /// The number of moves after which each new largest tile first appeared.
    pub firsts: BTreeMap<u64, u64>,
}

impl PlayOutcome {
    /// Adds the outcome of other games.
    pub fn add(&mut self, other: &PlayOutcome) {
        self.results.extend_from_slice(&other.results);
        self.times.merge(&other.times);
        self.positions.extend_from_slice(&other.positions);
        self.courses.extend_from_slice(&other.courses);
    }

    /// Sorts the games by number.
    pub fn sort(&mut self) {
        self.results.sort_unstable_by_key(|result| result.game);
        self.positions.sort_by_key(|position| (position.game, position.step));
    }
}

impl Contest<'_> {
    /// Plays. `watch` receives the outcome of the games as they end; when it returns `false`, play stops and there is
    /// no result.
    pub fn play(&self, mut watch: impl FnMut(&PlayOutcome) -> bool) -> Option<PlayOutcome> {
        let watch = &mut watch;
        let Contest { network, player, endgames, games, threads, .. } = *self;
        if player.is_one_ply() && self.collect.is_none() {
            let results = greedy::evaluate(network, player.downgrade, endgames, games, threads, watch)?;
            return Some(PlayOutcome { results, ..PlayOutcome::default() });
        }
        self.play_with_courses(watch)
    }

    /// Like [`play`](Self::play), with the course of every game, which is slower for greedy play.
    pub fn play_with_courses(&self, mut watch: impl FnMut(&PlayOutcome) -> bool) -> Option<PlayOutcome> {
        let watch = &mut watch;
        match self.network.spec().side {
            4 => players::evaluate::<4>(self, watch),
            3 => players::evaluate::<3>(self, watch),
            _ => players::evaluate::<2>(self, watch),
        }
    }
}
