//! Private hot weights: threads that do not fight for cache lines.
//!
//! Lock-free threads (jaskowski-2016, V.A.3) lose most of their time to the weights that all of them
//! write all the time: those of boards with small tiles. Here every thread has its own copy of the
//! weights whose tiles are all at most 128, and merges it with a master copy, a slice at a time: what
//! the thread has changed since it last looked is added to the master, and the sum is the thread's
//! new copy. All other weights are shared as before.
//!
//! The thread's copy stands in an area behind the network's weights, so that only the positions
//! differ, and a hot weight costs no more than a cold one. E and A of temporal coherence are merged
//! like the weights.

use std::{
    cell::UnsafeCell,
    sync::atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use afterstate_network::{Lookup, Network};

use crate::step_size::{pack, unpack};

/// Weights that are merged together: a cache line.
const BLOCK: usize = 16;

/// A thread of n goes through its weights once in this many moves, over n².
const MOVES_BETWEEN_MERGES: u64 = 80_000;

/// The slices in which a thread goes through its weights.
const SLICES: u64 = 8;

/// The weights of a block.
type Weights = [f32; BLOCK];

/// E and A of a block's weights, one after the other.
type Sums = [f32; 2 * BLOCK];

/// What the threads share: the weights of a network's small tiles.
pub(crate) struct Master<'a> {
    network: &'a Network,
    weights: &'a [AtomicU32],
    sums: Option<&'a [AtomicU64]>,
    /// For each block, twice the number of its changes; odd while a thread holds it.
    versions: Vec<AtomicU32>,
    blocks: Vec<UnsafeCell<Weights>>,
    /// Empty without temporal coherence.
    sum_blocks: Vec<UnsafeCell<Sums>>,
}

// SAFETY: the blocks are only touched by the thread that holds them, see `Copy::merge`, or through an
// exclusive reference.
unsafe impl Sync for Master<'_> {}

/// A thread's copy.
pub(crate) struct Copy<'a, 'b> {
    master: &'b Master<'a>,
    /// Where its area begins in each set of tables. No other thread touches it.
    area: usize,
    /// The lookups that find it.
    pub(crate) lookups: Vec<Lookup>,
    /// What the thread and the master last agreed on.
    agreed: Vec<Weights>,
    agreed_sums: Vec<Sums>,
    versions: Vec<u32>,
    next_slice: u64,
    /// Moves between two slices.
    pub(crate) interval: u64,
}

impl<'a> Master<'a> {
    /// Takes the weights of small tiles from a network.
    pub(crate) fn new(network: &'a Network, sums: Option<&'a [AtomicU64]>) -> Self {
        let weights = network.weights();
        let len = network.layout().private_len() as usize / BLOCK * network.spec().sets();
        let mut blocks = vec![[0.0; BLOCK]; len];
        let mut sum_blocks = vec![[0.0; 2 * BLOCK]; if sums.is_some() { len } else { 0 }];
        for (place, position) in positions(network) {
            let (block, i) = (place / BLOCK, place % BLOCK);
            blocks[block][i] = f32::from_bits(weights[position].load(Relaxed));
            if let Some(sums) = sums {
                let (e, a) = unpack(sums[position].load(Relaxed));
                (sum_blocks[block][2 * i], sum_blocks[block][2 * i + 1]) = (e, a);
            }
        }
        Master {
            network,
            weights,
            sums,
            versions: (0..len).map(|_| AtomicU32::new(0)).collect(),
            blocks: blocks.into_iter().map(UnsafeCell::new).collect(),
            sum_blocks: sum_blocks.into_iter().map(UnsafeCell::new).collect(),
        }
    }

    /// Gives the weights back to the network.
    pub(crate) fn store(mut self) {
        for (place, position) in positions(self.network) {
            let (block, i) = (place / BLOCK, place % BLOCK);
            self.weights[position].store(self.blocks[block].get_mut()[i].to_bits(), Relaxed);
            if let Some(sums) = self.sums {
                let block = self.sum_blocks[block].get_mut();
                sums[position].store(pack(block[2 * i], block[2 * i + 1]), Relaxed);
            }
        }
    }

