//! The weights that make up the value of a board, once they have been found.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{Indices, Network, View};

/// Which network something belongs to. Indices are only ever used with the weights that they were found for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner(u64);

impl Owner {
    /// An owner that is no other.
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
    /// Which set of tables they are in: that of the board's stage, and of the action where there are several.
    #[inline(always)]
    pub fn set(&self) -> usize {
        self.set
    }

    /// Their indices in the set, lookup by lookup.
    pub fn indices(&self) -> &'a [Indices] {
        self.indices
    }

    /// The same weights in the tables of an action; these must be in those of the first one.
    #[inline(always)]
    pub fn of_action(self, action: usize) -> Self {
        Features { set: self.set + action, ..self }
    }
}

/// Room for the features of some boards of one network.
#[derive(Clone, Debug)]
pub struct FeatureSlots {
    owner: Owner,
    lookups: usize,
    /// Always those of some board.
    indices: Box<[Indices]>,
    sets: Box<[Set]>,
}

/// The set of a slot; in a cache line of its own, so that no two threads write to one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Set(usize);

impl FeatureSlots {
    /// So many slots, all with the features of the empty board.
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

    /// Puts features of the same network into a slot.
    ///
    /// # Panics
    /// When they are of another network.
    #[inline(always)]
    pub fn put(&mut self, slot: usize, features: Features<'_>) {
        assert!(features.owner == self.owner, "features of another network");
        self.sets[slot] = Set(features.set);
        // A loop, because a call to copy a few vectors costs more than they do.
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
