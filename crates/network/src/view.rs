//! A network as hot loops use it: values of boards, sums of weights, and updates.
//!
//! The API is safe: indices come from the view's own lookups, so they are inside its weights, and features are checked to
//! belong to the network.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::{
    Encoding, FeatureSlots, Features, Indices, Isa, Kernel, LANES, Level, Lookup, Rule, Stages, dispatch,
    features::Owner,
    prefetch,
    weight_promotion::{Promotion, Source, Sum},
};

/// The weights, and the lookups that find a board's weights among them.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(crate) owner: Owner,
    /// All weights.
    pub(crate) weights: &'a [AtomicU32],
    /// The lookups, shared by all sets of tables.
    pub(crate) lookups: &'a [Lookup],
    pub(crate) encoding: Encoding,
    pub(crate) stages: &'a Stages,
    pub(crate) sets_per_stage: usize,
    pub(crate) set_len: usize,
    pub(crate) initial: &'a [f32],
    pub(crate) promotion: Promotion,
    /// The first set whose weights are promoted.
    pub(crate) promoted_from: usize,
    /// Whether a set's weights exceed a core's private caches.
    pub(crate) is_large: bool,
}

/// The lookups of a thread that keeps the weights of small tiles in a private area, after those of each set.
pub struct PrivateLookups {
    pub(crate) owner: Owner,
    pub(crate) area: usize,
    pub(crate) lookups: Vec<Lookup>,
}

impl PrivateLookups {
    /// The offset of the area in each set of tables.
    pub fn area(&self) -> usize {
        self.area
    }
}

impl<'a> View<'a> {
    /// The network for a thread with private lookups.
    ///
    /// # Panics
    /// If they belong to another network.
    pub fn with_private(self, private: &'a PrivateLookups) -> Self {
        assert!(private.owner == self.owner, "lookups of another network");
        View { lookups: &private.lookups, ..self }
    }

