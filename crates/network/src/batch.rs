//! The values of many afterstates at once: what a search has at its leaves.
//!
//! Weights are asked for as soon as their places are known, and summed when those of the others have been asked for
//! too: the memory then works on dozens of them at a time, not only on those of the next loads.

use afterstate_game::Afterstate;

use crate::{Isa, Positions, View};

/// The most lookups whose weights are under way. Their positions are 8 KB, and the lines of more weights would not stay
/// in a first-level cache.
const ROOM: usize = 128;

/// Room for the positions of afterstates whose weights are under way.
#[derive(Default)]
pub struct Batch {
    positions: Vec<Positions>,
}

impl View<'_> {
    /// Adds the value of each afterstate to the number at its index: the same bits as by [`Self::value`].
    #[inline(always)]
    pub fn add_values<I: Isa, const N: usize>(
        &self,
        isa: I,
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
                let board = afterstate.board().bytes();
                self.look_up_in(isa, self.set_of(&board), &board, positions);
            }
            let found = batch.positions.chunks_exact(lookups);
            for ((afterstate, sum), positions) in afterstates.iter().zip(sums).zip(found) {
                let set = self.set_of(&afterstate.board().bytes());
                // SAFETY: just looked up by this view.
                *sum += unsafe { self.sum_in(isa, set, positions) };
            }
        }
    }
}
