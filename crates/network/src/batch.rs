//! The values of many afterstates at once: what a search has at its leaves.
//!
//! Weights are prefetched as soon as their indices are known, and summed when those of the others have been prefetched
//! too: the memory then works on dozens of them at a time, not only on those of the next loads.

use afterstate_game::Afterstate;

use crate::{Indices, Isa, Kernel, Level, Network, View, dispatch};

/// The most lookups whose weights are being prefetched. Their indices are 8 KB, and the lines of more weights would not stay
/// in a first-level cache.
const ROOM: usize = 128;

/// A scratch buffer for the indices of afterstates whose weights are being prefetched.
#[derive(Default)]
pub struct Batch {
    indices: Vec<Indices>,
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
        if batch.indices.len() < size * lookups {
            batch.indices.resize(size * lookups, Indices::default());
        }
        for (afterstates, sums) in afterstates.chunks(size).zip(sums.chunks_mut(size)) {
            for (afterstate, indices) in afterstates.iter().zip(batch.indices.chunks_exact_mut(lookups)) {
                let board = afterstate.board().bytes();
                self.look_up_in(isa, self.set_of(&board), &board, indices);
            }
            let found = batch.indices.chunks_exact(lookups);
            for ((afterstate, sum), indices) in afterstates.iter().zip(sums).zip(found) {
                let set = self.set_of(&afterstate.board().bytes());
                // SAFETY: just looked up by this view.
                *sum += unsafe { self.sum_in(isa, set, indices) };
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
