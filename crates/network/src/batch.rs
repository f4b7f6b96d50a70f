//! The values of many afterstates at once, for the leaves of a search.
//!
//! Weights are prefetched as soon as their indices are known, and summed only after those of the other afterstates have
//! been prefetched too, so that dozens of memory accesses are in flight at a time.

use afterstate_game::Afterstate;

use crate::{Indices, Isa, Kernel, Level, Network, View, dispatch};

/// The maximum number of lookups whose weights are being prefetched. Their indices take 8 KB; the cache lines of more
/// weights would not stay in a first-level cache.
const ROOM: usize = 128;

/// A scratch buffer for the indices of afterstates whose weights are being prefetched.
#[derive(Default)]
pub struct Batch {
    indices: Vec<Indices>,
}

impl View<'_> {
    /// Adds the value of each afterstate to the number at its index. The bits are those of [`Self::value`].
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
                // SAFETY: this view has just computed the indices.
                *sum += unsafe { self.sum_in(isa, set, indices) };
            }
        }
    }
}

impl Network {
    /// The value of each afterstate, with the bits of [`Self::value`], in a network of afterstates.
    ///
    /// # Panics
    /// If the boards do not have the network's side, or the slices differ in length.
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
