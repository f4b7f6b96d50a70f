//! The values of many afterstates at once: what a search has at its leaves.
//!
//! Weights are asked for as soon as their places are known, and summed later, when those of the others have been asked
//! for too: the memory then works on dozens of them at a time, not only on those of the next gathers.

use afterstate_game::Afterstate;

use crate::{Encoding, Features, Isa, LANES, Lookup, Positions, View, prefetch};

/// The most lookups whose weights are under way. Their positions are 8 KB, and more lines would not stay in a
/// first-level cache.
const ROOM: usize = 128;

/// The positions of afterstates whose weights are under way.
pub struct Batch {
    positions: Box<[Positions]>,
}

impl Default for Batch {
    fn default() -> Self {
        Batch { positions: vec![Positions::default(); ROOM].into() }
    }
}

impl View<'_> {
    /// Asks for the weights of afterstates, as many as there is room for.
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`](crate::Kernel)).
    #[inline(always)]
    pub unsafe fn ask_for<I: Isa, const N: usize>(&self, batch: &mut Batch, afterstates: &[Afterstate<N>]) {
        // SAFETY: as the caller.
        unsafe {
            match self.lookups {
                // The most frequent kind of network has a loop of its own, without branches.
                [a, b] if self.encoding == Encoding::Nibbles => {
                    self.ask_by::<I, N>([a, b], Encoding::Nibbles, batch, afterstates);
                }
                lookups => self.ask_by::<I, N>(lookups, self.encoding, batch, afterstates),
            }
        }
    }

    /// Asks for weights by these lookups.
    ///
    /// # Safety
    /// As for [`Self::ask_for`].
    #[inline(always)]
    unsafe fn ask_by<'a, I: Isa, const N: usize>(
        &self,
        lookups: impl IntoIterator<Item = &'a Lookup> + Copy,
        encoding: Encoding,
        batch: &mut Batch,
        afterstates: &[Afterstate<N>],
    ) {
        let places = batch.positions.chunks_exact_mut(self.lookups.len());
        for (afterstate, positions) in afterstates.iter().zip(places) {
            let board = afterstate.board().bytes();
            let first = self.weights.as_ptr().wrapping_add(self.start(self.set_of(&board)));
            for (lookup, positions) in lookups.into_iter().zip(positions) {
                // SAFETY: as the caller.
                *positions = unsafe { I::positions(&board, encoding, lookup) };
                // The second half of the lanes belongs to the other tuple of a pair, whose weights mostly share
                // the lines of the first.
                for &position in &positions.0[..LANES / 2] {
                    prefetch(first.wrapping_offset(lookup.base() + position as isize));
                }
            }
        }
    }

    /// Adds the value of each afterstate to the number at its place: the same bits as by [`Self::value`].
    ///
    /// # Safety
    /// As for [`Self::ask_for`], which must have been called last for this batch with these afterstates.
    #[inline(always)]
    pub unsafe fn add_values<I: Isa, const N: usize>(
        &self,
        batch: &mut Batch,
        afterstates: &[Afterstate<N>],
        sums: &mut [f32],
    ) {
        let places = batch.positions.chunks_exact(self.lookups.len());
        let asked = places.len();
        for ((afterstate, sum), positions) in afterstates.iter().zip(sums.iter_mut()).zip(places) {
            let set = self.set_of(&afterstate.board().bytes());
            // SAFETY: as the caller; the positions are this view's.
            *sum += unsafe { self.sum::<I>(Features { set, positions }) };
        }
        for (afterstate, sum) in afterstates.iter().zip(sums).skip(asked) {
            // SAFETY: as the caller.
            *sum += unsafe { self.value::<I>(&afterstate.board().bytes()) };
        }
    }
}
