//! The reachable boards, up to symmetry, in layers by the sum of their tiles.
//!
//! A slide keeps the sum of tiles and a new tile raises it by 2 or 4, so every game ascends
//! through the layers: enumeration goes up, and backward induction comes down.

use std::collections::BTreeMap;

use afterstate_game::Rules;

use crate::{
    keys::{self, Batch},
    threads::{divide, worthwhile},
    word::Word,
};

/// The reachable boards with one sum of tiles, as sorted keys of canonical boards.
pub(crate) struct Layer {
    pub(crate) sum: u32,
    pub(crate) states: Vec<u32>,
    pub(crate) afterstates: Vec<u32>,
}

/// All reachable boards of a side, up to symmetry: those of all games, by any player.
pub struct Space<const N: usize> {
    pub(crate) layers: Vec<Layer>,
    pub(crate) rules: Rules,
    pub(crate) starts: Starts<N>,
}

/// The canonical initial states and their probabilities, by the sum of their tiles.
pub(crate) type Starts<const N: usize> = BTreeMap<u32, Vec<(Word<N>, f64)>>;

/// The states after `start_tiles` spawns on an empty board; canonical if `fold`.
pub(crate) fn starts<const N: usize>(rules: &Rules, fold: impl Fn(Word<N>) -> Word<N>) -> Starts<N> {
    let mut boards = BTreeMap::from([(Word::EMPTY, (0, 1.0))]);
    for _ in 0..rules.start_tiles {
        let mut next = BTreeMap::new();
        for (&word, &(sum, probability)) in &boards {
            let cells = word.empty_shifts();
            let probability = probability / cells.len() as f64;
            for shift in cells {
                for (exponent, odds) in tiles(rules) {
                    let entry = next.entry(fold(word.with_tile(shift, exponent))).or_insert((0, 0.0));
                    *entry = (sum + (1 << exponent), entry.1 + probability * odds);
                }
            }
        }
        boards = next;
    }
    let mut starts = Starts::new();
    for (word, (sum, probability)) in boards {
        starts.entry(sum).or_default().push((word, probability));
    }
    starts
}

/// The exponents of possible new tiles, with their probabilities.
pub(crate) fn tiles(rules: &Rules) -> impl Iterator<Item = (u64, f64)> + Clone + use<> {
    [(1, 1.0 - rules.four), (2, rules.four)].into_iter().filter(|&(_, odds)| odds > 0.0)
}

impl<const N: usize> Space<N> {
    /// An upper bound on the memory that solving takes, measured, with a margin.
    pub const BYTES: u64 = if N < 3 { 1 << 20 } else { 700 << 20 };

    /// Enumerates the boards. `progress` receives the sum of tiles that has been reached.
    pub fn enumerate(rules: &Rules, threads: usize, mut progress: impl FnMut(u32)) -> Self {
        let starts = starts::<N>(rules, Word::canonical);
        let last_start = starts.keys().next_back().copied().unwrap_or(0);
        let first = starts.keys().next().copied().unwrap_or(0);
        let mut layers = Vec::new();
        // The states with the current sum, and with 2 and 4 more.
        let mut pending: [Vec<Batch<u32>>; 3] = Default::default();
        let mut sum = first;
        loop {
            if let Some(starts) = starts.get(&sum) {
                let mut batch = Batch::new();
                starts.iter().for_each(|(word, _)| batch.push(keys::key(*word)));
                pending[0].push(batch);
            }
            let states = sorted(&pending[0], threads);
            if states.is_empty() && pending[1].iter().all(Batch::is_empty) && sum > last_start {
                break;
            }
            let afterstates = sorted(&slide::<N>(&states, sum, threads), threads);
            pending.rotate_left(1);
            pending[2].clear();
            for [twos, fours] in spawn::<N>(&afterstates, sum, rules, threads) {
                pending[0].push(twos);
                pending[1].push(fours);
            }
            layers.push(Layer { sum, states, afterstates });
            progress(sum);
            sum += 2;
        }
        Space { layers, rules: *rules, starts }
    }

    /// The number of states, up to symmetry.
    pub fn states(&self) -> u64 {
        self.layers.iter().map(|layer| layer.states.len() as u64).sum()
    }

    /// The number of afterstates, up to symmetry.
    pub fn afterstates(&self) -> u64 {
        self.layers.iter().map(|layer| layer.afterstates.len() as u64).sum()
    }
}

fn sorted(batches: &[Batch<u32>], threads: usize) -> Vec<u32> {
    Batch::gather(batches, threads, |shard| {
        shard.sort_unstable();
        shard.dedup();
    })
}

/// The afterstates of these states.
fn slide<const N: usize>(states: &[u32], sum: u32, threads: usize) -> Vec<Batch<u32>> {
    divide(worthwhile(threads, states.len()), states.len(), |range| {
        let mut batch = Batch::new();
        for &key in &states[range] {
            for (_, slide) in keys::word::<N>(key, sum).state().slides().iter() {
                batch.push(keys::key(Word::pack(&slide.afterstate.board()).canonical()));
            }
        }
        batch
    })
}

/// The states after a 2 and after a 4.
fn spawn<const N: usize>(
    afterstates: &[u32],
    sum: u32,
    rules: &Rules,
    threads: usize,
) -> Vec<[Batch<u32>; 2]> {
    divide(worthwhile(threads, afterstates.len()), afterstates.len(), |range| {
        let mut batches = [Batch::new(), Batch::new()];
        for &key in &afterstates[range] {
            let word = keys::word::<N>(key, sum);
            for shift in word.empty_shifts() {
                for (exponent, _) in tiles(rules) {
                    batches[exponent as usize - 1]
                        .push(keys::key(word.with_tile(shift, exponent).canonical()));
                }
            }
        }
        batches
    })
}
