//! The values of many afterstates at once: what a search has at its leaves.
//!
//! Weights are asked for as soon as their places are known, and summed when those of the others have been asked for
//! too: the memory then works on dozens of them at a time, not only on those of the next gathers.

use afterstate_game::Afterstate;

use crate::{Features, Isa, LANES, Positions, View, prefetch};

/// The number of lookups whose positions are kept: 8 KB, a quarter of a first-level cache.
const ROOM: usize = 128;

/// Room for the positions of afterstates whose weights are under way.
pub struct Batch {
    positions: Box<[Positions]>,
}

impl Default for Batch {
    fn default() -> Self {
        Batch { positions: vec![Positions::default(); ROOM].into() }
    }
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
        let lookups = self.lookups.len();
        let size = (ROOM / lookups).max(1);
        for (afterstates, sums) in afterstates.chunks(size).zip(sums.chunks_mut(size)) {
            let places = batch.positions.chunks_exact_mut(lookups);
            for (afterstate, positions) in afterstates.iter().zip(places) {
                let board = afterstate.board().bytes();
                // SAFETY: as the caller.
                unsafe { self.ask_for::<I>(self.set_of(&board), &board, positions) };
            }
            let places = batch.positions.chunks_exact(lookups);
            for ((afterstate, sum), positions) in afterstates.iter().zip(sums).zip(places) {
                let set = self.set_of(&afterstate.board().bytes());
                // SAFETY: as the caller; the positions are this view's.
                *sum += unsafe { self.sum::<I>(Features { set, positions }) };
            }
        }
    }

    /// Finds the positions of a board's weights, and asks for the weights.
    ///
    /// # Safety
    /// As for [`Self::add_values`].
    #[inline(always)]
    unsafe fn ask_for<I: Isa>(&self, set: usize, board: &[u8; 16], positions: &mut [Positions]) {
        for (lookup, positions) in self.lookups.iter().zip(positions) {
            // SAFETY: as the caller.
            *positions = unsafe { I::positions(board, self.encoding, lookup) };
            let base = self.weights.as_ptr().wrapping_add(self.start(set)).wrapping_offset(lookup.base());
            for &position in &positions.0[..LANES / 2] {
                prefetch(base.wrapping_offset(position as isize));
            }
        }
    }
}
