//! The exact value of a policy: the probability of every board that it reaches, layer by layer, and
//! the first two moments of the score so far.
//!
//! No games are played, so there is no noise, and only one layer is in memory at a time.

use afterstate_game::{Move, Rules, State};

use crate::{
    Objective, Policy, Solution,
    keys::{self, Batch, Keyed, SHARD_BITS},
    regret::{Losses, Regret},
    space::{starts, tiles},
    threads::{divide, worthwhile},
    word::Word,
};

/// The boards on which a policy is queried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Boards {
    /// All boards that it reaches. A policy may treat the images of a board differently, if only to break
    /// ties, so its games converge to this value.
    All,
    /// Only the canonical image of each board: correct for symmetric policies, at up to
    /// an eighth of the work; for others, the value of querying canonical boards only.
    Canonical,
}

/// The settings of an evaluation.
#[derive(Clone, Copy)]
pub struct SolverSettings<'a, const N: usize> {
    /// The rules of the game.
    pub rules: Rules,
    /// The boards on which the policy is queried.
    pub boards: Boards,
    /// When a game ends; with [`Objective::Goal`], also when the tile is reached.
    pub until: Objective,
    /// The solution that the policy is compared with.
    pub optimum: Option<&'a Solution<N>>,
    /// The number of threads. The result is the same for any number.
    pub threads: usize,
}

/// The exact value of a policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation<const N: usize> {
    /// The mean score.
    pub expected_score: f64,
    /// The standard deviation of the score.
    pub sd: f64,
    /// The mean number of moves.
    pub expected_moves: f64,
    /// The number of states that the policy can reach, among those on which it is queried.
    pub states: u64,
    /// For each tile, by exponent from 1, the probability that a game reaches at least that tile.
    pub tiles: Vec<f64>,
    /// The loss against optimal play, if requested.
    pub regret: Option<Regret<N>>,
}

/// The probability of reaching a board, and the first two moments of the score there.
#[derive(Clone, Copy, Default, Debug)]
struct Mass {
    probability: f64,
    score: f64,
    square: f64,
}

impl Mass {
    fn add(&mut self, other: Mass) {
        self.probability += other.probability;
        self.score += other.score;
        self.square += other.square;
    }

    fn times(self, p: f64) -> Mass {
        Mass { probability: p * self.probability, score: p * self.score, square: p * self.square }
    }

    /// The mass after a reward.
    fn rewarded(self, r: f64) -> Mass {
        Mass {
            probability: self.probability,
            score: self.score + r * self.probability,
            square: self.square + r * (2.0 * self.score + r * self.probability),
        }
    }
}

/// A visit to a board.
#[derive(Clone, Copy)]
struct Visit {
    key: u32,
    mass: Mass,
}

impl Keyed for Visit {
    fn key(&self) -> u32 {
        self.key
    }
}

/// Sums over the boards on which games end, and over all moves.
#[derive(Clone, Default)]
struct Totals {
    end: Mass,
    max_exponents: [f64; 16],
    moves: f64,
}

impl Totals {
    fn add(&mut self, other: &Totals) {
        self.end.add(other.end);
        self.moves += other.moves;
        self.max_exponents.iter_mut().zip(other.max_exponents).for_each(|(sum, p)| *sum += p);
    }
}

/// The number of boards processed together. Sums are computed for each block and then added in order, so that
/// the number of threads does not matter.
const BLOCK: usize = 1024;

/// Evaluates a policy. `progress` receives the sum of tiles that has been reached.
///
/// # Panics
/// If the policy makes an illegal move.
pub fn evaluate<const N: usize>(
    policy: &impl Policy<N>,
    settings: &SolverSettings<'_, N>,
    mut progress: impl FnMut(u32),
) -> Evaluation<N> {
    let walk = Walk { policy, settings };
    let starts = starts::<N>(&settings.rules, |word| walk.fold(word));
    let last_start = starts.keys().next_back().copied().unwrap_or(0);
    let mut sum = starts.keys().next().copied().unwrap_or(0);
    let mut pending: [Vec<Batch<Visit>>; 3] = Default::default();
    let (mut totals, mut states, mut losses) = (Totals::default(), 0, Losses::default());
    while sum <= last_start || pending.iter().flatten().any(|batch| !batch.is_empty()) {
        let mut batch = Batch::new();
        for &(word, probability) in starts.get(&sum).into_iter().flatten() {
            batch.push(Visit { key: keys::key(word), mass: Mass { probability, score: 0.0, square: 0.0 } });
        }
        pending[0].push(batch);
        let visits = merged(&pending[0], settings.threads);
        states += visits.len() as u64;
        pending.rotate_left(1);
        pending[2].clear();
        for step in walk.layer(&visits, sum) {
            let [twos, fours] = step.next;
            pending[0].push(twos);
            pending[1].push(fours);
            step.totals.iter().for_each(|block| totals.add(block));
            losses.extend(step.losses);
        }
        losses.end_layer();
        progress(sum);
        sum += 2;
    }
    totals.evaluation(states, settings.optimum.map(|_| losses.finish()))
}

