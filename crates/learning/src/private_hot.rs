//! Private hot weights: threads without contention for cache lines.
//!
//! Lock-free threads (jaskowski-2016, V.A.3) lose most of their time on the weights that all of them
//! write constantly: those of boards with small tiles. Here every thread has its own copy of the
//! weights whose tiles are all at most 128, and merges it with a master copy, a slice at a time: the
//! thread's changes since its last merge are added to the master, and the sum becomes the thread's
//! new copy. All other weights are shared as before.
//!
//! The thread's copy lies in an area after the network's weights, so that only the indices
//! differ, and accessing a hot weight costs no more than a cold one. E and A of temporal coherence are merged
//! like the weights.

use std::sync::{
    Mutex, MutexGuard, TryLockError,
    atomic::{
        AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use afterstate_network::{BLOCK, Isa, Kernel, Level, Network, PrivateLookups, dispatch, pack, unpack};

/// A thread of n merges all of its weights once in this many moves, divided by n².
const MOVES_BETWEEN_MERGES: u64 = 80_000;

/// The number of slices in which a thread merges its weights.
const SLICES: u64 = 8;

/// The weights of a block, the unit of merging: a cache line.
type Weights = [f32; BLOCK];

/// E and A of a block's weights, consecutively.
type Sums = [f32; 2 * BLOCK];

/// The master copy of the weights of a network's small tiles, which the threads share.
pub(crate) struct Master<'a> {
    network: &'a Network,
    weights: &'a [AtomicU32],
    sums: Option<&'a [AtomicU64]>,
    /// The number of changes to each block.
    versions: Vec<AtomicU32>,
    blocks: Vec<Mutex<Weights>>,
    /// Empty without temporal coherence; locked together with the block.
    sum_blocks: Vec<Mutex<Sums>>,
}

/// A thread's private copy of them.
pub(crate) struct HotCopy<'a, 'b> {
    master: &'b Master<'a>,
    level: Level,
    /// The lookups into its area, which no other thread accesses.
    pub(crate) lookups: PrivateLookups,
    /// The values after the last merge with the master.
    agreed: Vec<Weights>,
    agreed_sums: Vec<Sums>,
    versions: Vec<u32>,
    next_slice: u64,
    /// The number of moves between two slices.
    pub(crate) interval: u64,
}

impl<'a> Master<'a> {
    /// Copies the weights of small tiles from a network.
    pub(crate) fn new(network: &'a Network, sums: Option<&'a [AtomicU64]>) -> Self {
        let weights = network.weights();
        let len = network.layout().private_len() as usize / BLOCK * network.spec().sets();
        let mut blocks = vec![[0.0; BLOCK]; len];
        let mut sum_blocks = vec![[0.0; 2 * BLOCK]; if sums.is_some() { len } else { 0 }];
        for (place, index) in indices(network) {
            let (block, i) = (place / BLOCK, place % BLOCK);
            blocks[block][i] = f32::from_bits(weights[index].load(Relaxed));
            if let Some(sums) = sums {
                let (e, a) = unpack(sums[index].load(Relaxed));
                (sum_blocks[block][2 * i], sum_blocks[block][2 * i + 1]) = (e, a);
            }
        }
        Master {
            network,
            weights,
            sums,
            versions: (0..len).map(|_| AtomicU32::new(0)).collect(),
            blocks: blocks.into_iter().map(Mutex::new).collect(),
            sum_blocks: sum_blocks.into_iter().map(Mutex::new).collect(),
        }
    }

    /// Copies the weights back to the network.
    pub(crate) fn store(&self) {
        for (place, index) in indices(self.network) {
            let (block, i) = (place / BLOCK, place % BLOCK);
            self.weights[index].store(locked(&self.blocks[block])[i].to_bits(), Relaxed);
            if let Some(sums) = self.sums {
                let block = locked(&self.sum_blocks[block]);
                sums[index].store(pack((block[2 * i], block[2 * i + 1])), Relaxed);
            }
        }
    }

    /// The copy of one of `threads` threads; `None` if the network has no area for it.
    pub(crate) fn copy(&self, level: Level, thread: usize, threads: usize) -> Option<HotCopy<'a, '_>> {
        let lookups = self.network.private_lookups(thread)?;
        let len = self.blocks.len();
        let mut copy = HotCopy {
            master: self,
            level,
            lookups,
            agreed: vec![[0.0; BLOCK]; len],
            agreed_sums: vec![[0.0; 2 * BLOCK]; self.sum_blocks.len()],
            // A version that no block has, so that all blocks are copied from the master.
            versions: vec![u32::MAX; len],
            next_slice: 0,
            interval: (MOVES_BETWEEN_MERGES / (threads * threads) as u64 / SLICES).max(1),
        };
        copy.clear();
        copy.merge_all();
        Some(copy)
    }
}

impl HotCopy<'_, '_> {
    /// Merges the next slice of the weights with the master.
    pub(crate) fn merge_slice(&mut self) {
        let len = self.agreed.len() as u64;
        let bound = |slice: u64| (len * slice / SLICES) as usize;
        let blocks = bound(self.next_slice)..bound(self.next_slice + 1);
        self.next_slice = (self.next_slice + 1) % SLICES;
        dispatch(self.level, MergeChanged { copy: self, blocks });
    }

    /// Merges all weights with the master.
    pub(crate) fn merge_all(&mut self) {
        for block in 0..self.agreed.len() {
            self.merge(block, locked(&self.master.blocks[block]), true);
        }
    }

    /// The index of a block's first weight in the thread's area.
    #[inline(always)]
    fn first(&self, block: usize) -> usize {
        let network = self.master.network;
        let per_set = network.layout().private_len() as usize / BLOCK;
        self.lookups.area() + block / per_set * network.set_len() + block % per_set * BLOCK
    }

    /// Sets the area to zeros, like `agreed`.
    fn clear(&mut self) {
        for i in (0..self.agreed.len()).flat_map(|block| (0..BLOCK).map(move |i| (block, i))) {
            let i = self.first(i.0) + i.1;
            self.master.weights[i].store(0, Relaxed);
            self.master.sums.inspect(|sums| sums[i].store(0, Relaxed));
        }
    }

    /// Merges a block with the locked master's: adds what has `changed` here, and copies the result.
    fn merge(&mut self, block: usize, mut master_weights: MutexGuard<'_, Weights>, changed: bool) {
        let (master, first) = (self.master, self.first(block));
        let mine = &master.weights[first..][..BLOCK];
        let mut weights: Weights = std::array::from_fn(|i| f32::from_bits(mine[i].load(Relaxed)));
        merge_into(&mut master_weights, &mut weights, &mut self.agreed[block]);
        mine.iter().zip(weights).for_each(|(mine, weight)| mine.store(weight.to_bits(), Relaxed));
        if let Some(sums) = master.sums {
            let mine = &sums[first..][..BLOCK];
            let mut sums = [0.0; 2 * BLOCK];
            for (pair, mine) in sums.chunks_exact_mut(2).zip(mine) {
                (pair[0], pair[1]) = unpack(mine.load(Relaxed));
            }
            merge_into(&mut locked(&master.sum_blocks[block]), &mut sums, &mut self.agreed_sums[block]);
            for (pair, mine) in sums.chunks_exact(2).zip(mine) {
                mine.store(pack((pair[0], pair[1])), Relaxed);
            }
        }
        let version = master.versions[block].load(Relaxed).wrapping_add(u32::from(changed));
        master.versions[block].store(version, Release);
        self.versions[block] = version;
    }
}

/// Merges those blocks that have changed, here or in the master, and that no other thread has locked; the others wait
/// for the next turn. E and A hardly ever change alone, and can wait in that case.
struct MergeChanged<'a, 'b, 'c> {
    copy: &'a mut HotCopy<'b, 'c>,
    blocks: std::ops::Range<usize>,
}

