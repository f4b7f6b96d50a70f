//! What a search needs to know of the values at its leaves.

use afterstate_network::{Isa, View};

/// A value function V(s') over afterstates: the score that is still to come.
pub trait ValueFunction {
    /// The value of an afterstate, given by the sixteen bytes of its board.
    ///
    /// # Safety
    /// Inside a [`Kernel`](afterstate_network::Kernel) only: the instruction set must be there.
    unsafe fn value<I: Isa>(&self, board: &[u8; 16]) -> f32;
}

impl ValueFunction for View<'_> {
    #[inline(always)]
    unsafe fn value<I: Isa>(&self, board: &[u8; 16]) -> f32 {
        // SAFETY: as the caller.
        unsafe { View::value::<I>(self, board) }
    }
}
