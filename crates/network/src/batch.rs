//! The values of many afterstates at once: what a search has at its leaves.
//!
//! Weights are asked for as soon as their places are known, and summed when those of the others have been asked for
//! too: the memory then works on dozens of them at a time, not only on those of the next loads.

use afterstate_game::Afterstate;

use crate::{Encoding, Features, Isa, Positions, View};

/// The most lookups whose weights are under way. Their positions are 8 KB, and the lines of more weights would not stay
/// in a first-level cache.
const ROOM: usize = 128;

/// Room for the positions of afterstates whose weights are under way.
#[derive(Default)]
pub struct Batch {
    positions: Vec<Positions>,
}

impl View<'_> {
    /// Adds the value of each afterstate to the number at its place: the same bits as by [`Self::value`].
    ///
    /// # Safety
    /// The instruction set must be there (see [`Kernel`](crate::Kernel)).
    #[inline(always)]
    pub unsafe fn add_values<I: Isa, const N: usize>(
        &self,
        batch: &mut Batch,
        afterstates: &[Afterstate<N>],
        sums: &mut [f32],
    ) {
        // SAFETY: as the caller.
        unsafe {
            if self.lookups.len() == 2 && self.encoding == Encoding::Nibbles && self.is_large {
                // The most frequent kind of network, 4x6, has a loop of its own, without branches.
                let mut view = self.with_lookups(&self.lookups[..2]);
                (view.encoding, view.is_large) = (Encoding::Nibbles, true);
                view.add_batches::<I, N>(batch, afterstates, sums);
            } else {
                self.add_batches::<I, N>(batch, afterstates, sums);
            }
        }
    }

    /// Does that for as many afterstates at a time as there is room for.
    ///
    /// # Safety
    /// As for [`Self::add_values`].
    #[inline(always)]
    unsafe fn add_batches<I: Isa, const N: usize>(
        &self,
        batch: &mut Batch,
        afterstates: &[Afterstate<N>],
        sums: &mut [f32],
    ) {
        let lookups = self.lookups.len();
        let size = (ROOM / lookups).max(1);
        if batch.positions.len() < size * lookups {
            batch.positions.resize(size * lookups, Positions::default());
        }
        for (afterstates, sums) in afterstates.chunks(size).zip(sums.chunks_mut(size)) {
            for (afterstate, positions) in afterstates.iter().zip(batch.positions.chunks_exact_mut(lookups)) {
                // SAFETY: as the caller.
                unsafe { self.look_up::<I>(&afterstate.board().bytes(), positions) };
            }
            let places = batch.positions.chunks_exact(lookups);
            for ((afterstate, sum), positions) in afterstates.iter().zip(sums).zip(places) {
                let set = self.set_of(&afterstate.board().bytes());
                // SAFETY: as the caller; the positions are this view's.
                *sum += unsafe { self.sum::<I>(Features { set, positions }) };
            }
        }
    }
}
