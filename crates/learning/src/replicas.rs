//! Replicas: networks that learn independently and merge at intervals, for machines without shared memory.
//!
//! Every replica has all weights and plays its own games. At a merge, each computes its changes since the last merge;
//! the sums over all replicas determine the new common state. E and A of temporal coherence are sums of errors, so
//! adding the changes of all replicas gives the sums of a single learner. A weight moves by the mean of the changes,
//! each weighted by its growth of A: replicas that learn the same thing from the same start must not apply it n times.
//!
//! V ← V + ΣΔV·ΔA / ΣΔA.
//!
//! A weight that only one replica has changed takes that replica's change. Other rules were slightly better in some
//! cases, but each collapsed in others; `docs/cluster.md` compares them. A fixed step size keeps no errors, and its
//! changes are added.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use afterstate_network::{Network, pack, unpack};

use crate::Trainer;

/// The number of weights that share a mark as changed.
pub const BLOCK: usize = 256;

/// The numbers exchanged for each weight: ΔV, ΔE, ΔA, ΔV·ΔA.
const KINDS: usize = 4;

/// Reductions over all replicas.
pub trait Exchange: Sync {
    /// The bitwise OR of the words of all replicas.
    fn any(&self, words: &mut [u64]);

    /// The sums of the numbers of all replicas.
    fn sum(&self, numbers: &mut [f32]);
}

/// The changes of a replica, block by block.
#[derive(Clone, Default, Debug)]
pub struct Changes {
    /// The blocks in ascending order.
    blocks: Vec<u32>,
    /// The changes of each block's weights, one kind of number after the other.
    numbers: Vec<f32>,
}

/// The state common to all replicas after a merge.
pub struct Agreed {
    weights: Vec<f32>,
    /// E and A; empty where there are none.
    sums: Vec<(f32, f32)>,
}

impl Changes {
    /// The number of bytes that merging these changes sends.
    pub fn bytes(&self) -> u64 {
        self.numbers.len() as u64 * size_of::<f32>() as u64
    }

    /// The sums of the changes of all replicas, and the bitwise OR of their messages.
    pub fn exchange(&self, all: usize, say: u64, exchange: &dyn Exchange) -> (Changes, u64) {
        let mut words = vec![0; all.div_ceil(64) + 1];
        self.blocks.iter().for_each(|&block| words[block as usize / 64] |= 1 << (block % 64));
        words[all.div_ceil(64)] = say;
        exchange.any(&mut words);
        let said = words.pop().unwrap_or_default();
        let blocks: Vec<u32> =
            (0..all as u32).filter(|block| words[*block as usize / 64] >> (block % 64) & 1 == 1).collect();
        let len = self.numbers.len().checked_div(self.blocks.len());
        // A replica without changes does not know how many numbers the others send for each block.
        let mut widest = [len.unwrap_or_default() as u64];
        exchange.any(&mut widest);
        let len = widest[0] as usize;
        let mut numbers = vec![0.0; blocks.len() * len];
        let mut own = self.blocks.iter().zip(self.numbers.chunks_exact(len.max(1))).peekable();
        for (block, numbers) in blocks.iter().zip(numbers.chunks_exact_mut(len.max(1))) {
            if let Some((_, changes)) = own.next_if(|(own, _)| *own == block) {
                numbers.copy_from_slice(changes);
            }
        }
        exchange.sum(&mut numbers);
        (Changes { blocks, numbers }, said)
    }
}