    /// The copy of one of `threads` threads; `None` when the network has no place for it.
    pub(crate) fn copy(&self, thread: usize, threads: usize) -> Option<Copy<'a, '_>> {
        let (area, lookups) = self.network.private_lookups(thread)?;
        let len = self.blocks.len();
        let mut copy = Copy {
            master: self,
            area,
            lookups,
            agreed: vec![[0.0; BLOCK]; len],
            agreed_sums: vec![[0.0; 2 * BLOCK]; self.sum_blocks.len()],
            // A version that no block has, so that all of them are taken from the master.
            versions: vec![u32::MAX; len],
            next_slice: 0,
            interval: (MOVES_BETWEEN_MERGES / (threads * threads) as u64 / SLICES).max(1),
        };
        copy.clear();
        copy.merge_all();
        Some(copy)
    }
}

impl Copy<'_, '_> {
    /// Merges the next slice of the weights with the master.
    pub(crate) fn merge_slice(&mut self) {
        let len = self.agreed.len() as u64;
        let bound = |slice: u64| (len * slice / SLICES) as usize;
        for block in bound(self.next_slice)..bound(self.next_slice + 1) {
            self.merge(block, false);
        }
        self.next_slice = (self.next_slice + 1) % SLICES;
    }

    /// Merges all weights with the master.
    pub(crate) fn merge_all(&mut self) {
        for block in 0..self.agreed.len() {
            while !self.merge(block, true) {
                std::hint::spin_loop();
            }
        }
    }

    /// The place of a block's first weight in the thread's area.
    #[inline(always)]
    fn first(&self, block: usize) -> usize {
        let network = self.master.network;
        let per_set = network.layout().private_len() as usize / BLOCK;
        self.area + block / per_set * network.set_len() + block % per_set * BLOCK
    }

    /// Sets the area to zeros, as `agreed` is.
    fn clear(&mut self) {
        for i in (0..self.agreed.len()).flat_map(|block| (0..BLOCK).map(move |i| (block, i))) {
            let i = self.first(i.0) + i.1;
            self.master.weights[i].store(0, Relaxed);
            self.master.sums.inspect(|sums| sums[i].store(0, Relaxed));
        }
    }

    /// Merges a block with the master; `false` when another thread holds it just now. Unless `always`,
    /// only a block whose weights have changed: E and A hardly ever change alone, and then can wait.
    #[inline(always)]
    fn merge(&mut self, block: usize, always: bool) -> bool {
        let master = self.master;
        let first = self.first(block);
        let weights: *mut Weights = master.weights[first..][..BLOCK].as_ptr().cast_mut().cast();
        // SAFETY: sixteen atomics of f32 bits, aligned to them, that only this thread touches.
        let mine = unsafe { &mut *weights };
        let changed = always || mine.map(f32::to_bits) != self.agreed[block].map(f32::to_bits);
        let version = master.versions[block].load(Acquire);
        if !changed && version == self.versions[block] {
            return true;
        }
        let free = version & !1;
        if master.versions[block].compare_exchange(free, free | 1, Acquire, Relaxed).is_err() {
            return false;
        }
        // SAFETY: the version is odd, so this thread alone holds the block.
        merge_into(unsafe { &mut *master.blocks[block].get() }, mine, &mut self.agreed[block]);
        if let Some(sums) = master.sums {
            let sums: *mut Sums = sums[first..][..BLOCK].as_ptr().cast_mut().cast();
            // SAFETY: sixteen words of two f32 each, that only this thread touches; and as above.
            let (mine, theirs) = unsafe { (&mut *sums, &mut *master.sum_blocks[block].get()) };
            merge_into(theirs, mine, &mut self.agreed_sums[block]);
        }
        self.versions[block] = if changed { free.wrapping_add(2) } else { free };
        master.versions[block].store(self.versions[block], Release);
        true
    }
}

/// The weights of small tiles in all sets of tables: their places in the master, and among all weights.
fn positions(network: &Network) -> impl Iterator<Item = (usize, usize)> + '_ {
    let (len, set_len) = (network.layout().private_len() as usize, network.set_len());
    (0..network.spec().sets()).flat_map(move |set| {
        let positions = network.layout().private_positions();
        positions.map(move |(place, position)| (set * len + place, set * set_len + position))
    })
}

/// Adds what has changed to the master's numbers, and takes over the result.
#[inline(always)]
fn merge_into<const L: usize>(master: &mut [f32; L], mine: &mut [f32; L], agreed: &mut [f32; L]) {
    for ((master, mine), agreed) in master.iter_mut().zip(&*mine).zip(&*agreed) {
        *master += mine - agreed;
    }
    (*mine, *agreed) = (*master, *master);
}