impl Kernel for MergeChanged<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let MergeChanged { copy, blocks } = self;
        let master = copy.master;
        for block in blocks {
            let mine = &master.weights[copy.first(block)..];
            let changed = isa.differ(mine, &copy.agreed[block]);
            if changed || master.versions[block].load(Acquire) != copy.versions[block] {
                match master.blocks[block].try_lock() {
                    Ok(locked) => copy.merge(block, locked, changed),
                    Err(TryLockError::Poisoned(locked)) => copy.merge(block, locked.into_inner(), changed),
                    Err(TryLockError::WouldBlock) => {}
                }
            }
        }
    }
}

/// A panic elsewhere leaves usable numbers.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The weights of small tiles in all sets of tables: their indices in the master, and among all weights.
fn indices(network: &Network) -> impl Iterator<Item = (usize, usize)> + '_ {
    let (len, set_len) = (network.layout().private_len() as usize, network.set_len());
    (0..network.spec().sets()).flat_map(move |set| {
        let indices = network.layout().private_indices();
        indices.map(move |(place, index)| (set * len + place, set * set_len + index))
    })
}

/// Adds the changes to the master's numbers, and copies the result.
#[inline(always)]
fn merge_into<const L: usize>(master: &mut [f32; L], mine: &mut [f32; L], agreed: &mut [f32; L]) {
    for ((master, mine), agreed) in master.iter_mut().zip(&*mine).zip(&*agreed) {
        *master += mine - agreed;
    }
    (*mine, *agreed) = (*master, *master);
}