impl Agreed {
    /// The current weights, which must be the same for all replicas.
    pub fn new(trainer: &Trainer<'_>) -> Self {
        let (network, sums) = trainer.learned();
        let mut agreed = Agreed { weights: vec![0.0; network.weights().len()], sums: Vec::new() };
        if let Some(sums) = sums {
            agreed.sums = vec![(0.0, 0.0); sums.len()];
        }
        for block in 0..agreed.blocks() {
            agreed.take(block, network.weights(), sums);
        }
        agreed
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.weights.len().div_ceil(BLOCK)
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.weights.len())
    }

    /// Copies a block, unless it is all zeros: untouched memory stays untouched.
    fn take(&mut self, block: usize, weights: &[AtomicU32], sums: Option<&[AtomicU64]>) {
        for i in self.range(block) {
            let weight = f32::from_bits(weights[i].load(Relaxed));
            if weight != 0.0 {
                self.weights[i] = weight;
            }
            if let Some(sums) = sums.map(|sums| sums[i].load(Relaxed)).filter(|&sums| sums != 0) {
                self.sums[i] = unpack(sums);
            }
        }
    }

    /// The replica's changes since the last merge. A block in which only E and A have changed can wait.
    pub fn changes(&self, trainer: &Trainer<'_>) -> Changes {
        let (network, sums) = trainer.learned();
        let (weights, mut changes) = (network.weights(), Changes::default());
        let weight = |i: usize| f32::from_bits(weights[i].load(Relaxed));
        for block in (0..self.blocks()).filter(|&block| is_learned(network, block)) {
            let range = self.range(block);
            if range.clone().all(|i| weights[i].load(Relaxed) == self.weights[i].to_bits()) {
                continue;
            }
            changes.blocks.push(block as u32);
            let first = changes.numbers.len();
            let kinds = if sums.is_some() { KINDS } else { 1 };
            changes.numbers.resize(first + kinds * BLOCK, 0.0);
            let to = &mut changes.numbers[first..];
            for (k, i) in range.enumerate() {
                let dv = weight(i) - self.weights[i];
                to[k] = dv;
                if let Some(sums) = sums {
                    let ((e, a), (agreed_e, agreed_a)) = (unpack(sums[i].load(Relaxed)), self.sums[i]);
                    let (de, da) = (e - agreed_e, a - agreed_a);
                    (to[BLOCK + k], to[2 * BLOCK + k], to[3 * BLOCK + k]) = (de, da, dv * da);
                }
            }
        }
        changes
    }

    /// Applies the sums of all replicas' changes, of which `own` are this replica's. Changes that it has made since
    /// then stay pending.
    pub fn apply(&mut self, trainer: &Trainer<'_>, own: &Changes, total: &Changes) {
        let (network, sums) = trainer.learned();
        let weights = network.weights();
        let len = total.numbers.len().checked_div(total.blocks.len()).unwrap_or(1).max(1);
        let mut own = own.blocks.iter().zip(own.numbers.chunks_exact(len)).peekable();
        let zeros = vec![0.0; len];
        for (block, total) in total.blocks.iter().zip(total.numbers.chunks_exact(len)) {
            let own = own.next_if(|(own, _)| *own == block).map_or(&zeros[..], |(_, changes)| changes);
            for (k, i) in self.range(*block as usize).enumerate() {
                let weight = f32::from_bits(weights[i].load(Relaxed));
                let since = weight - self.weights[i] - own[k];
                let change = match sums {
                    None => total[k],
                    Some(_) => mean(total[k], total[2 * BLOCK + k], total[3 * BLOCK + k]),
                };
                self.weights[i] += change;
                weights[i].store((self.weights[i] + since).to_bits(), Relaxed);
                if let Some(sums) = sums {
                    let ((e, a), agreed) = (unpack(sums[i].load(Relaxed)), &mut self.sums[i]);
                    let since = (e - agreed.0 - own[BLOCK + k], a - agreed.1 - own[2 * BLOCK + k]);
                    *agreed = (agreed.0 + total[BLOCK + k], agreed.1 + total[2 * BLOCK + k]);
                    sums[i].store(pack((agreed.0 + since.0, agreed.1 + since.1)), Relaxed);
                }
            }
        }
    }
}

/// Whether a block holds weights that learn, rather than only private copies of threads.
fn is_learned(network: &Network, block: usize) -> bool {
    (block * BLOCK) % network.set_len() < network.layout().len() as usize
}

/// How far a weight moves, given the changes of all replicas. If A is too large to grow, they are added.
fn mean(dv: f32, da: f32, dv_da: f32) -> f32 {
    if da == 0.0 { dv } else { dv_da / da }
}
