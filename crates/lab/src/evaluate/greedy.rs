//! Greedy evaluation at full network speed.

use std::sync::atomic::Ordering::Relaxed;

use afterstate_network::Network;
use afterstate_search::{Downgrade, Endgames, play_greedily};
use afterstate_threads::watched;

use super::{Games, PlayOutcome};
use crate::stats::GameResult;

/// See [`super::evaluate`].
pub(super) fn evaluate(
    network: &Network,
    downgrade: Option<Downgrade>,
    endgames: Option<&Endgames>,
    games: Games<'_>,
    threads: usize,
    watch: &mut dyn FnMut(&PlayOutcome) -> bool,
) -> Option<Vec<GameResult>> {
    let mut results = Vec::new();
    let whole = watched(
        threads,
        |_, send, stop| {
            let mut numbers = std::iter::from_fn(|| games.dealer.next());
            let mut report = |finished| send(finished) && !stop.load(Relaxed);
            play_greedily(network, &games.rules, downgrade, endgames, games.seed, &mut numbers, &mut report);
        },
        |finished| {
            let finished = PlayOutcome { results: finished.unwrap_or_default(), ..PlayOutcome::default() };
            results.extend_from_slice(&finished.results);
            watch(&finished)
        },
    );
    results.sort_unstable_by_key(|result| result.game);
    whole.then_some(results)
}
