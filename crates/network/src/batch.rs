//! The values of many afterstates at once: what a search has at its leaves.
//!
//! Weights are asked for as soon as their places are known, and summed when those of the others have been asked for
//! too: the memory then works on dozens of them at a time, not only on those of the next loads.

use afterstate_game::Afterstate;

use crate::{Isa, Kernel, Level, Network, Positions, View, dispatch};

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

impl Network {
    /// The value of each afterstate, the same bits as by [`Self::value`], in a network of afterstates.
    ///
    /// # Panics
    /// When the boards are not of the network's side, or there is not one number for each.
    pub fn values<const N: usize>(&self, afterstates: &[Afterstate<N>], values: &mut [f32]) {
        assert_eq!(N, self.spec().side, "the boards and the network differ in size");
        assert_eq!(afterstates.len(), values.len(), "a value for each afterstate");
        values.fill(0.0);
        dispatch(Level::best(), Values { view: self.view(), afterstates, values });
    }
}

struct Values<'a, const N: usize> {
    view: View<'a>,
    afterstates: &'a [Afterstate<N>],
    values: &'a mut [f32],
}

impl<const N: usize> Kernel for Values<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.view.add_values(isa, &mut Batch::default(), self.afterstates, self.values);
    }
}
