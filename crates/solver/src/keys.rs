//! Sets of boards with the same sum of tiles: sorted 32-bit keys, with an index for lookups.

use crate::{
    threads::{divide, worthwhile},
    word::Word,
};

/// An odd factor that scatters words evenly over the keys (2³² divided by the golden ratio).
const FACTOR: u32 = 0x9e37_79b1;

/// Its inverse modulo 2³²: each step of Newton's method doubles the number of correct bits.
const INVERSE: u32 = {
    let mut inverse = FACTOR;
    let mut right_bits = 3;
    while right_bits < 32 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(FACTOR.wrapping_mul(inverse)));
        right_bits *= 2;
    }
    inverse
};

/// The key of a board among those with the same sum of tiles. Keys are spread evenly, so their
/// upper bits approximate their position in a sorted list.
#[inline(always)]
pub(crate) fn key<const N: usize>(word: Word<N>) -> u32 {
    const { assert!(N * N * 4 - 4 <= 32, "the cells of a key fit into its 32 bits") };
    word.without_last().wrapping_mul(FACTOR)
}

/// The board of a key.
#[inline(always)]
pub(crate) fn word<const N: usize>(key: u32, sum: u32) -> Word<N> {
    Word::with_sum(key.wrapping_mul(INVERSE), sum)
}

/// The number of upper bits by which keys are distributed before sorting.
pub(crate) const SHARD_BITS: u32 = 6;

/// Keys to be sorted, distributed by their upper bits.
#[derive(Clone)]
pub(crate) struct Batch<T>(Vec<Vec<T>>);

/// An item with a key.
pub(crate) trait Keyed: Copy + Send + Sync {
    fn key(&self) -> u32;
}

impl Keyed for u32 {
    fn key(&self) -> u32 {
        *self
    }
}

impl<T: Keyed> Batch<T> {
    pub(crate) fn new() -> Self {
        Batch(vec![Vec::new(); 1 << SHARD_BITS])
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, item: T) {
        self.0[(item.key() >> (32 - SHARD_BITS)) as usize].push(item);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Joins batches into one sorted list. `merge` receives the items whose keys have the same upper bits, in
    /// the order of the batches, and reduces them to those to keep.
    pub(crate) fn gather(batches: &[Self], threads: usize, merge: impl Fn(&mut Vec<T>) + Sync) -> Vec<T> {
        let total: usize = batches.iter().flat_map(|batch| &batch.0).map(Vec::len).sum();
        let threads = worthwhile(threads, total);
        let parts = divide(threads, 1 << SHARD_BITS, |shards| {
            let mut sorted = Vec::with_capacity(total / threads);
            let mut shard = Vec::new();
            for i in shards {
                shard.clear();
                batches.iter().for_each(|batch| shard.extend_from_slice(&batch.0[i]));
                merge(&mut shard);
                sorted.extend_from_slice(&shard);
            }
            sorted
        });
        parts.concat()
    }
}

/// An index into a sorted list of keys.
pub(crate) struct Index {
    shift: u32,
    starts: Vec<u32>,
}

impl Index {
    /// An index of `len` sorted keys, with about one entry for each.
    pub(crate) fn new(keys: impl Iterator<Item = u32>, len: usize) -> Self {
        let bits = len.checked_ilog2().unwrap_or(0);
        let shift = 32 - bits;
        let mut starts = Vec::with_capacity((1 << bits) + 1);
        for (i, key) in keys.enumerate() {
            let bucket = (u64::from(key) >> shift) as usize;
            while starts.len() <= bucket {
                starts.push(i as u32);
            }
        }
        starts.resize((1 << bits) + 1, len as u32);
        Index { shift, starts }
    }

    /// The position of a key, given the keys by position.
    #[inline(always)]
    pub(crate) fn find(&self, key: u32, keys: impl Fn(usize) -> u32) -> Option<usize> {
        let bucket = (u64::from(key) >> self.shift) as usize;
        (self.starts[bucket] as usize..self.starts[bucket + 1] as usize).find(|&i| keys(i) == key)
    }
}
