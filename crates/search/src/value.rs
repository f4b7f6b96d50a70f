//! What a search needs to know of the values at its leaves.

use afterstate_game::Afterstate;
use afterstate_network::{Batch, Isa, View};

/// A value function V(s') over afterstates: the score that is still to come.
pub trait ValueFunction {
    /// The value of an afterstate, given by the sixteen bytes of its board.
    ///
    /// # Safety
    /// Inside a [`Kernel`](afterstate_network::Kernel) only: the instruction set must be there.
    unsafe fn value<I: Isa>(&self, board: &[u8; 16]) -> f32;

    /// Adds the value of each afterstate to the number at its place; `batch` is room to work in.
    ///
    /// # Safety
    /// As for [`Self::value`].
    #[inline(always)]
    unsafe fn add_values<I: Isa, const N: usize>(
        &self,
        _batch: &mut Batch,
        afterstates: &[Afterstate<N>],
        sums: &mut [f32],
    ) {
        for (afterstate, sum) in afterstates.iter().zip(sums) {
            // SAFETY: as the caller.
            *sum += unsafe { self.value::<I>(&afterstate.board().bytes()) };
        }
    }
}

impl ValueFunction for View<'_> {
    #[inline(always)]
    unsafe fn value<I: Isa>(&self, board: &[u8; 16]) -> f32 {
        // SAFETY: as the caller.
        unsafe { View::value::<I>(self, board) }
    }

    #[inline(always)]
    unsafe fn add_values<I: Isa, const N: usize>(
        &self,
        batch: &mut Batch,
        afterstates: &[Afterstate<N>],
        sums: &mut [f32],
    ) {
        // SAFETY: as the caller.
        unsafe { View::add_values::<I, N>(self, batch, afterstates, sums) }
    }
}
