//! Greedy evaluation, where a network's speed counts.

use std::sync::{
    atomic::{AtomicBool, Ordering::Relaxed},
    mpsc::channel,
};

use afterstate_network::Network;
use afterstate_search::{Downgrade, play_greedily};

use super::{Games, Outcome};
use crate::stats::GameResult;

/// See [`super::evaluate`].
pub(super) fn evaluate(
    network: &Network,
    downgrade: Option<Downgrade>,
    games: Games<'_>,
    threads: usize,
    watch: &mut dyn FnMut(&Outcome) -> bool,
) -> Option<Vec<GameResult>> {
    let stop = AtomicBool::new(false);
    let mut results = Vec::new();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.max(1) {
            let (sender, stop) = (sender.clone(), &stop);
            scope.spawn(move || {
                let mut numbers = std::iter::from_fn(|| games.dealer.next());
                let mut report = |finished| sender.send(finished).is_ok() && !stop.load(Relaxed);
                play_greedily(network, &games.rules, downgrade, games.seed, &mut numbers, &mut report);
            });
        }
        drop(sender);
        for finished in receiver {
            let finished = Outcome { results: finished, ..Outcome::default() };
            results.extend_from_slice(&finished.results);
            if !watch(&finished) {
                stop.store(true, Relaxed);
            }
        }
    });
    results.sort_unstable_by_key(|result| result.game);
    (!stop.into_inner()).then_some(results)
}
