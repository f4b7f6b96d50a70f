//! Temporal coherence, TC: jaskowski-2016, Algorithms 2 and 4 (after Beal and Smith 1999).
//!
//! Every weight has a rate αᵢ = |Eᵢ|/Aᵢ (1 while Aᵢ = 0) from the sum E of its errors and the sum A
//! of their absolute values: it stays high while the errors agree in sign.
//!
//! Differences from the paper:
//! 1. E and A of a weight are one 64-bit word, apart from V: only updates touch them, and a word is
//!    never seen half written by another thread.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use afterstate_network::{Isa, Lookup, Mapped, MemoryError, Positions};

use super::StepSize;
use crate::private_hot::{pack, unpack};

/// V ← V + β·(αᵢ/m)·step, E ← E + error, A ← A + |error|.
pub struct TemporalCoherence {
    /// E in the lower half of each word, A in the upper.
    sums: Mapped<AtomicU64>,
}

impl TemporalCoherence {
    /// E = A = 0 for every weight.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(weights: u64) -> Result<Self, MemoryError> {
        Ok(TemporalCoherence { sums: Mapped::zeroed(weights as usize)? })
    }

    /// E and A of the weight at a position.
    pub fn sums(&self, position: usize) -> (f32, f32) {
        unpack(self.sums.as_slice()[position].load(Relaxed))
    }

    /// Sets E and A of the weight at a position.
    pub fn set_sums(&self, position: usize, e: f32, a: f32) {
        self.sums.as_slice()[position].store(pack(e, a), Relaxed);
    }
}

impl StepSize for TemporalCoherence {
    #[inline(always)]
    unsafe fn update<I: Isa>(
        &self,
        weights: &[AtomicU32],
        start: usize,
        lookup: &Lookup,
        positions: &Positions,
        step: f32,
        error: f32,
    ) {
        let (weights, sums) = (&weights[start..], &self.sums.as_slice()[start..]);
        // SAFETY: as the caller; there are as many sums as weights.
        unsafe { I::update_coherently(weights, sums, lookup, positions, step, error) };
    }

    #[inline(always)]
    fn state(&self) -> Option<&[AtomicU64]> {
        Some(self.sums.as_slice())
    }

    fn temporal_coherence(&self) -> Option<&TemporalCoherence> {
        Some(self)
    }
}
