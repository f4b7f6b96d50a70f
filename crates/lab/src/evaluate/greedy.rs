//! Greedy evaluation, where a network's speed counts: in each thread a few games take turns, move by move, so
//! that the memory accesses of one are under way while the others compute.

use std::{
    collections::HashSet,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{Sender, channel},
    },
};

use afterstate_network::{GreedyGame, Isa, Kernel, Level, Network, dispatch};

use super::Games;
use crate::stats::GameResult;

/// Games that take turns in one thread.
const GAMES_PER_THREAD: usize = 2;

/// Moves between two reports of a thread: some milliseconds.
const CHUNK: u64 = 1 << 15;

/// See [`super::evaluate`].
pub(super) fn evaluate(
    network: &Network,
    games: Games,
    played: &HashSet<u64>,
    threads: usize,
    watch: impl FnMut(&[GameResult]) -> bool,
) -> Option<Vec<GameResult>> {
    match network.spec().side {
        4 => with_side::<4>(network, games, played, threads, watch),
        3 => with_side::<3>(network, games, played, threads, watch),
        _ => with_side::<2>(network, games, played, threads, watch),
    }
}

fn with_side<const N: usize>(
    network: &Network,
    games: Games,
    played: &HashSet<u64>,
    threads: usize,
    mut watch: impl FnMut(&[GameResult]) -> bool,
) -> Option<Vec<GameResult>> {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let shared = Shared { network, games, played, next: &next, stop: &stop };
    let mut results = Vec::new();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            scope.spawn(move || shared.play::<N>(&sender));
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

/// What the threads share.
#[derive(Clone, Copy)]
struct Shared<'a> {
    network: &'a Network,
    games: Games,
    played: &'a HashSet<u64>,
    next: &'a AtomicU64,
    stop: &'a AtomicBool,
}

impl Shared<'_> {
    fn next_number(&self) -> Option<u64> {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            if !self.played.contains(&number) {
                return (number < self.games.count).then_some(number);
            }
        }
    }

    /// Plays until there are no more games, telling of those that ended.
    fn play<const N: usize>(&self, sender: &Sender<Vec<GameResult>>) {
        let start = |number| GreedyGame::<N>::new(self.network, &self.games.rules, self.games.seed, number);
        let numbers = std::iter::from_fn(|| self.next_number());
        let mut playing: Vec<_> = numbers.take(GAMES_PER_THREAD).map(start).collect();
        let level = Level::best();
        while !playing.is_empty() && !self.stop.load(Relaxed) {
            let finished = dispatch(level, Chunk { shared: self, playing: &mut playing });
            if sender.send(finished).is_err() {
                return;
            }
        }
    }
}

/// The hot loop of evaluation: so many moves, by the thread's games in turn.
struct Chunk<'a, const N: usize> {
    shared: &'a Shared<'a>,
    playing: &'a mut Vec<GreedyGame<N>>,
}

impl<const N: usize> Kernel for Chunk<'_, N> {
    type Output = Vec<GameResult>;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> Vec<GameResult> {
        let Chunk { shared, playing } = self;
        let Shared { network, games: Games { rules, seed, .. }, .. } = *shared;
        let view = network.view();
        let mut finished = Vec::new();
        let mut moves = 0;
        // SAFETY: inside a kernel.
        playing.iter_mut().for_each(|game| unsafe { game.look_up::<I>(&view) });
        while moves < CHUNK && !playing.is_empty() {
            // The games take turns, as in training.
            for game in playing.iter_mut() {
                // SAFETY: inside a kernel.
                unsafe { game.evaluate::<I>(&view, &rules) };
                game.decide();
                game.advance(&rules);
                if game.is_over() {
                    finished.push(game.finished().into());
                    if let Some(number) = shared.next_number() {
                        game.restart(&rules, seed, number);
                    }
                }
                // SAFETY: inside a kernel.
                unsafe { game.look_up::<I>(&view) };
            }
            moves += playing.len() as u64;
            playing.retain(|game| !game.is_over());
        }
        finished
    }
}
