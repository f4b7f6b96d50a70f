//! Greedy evaluation, where a network's speed counts.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use afterstate_network::Network;
use afterstate_search::{Downgrade, play_greedily};

use super::{Games, players::on_threads};
use crate::stats::GameResult;

/// See [`super::evaluate`].
pub(super) fn evaluate(
    network: &Network,
    downgrade: Option<Downgrade>,
    games: Games,
    played: &HashSet<u64>,
    threads: usize,
    watch: &mut dyn FnMut(&[GameResult]) -> bool,
) -> Option<Vec<GameResult>> {
    let next = AtomicU64::new(0);
    let numbers = || std::iter::repeat_with(|| next.fetch_add(1, Relaxed)).take_while(|&n| n < games.count);
    let mut results = Vec::new();
    on_threads(
        threads,
        |send, stop| {
            let mut numbers = numbers().filter(|number| !played.contains(number));
            let mut report = |finished| send(finished) && !stop.load(Relaxed);
            play_greedily(network, &games.rules, downgrade, games.seed, &mut numbers, &mut report);
        },
        |finished: Option<Vec<GameResult>>| {
            let finished = finished.unwrap_or_default();
            results.extend_from_slice(&finished);
            watch(&finished)
        },
    );
    results.sort_unstable_by_key(|result| result.game);
    games.are_complete(played, results.len()).then_some(results)
}