fn merged(batches: &[Batch<Visit>], threads: usize) -> Vec<Visit> {
    Batch::gather(batches, threads, merge)
}

/// Combines the visits to the same board, in their order. A hash table of indices is faster
/// here than sorting.
fn merge(visits: &mut Vec<Visit>) {
    const EMPTY: u32 = u32::MAX;
    let bits = visits.len().max(1).ilog2() + 2;
    let mut slots = vec![EMPTY; 1 << bits];
    let mut boards = 0;
    for i in 0..visits.len() {
        let visit = visits[i];
        let mut slot = (visit.key << SHARD_BITS >> (32 - bits.min(32))) as usize;
        while slots[slot] != EMPTY && visits[slots[slot] as usize].key != visit.key {
            slot = (slot + 1) % slots.len();
        }
        if slots[slot] == EMPTY {
            slots[slot] = boards as u32;
            visits[boards] = visit;
            boards += 1;
        } else {
            visits[slots[slot] as usize].mass.add(visit.mass);
        }
    }
    visits.truncate(boards);
}

impl Totals {
    fn evaluation<const N: usize>(self, states: u64, regret: Option<Regret<N>>) -> Evaluation<N> {
        let mean = self.end.score;
        let mut at_least = 0.0;
        let mut tiles: Vec<f64> = self.max_exponents[1..]
            .iter()
            .rev()
            .map(|p| {
                at_least += p;
                // Rounding may have exceeded 1.
                at_least.min(1.0)
            })
            .collect();
        tiles.reverse();
        while tiles.last() == Some(&0.0) {
            tiles.pop();
        }
        Evaluation {
            expected_score: mean,
            sd: (self.end.square - mean * mean).max(0.0).sqrt(),
            expected_moves: self.moves,
            states,
            tiles,
            regret,
        }
    }
}

/// The successors of a range of a layer.
struct Step<const N: usize> {
    next: [Batch<Visit>; 2],
    totals: Vec<Totals>,
    losses: Losses<N>,
}

struct Walk<'a, const N: usize, P> {
    policy: &'a P,
    settings: &'a SolverSettings<'a, N>,
}

impl<const N: usize, P: Policy<N>> Walk<'_, N, P> {
    #[inline(always)]
    fn fold(&self, word: Word<N>) -> Word<N> {
        match self.settings.boards {
            Boards::All => word,
            Boards::Canonical => word.canonical(),
        }
    }

    fn layer(&self, visits: &[Visit], sum: u32) -> Vec<Step<N>> {
        let blocks: Vec<_> = visits.chunks(BLOCK).collect();
        divide(worthwhile(self.settings.threads, visits.len()), blocks.len(), |range| {
            let next = [Batch::new(), Batch::new()];
            let mut step = Step { next, totals: Vec::new(), losses: Losses::default() };
            for block in &blocks[range] {
                let totals = self.block(block, sum, &mut step);
                step.totals.push(totals);
            }
            step
        })
    }

    /// Advances from the boards of a block.
    fn block(&self, visits: &[Visit], sum: u32, step: &mut Step<N>) -> Totals {
        let mut totals = Totals::default();
        let (mut states, mut masses, mut moves) = (Vec::new(), Vec::new(), Vec::new());
        for visit in visits {
            let word = keys::word::<N>(visit.key, sum);
            let state = word.state();
            let max_exponent = word.max_exponent();
            if self.settings.until.is_reached(max_exponent) || state.is_terminal() {
                totals.end.add(visit.mass);
                totals.max_exponents[usize::from(max_exponent)] += visit.mass.probability;
            } else {
                totals.moves += visit.mass.probability;
                states.push(state);
                masses.push(visit.mass);
            }
        }
        self.policy.choose(&states, &mut moves);
        for ((state, mass), a) in states.into_iter().zip(masses).zip(moves) {
            if let Some(optimum) = self.settings.optimum {
                step.losses.visit(optimum, state, a, mass.probability);
            }
            self.advance(state, a, mass, &mut step.next);
        }
        totals
    }

    fn advance(&self, state: State<N>, a: Move, mass: Mass, next: &mut [Batch<Visit>; 2]) {
        let slide = state.slide(a).expect("policies make legal moves");
        let word = Word::pack(&slide.afterstate.board());
        let mass = mass.rewarded(f64::from(slide.reward)).times(1.0 / word.empty_shifts().len() as f64);
        for shift in word.empty_shifts() {
            for (exponent, odds) in tiles(&self.settings.rules) {
                let key = keys::key(self.fold(word.with_tile(shift, exponent)));
                next[exponent as usize - 1].push(Visit { key, mass: mass.times(odds) });
            }
        }
    }
}
