//! Temporal coherence, TC: jaskowski-2016, Algorithms 2 and 4 (after Beal and Smith 1999).
//!
//! Every weight has a rate αᵢ = |Eᵢ|/Aᵢ (1 while Aᵢ = 0) from the sum E of its errors and the sum A
//! of their absolute values: it stays high while the errors agree in sign.
//!
//! Differences from the paper:
//! 1. E and A of a weight are one 64-bit word, apart from V: only updates touch them, and a word is
//!    never seen half written by another thread.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use afterstate_network::{Features, Isa, Mapped, MemoryError, View};

use super::{Numbers, StepSize, pack, unpack};

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
    fn sums(&self, position: usize) -> (f32, f32) {
        unpack(self.sums.as_slice()[position].load(Relaxed))
    }

    /// Sets E and A of the weight at a position.
    fn set_sums(&self, position: usize, e: f32, a: f32) {
        self.sums.as_slice()[position].store(pack(e, a), Relaxed);
    }

    /// Starts anew with E = A = 0 (terauchi-2025, 5.2).
    pub(crate) fn reset(&mut self) {
        self.sums.clear();
    }

    /// E and A of every weight, to be kept.
    pub(crate) fn numbers(&self) -> Vec<Numbers<'_>> {
        let e = move |p: usize, e: f32| self.set_sums(p, e, self.sums(p).1);
        let a = move |p: usize, a: f32| self.set_sums(p, self.sums(p).0, a);
        vec![Numbers::new("E", |p| self.sums(p).0, e), Numbers::new("A", |p| self.sums(p).1, a)]
    }
}

impl StepSize for TemporalCoherence {
    #[inline(always)]
    unsafe fn update<I: Isa>(
        &self,
        view: &View<'_>,
        features: Features<'_>,
        rate: f32,
        step: f32,
        error: f32,
    ) {
        let start = view.start(features.set);
        let (weights, sums) = (&view.weights[start..], &self.sums.as_slice()[start..]);
        for (positions, lookup) in features.positions.iter().zip(view.lookups) {
            // SAFETY: as the caller; there are as many sums as weights.
            unsafe { I::update_coherently(weights, sums, lookup, positions, rate * step, error) };
        }
    }

    #[inline(always)]
    fn state(&self) -> Option<&[AtomicU64]> {
        Some(self.sums.as_slice())
    }
}
