//! Greedy evaluation, where a network's speed counts.

use std::{
    collections::HashSet,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::channel,
    },
};

use afterstate_network::Network;
use afterstate_search::{Downgrade, play_greedily};

use super::Games;
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
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let numbers = || std::iter::repeat_with(|| next.fetch_add(1, Relaxed)).take_while(|&n| n < games.count);
    let mut results = Vec::new();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.max(1) {
            let (sender, stop, numbers) = (sender.clone(), &stop, &numbers);
            scope.spawn(move || {
                let mut numbers = numbers().filter(|number| !played.contains(number));
                let mut report = |finished| sender.send(finished).is_ok() && !stop.load(Relaxed);
                play_greedily(network, &games.rules, downgrade, games.seed, &mut numbers, &mut report);
            });
        }
        drop(sender);
        for finished in receiver {
            results.extend_from_slice(&finished);
            if !watch(&finished) {
                stop.store(true, Relaxed);
            }
        }
    });
    results.sort_unstable_by_key(|result| result.game);
    games.are_complete(played, results.len()).then_some(results)
}