    /// All weights, set by set.
    #[inline(always)]
    pub fn weights(&self) -> &'a [AtomicU32] {
        self.weights
    }

    /// The index of a set's first weight.
    #[inline(always)]
    fn start(&self, set: usize) -> usize {
        set * self.set_len
    }

    /// The weights of a set.
    #[inline(always)]
    pub(crate) fn weights_of(&self, set: usize) -> &'a [AtomicU32] {
        &self.weights[self.start(set)..][..self.set_len]
    }

    /// The set of tables for a board: that of its stage and of the first action.
    #[inline(always)]
    pub fn set_of(&self, board: &[u8; 16]) -> usize {
        self.stages.of(board) * self.sets_per_stage
    }

    /// The stage of a board.
    #[inline(always)]
    pub fn stage_of(&self, board: &[u8; 16]) -> usize {
        self.stages.of(board)
    }

    /// Finds the weights of a board and returns their sum, its value; if there are several actions, that of the first.
    #[inline(always)]
    pub fn find<I: Isa>(&self, isa: I, board: &[u8; 16], slots: &mut FeatureSlots, slot: usize) -> f32 {
        let set = self.set_of(board);
        let found = slots.slot_of(self, slot, set);
        if set >= self.promoted_from {
            return self.promoted(isa, set, Source::Board(board, Some(found)));
        }
        let weights = self.weights_of(set);
        let mut sums = isa.zero();
        for (lookup, indices) in self.lookups.iter().zip(found) {
            *indices = isa.indices(board, self.encoding, lookup);
            // SAFETY: the lookup belongs to the view.
            sums = isa.add(sums, unsafe { isa.gather(weights, lookup, indices, lookup.live_lanes()) });
        }
        self.initial[set] + isa.total(sums)
    }

    /// Finds the weights of a board, by a given instruction set.
    ///
    /// # Panics
    /// If the processor lacks the instructions.
    pub fn find_at(&self, level: Level, board: &[u8; 16], slots: &mut FeatureSlots, slot: usize) -> f32 {
        struct Find<'a>(&'a View<'a>, &'a [u8; 16], &'a mut FeatureSlots, usize);
        impl Kernel for Find<'_> {
            type Output = f32;
            #[inline(always)]
            fn run<I: Isa>(self, isa: I) -> f32 {
                self.0.find(isa, self.1, self.2, self.3)
            }
        }
        dispatch(level, Find(self, board, slots, slot))
    }

    /// Finds the weights of a board and prefetches them.
    #[inline(always)]
    pub fn look_up<I: Isa>(&self, isa: I, board: &[u8; 16], slots: &mut FeatureSlots, slot: usize) {
        let set = self.set_of(board);
        self.look_up_in(isa, set, board, slots.slot_of(self, slot, set));
    }

    /// Finds the indices of a board's weights in a set of tables, and prefetches the weights.
    #[inline(always)]
    pub(crate) fn look_up_in<I: Isa>(&self, isa: I, set: usize, board: &[u8; 16], indices: &mut [Indices]) {
        let weights = self.weights.as_ptr().wrapping_add(self.start(set));
        for (lookup, indices) in self.lookups.iter().zip(indices) {
            *indices = isa.indices(board, self.encoding, lookup);
            if self.is_large {
                // Unused lanes prefetch unneeded weights, which is harmless.
                let weights = weights.wrapping_offset(lookup.base());
                indices.0.iter().for_each(|&index| prefetch(weights.wrapping_offset(index as isize)));
            }
        }
    }

    /// The indices of the empty board's weights: valid indices.
    pub(crate) fn indices_of_empty(&self) -> Vec<Indices> {
        struct Empty<'a>(&'a View<'a>);
        impl Kernel for Empty<'_> {
            type Output = Vec<Indices>;
            #[inline(always)]
            fn run<I: Isa>(self, isa: I) -> Vec<Indices> {
                let indices = |lookup| isa.indices(&[0; 16], self.0.encoding, lookup);
                self.0.lookups.iter().map(indices).collect()
            }
        }
        dispatch(Level::Portable, Empty(self))
    }

    /// The value of a board, for callers that do not need its features.
    #[inline(always)]
    pub fn value<I: Isa>(&self, isa: I, board: &[u8; 16]) -> f32 {
        let set = self.set_of(board);
        if set >= self.promoted_from {
            return self.promoted(isa, set, Source::Board(board, None));
        }
        let weights = self.weights_of(set);
        let mut sums = isa.zero();
        for lookup in self.lookups {
            let indices = isa.indices(board, self.encoding, lookup);
            // SAFETY: the lookup belongs to the view.
            sums = isa.add(sums, unsafe { isa.gather(weights, lookup, &indices, lookup.live_lanes()) });
        }
        self.initial[set] + isa.total(sums)
    }

    /// The value of features: the sum of their weights.
    #[inline(always)]
    pub fn sum<I: Isa>(&self, isa: I, features: Features<'_>) -> f32 {
        self.check(features);
        // SAFETY: checked above.
        unsafe { self.sum_in(isa, features.set, features.indices) }
    }

    /// The sum of the weights at indices in a set of tables.
    ///
    /// # Safety
    /// The indices must come from this view.
    #[inline(always)]
    pub(crate) unsafe fn sum_in<I: Isa>(&self, isa: I, set: usize, indices: &[Indices]) -> f32 {
        if set >= self.promoted_from {
            return self.promoted(isa, set, Source::Indices(indices));
        }
        let weights = self.weights_of(set);
        let mut sums = isa.zero();
        for (lookup, indices) in self.lookups.iter().zip(indices) {
            // SAFETY: the caller guarantees it.
            sums = isa.add(sums, unsafe { isa.gather(weights, lookup, indices, lookup.live_lanes()) });
        }
        self.initial[set] + isa.total(sums)
    }

    /// Adds a number to each of these weights, one after the other: on a symmetric board a weight occurs several times.
    #[inline(always)]
    pub fn add(&self, features: Features<'_>, number: f32) {
        self.check(features);
        let weights = self.weights_of(features.set).as_ptr();
        for (indices, lookup) in features.indices.iter().zip(self.lookups) {
            let table = weights.wrapping_offset(lookup.base());
            let add = |lane: usize| {
                // SAFETY: features of this network, and the lane is live.
                let weight = unsafe { &*table.wrapping_offset(indices.0[lane] as isize) };
                weight.store((f32::from_bits(weight.load(Relaxed)) + number).to_bits(), Relaxed);
            };
            if lookup.live() == LANES {
                (0..LANES).for_each(add);
            } else {
                (0..lookup.live()).for_each(add);
            }
        }
    }

    /// Updates each of these weights, and the pair of numbers that belongs to it, by a rule, one after the other. `pairs`
    /// must hold a pair for each of all weights, in their order.
    #[inline(always)]
    pub fn update<I: Isa>(&self, isa: I, features: Features<'_>, pairs: &[AtomicU64], rule: impl Rule) {
        self.check(features);
        assert!(pairs.len() == self.weights.len(), "a pair for each weight");
        let weights = self.weights_of(features.set);
        let pairs = &pairs[self.start(features.set)..][..self.set_len];
        for (indices, lookup) in features.indices.iter().zip(self.lookups) {
            // SAFETY: features of this network, and there are as many pairs as weights.
            unsafe { isa.update(weights, pairs, lookup, indices, rule) };
        }
    }

    /// Prefetches the pairs of these weights.
    #[inline(always)]
    pub fn prefetch(&self, features: Features<'_>, pairs: &[AtomicU64]) {
        let pairs = pairs.as_ptr().wrapping_add(self.start(features.set));
        for (indices, lookup) in features.indices.iter().zip(self.lookups) {
            let pairs = pairs.wrapping_offset(lookup.base());
            for &index in &indices.0[..lookup.live()] {
                prefetch(pairs.wrapping_offset(index as isize));
            }
        }
    }

    /// Calls a function with the index, among all weights, of each of these weights, in order.
    #[inline(always)]
    pub fn for_each_index(&self, features: Features<'_>, mut each: impl FnMut(usize)) {
        let start = self.start(features.set) as isize;
        for (lookup, indices) in self.lookups.iter().zip(features.indices) {
            for &index in &indices.0[..lookup.live()] {
                each((start + lookup.base() + index as isize) as usize);
            }
        }
    }

    /// Calls a function with the index, among all weights, of each of these weights and its number of occurrences, in order
    /// of first occurrence. Only images of one tuple can share a weight, and these are in one lookup.
    #[inline(always)]
    pub fn for_each_weight(&self, features: Features<'_>, mut each: impl FnMut(usize, f32)) {
        let start = self.start(features.set) as isize;
        for (lookup, indices) in self.lookups.iter().zip(features.indices) {
            let indices = &indices.0[..lookup.live()];
            for (lane, index) in indices.iter().enumerate() {
                if indices[..lane].contains(index) {
                    continue;
                }
                let times = indices[lane..].iter().filter(|other| *other == index).count();
                each((start + lookup.base() + *index as isize) as usize, times as f32);
            }
        }
    }

    /// Rejects features of another network.
    #[inline(always)]
    fn check(&self, features: Features<'_>) {
        assert!(features.owner == self.owner, "features of another network");
    }

    /// The value in a set of tables with weight promotion; out of line.
    #[inline(always)]
    fn promoted<I: Isa>(&self, isa: I, set: usize, source: Source<'_>) -> f32 {
        self.initial[set] + isa.run_apart(Sum { view: self, set, source })
    }
}
