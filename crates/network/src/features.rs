//! The weights that make up the value of a board, once their indices are known.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Indices, Network, View};

/// Identifies the network that indices belong to, so that they are never used with another network's weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner(u64);

impl Owner {
    /// A new, unique owner.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Owner(NEXT.fetch_add(1, Relaxed))
    }
}

/// The weights that make up the value of a board.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    pub(crate) owner: Owner,
    pub(crate) set: usize,
    pub(crate) indices: &'a [Indices],
}

impl<'a> Features<'a> {
    /// The set of tables that holds them: that of the board's stage, and of the action if there are several.
    #[inline(always)]
    pub fn set(&self) -> usize {
        self.set
    }

    /// Their indices in the set, lookup by lookup.
    pub fn indices(&self) -> &'a [Indices] {
        self.indices
    }

    /// The same weights in the tables of another action; these must be those of the first one.
    #[inline(always)]
    pub fn of_action(self, action: usize) -> Self {
        Features { set: self.set + action, ..self }
    }
}

/// A buffer for the features of several boards of one network.
#[derive(Clone, Debug)]
pub struct FeatureSlots {
    owner: Owner,
    lookups: usize,
    /// Always valid: the indices of some board.
    indices: Box<[Indices]>,
    sets: Box<[Set]>,
}

/// The set of a slot, in a cache line of its own to avoid false sharing.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Set(usize);

impl FeatureSlots {
    /// Creates this many slots, all with the features of the empty board.
    pub fn new(network: &Network, slots: usize) -> Self {
        let empty = network.view().indices_of_empty();
        let lookups = empty.len();
        FeatureSlots {
            owner: network.view().owner,
            lookups,
            indices: std::iter::repeat_n(empty, slots).flatten().collect(),
            sets: vec![Set(0); slots].into(),
        }
    }

    /// The features in a slot.
    #[inline(always)]
    pub fn get(&self, slot: usize) -> Features<'_> {
        let indices = &self.indices[slot * self.lookups..][..self.lookups];
        Features { owner: self.owner, set: self.sets[slot].0, indices }
    }

    /// Stores features of the same network in a slot.
    ///
    /// # Panics
    /// If they belong to another network.
    #[inline(always)]
    pub fn put(&mut self, slot: usize, features: Features<'_>) {
        assert!(features.owner == self.owner, "features of another network");
        self.sets[slot] = Set(features.set);
        // A loop, because a call to copy a few vectors costs more than copying them.
        let kept = self.indices[slot * self.lookups..][..self.lookups].iter_mut();
        kept.zip(features.indices).for_each(|(kept, &new)| *kept = new);
    }

    /// The indices of a slot, to be overwritten with those of a board in this set of tables.
    #[inline(always)]
    pub(crate) fn slot_of(&mut self, view: &View<'_>, slot: usize, set: usize) -> &mut [Indices] {
        assert!(view.owner == self.owner, "slots of another network");
        self.sets[slot] = Set(set);
        &mut self.indices[slot * self.lookups..][..self.lookups]
    }
}
