//! Evaluation: numbered games, on any number of threads, with the same result for all of them.
//!
//! A game depends on the player, the seed and its number alone (players that search by time apart: how far they get
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

/// The seed of evaluations unless given. It differs from that of training, and
/// evaluations of different models play the same games.
pub const SEED: u64 = 2048;

/// Which games to play.
#[derive(Clone, Copy)]
pub struct Games<'a> {
    /// The rules.
    pub rules: Rules,
    /// The seed of all games.
    pub seed: u64,
    /// Deals out their numbers.
    pub dealer: &'a dyn Dealer,
}

/// Lets a network play greedily, and gives the results by number. `watch` sees the games as they end, short
/// ones first; when it returns `false`, play stops and there is no result.
pub fn evaluate(
    network: &Network,
    games: Games<'_>,
    threads: usize,
    mut watch: impl FnMut(&PlayOutcome) -> bool,
) -> Option<Vec<GameResult>> {
    greedy::evaluate(network, None, None, games, threads, &mut watch)
}

/// Lets players play that are no network with a search, such as DCNNs: each thread has one of its own, and plays as many games in
/// step as [it likes](Player::games_in_step). `watch` is as for [`Contest`].
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
    /// Tables that the search asks at its leaves.
    pub endgames: Option<&'a Endgames>,
    /// Which games to play.
    pub games: Games<'a>,
    /// The number of threads.
    pub threads: usize,
    /// Steps whose first positions are to be collected.
    pub collect: Option<Steps>,
}

/// What came out of a contest.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PlayOutcome {
    /// The games by number.
    pub results: Vec<GameResult>,
    /// How long the moves took; nothing is known for greedy play, where games take turns.
    pub times: Times,
    /// The first positions of the steps.
    pub positions: Vec<Position>,
    /// How the games went; nothing is known for greedy play.
    #[serde(default)]
    pub courses: Vec<Course>,
}

/// How a game went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Course {
    /// The number of the game.
    pub game: u64,
    /// The last board.
    pub board: String,
    /// The number of moves after which each largest tile was first there.
    pub firsts: BTreeMap<u64, u64>,
}

impl PlayOutcome {
    /// Adds what came out of other games.
    pub fn add(&mut self, other: &PlayOutcome) {
        self.results.extend_from_slice(&other.results);
        self.times.merge(&other.times);
        self.positions.extend_from_slice(&other.positions);
        self.courses.extend_from_slice(&other.courses);
    }

    /// Puts the games into the order of their numbers.
    pub fn sort(&mut self) {
        self.results.sort_unstable_by_key(|result| result.game);
        self.positions.sort_by_key(|position| (position.game, position.step));
    }
}

impl Contest<'_> {
    /// Plays. `watch` sees what came of the games as they end; when it returns `false`, play stops and there is no result.
    pub fn play(&self, mut watch: impl FnMut(&PlayOutcome) -> bool) -> Option<PlayOutcome> {
        let watch = &mut watch;
        let Contest { network, player, endgames, games, threads, .. } = *self;
        if player.is_one_ply() && self.collect.is_none() {
            let results = greedy::evaluate(network, player.downgrade, endgames, games, threads, watch)?;
            return Some(PlayOutcome { results, ..PlayOutcome::default() });
        }
        self.play_with_courses(watch)
    }

    /// As [`play`](Self::play), with the course of every game, which takes longer where play is greedy.
    pub fn play_with_courses(&self, mut watch: impl FnMut(&PlayOutcome) -> bool) -> Option<PlayOutcome> {
        let watch = &mut watch;
        match self.network.spec().side {
            4 => players::evaluate::<4>(self, watch),
            3 => players::evaluate::<3>(self, watch),
            _ => players::evaluate::<2>(self, watch),
        }
    }
}
