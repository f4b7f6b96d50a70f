//! Temporal coherence, TC: jaskowski-2016, Algorithms 2 and 4 (after Beal and Smith 1999).
//!
//! Every weight has a rate αᵢ = |Eᵢ|/Aᵢ (1 while Aᵢ = 0) from the sum E of its errors and the sum A
//! of their absolute values: it stays high while the errors agree in sign.
//!
//! Differences from the paper:
//! 1. E and A of a weight form one 64-bit word, separate from V: only updates access them, and other threads
//!    never see a half-written word.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use afterstate_network::{Features, Isa, Lanes, Mapped, MemoryError, Rule, View, pack, unpack};

use super::WeightNumbers;

/// V ← V + β·(αᵢ/m)·step, E ← E + error, A ← A + |error|.
#[derive(Clone, Copy)]
struct Coherence {
    /// β/m·step.
    step: f32,
    error: f32,
}

impl Rule for Coherence {
    #[inline(always)]
    fn apply<L: Lanes>(self, v: L, (e, a): (L, L)) -> (L, (L, L)) {
        let rate = e.abs().divided_or(a, 1.0);
        (v + rate * v.splat(self.step), (e + e.splat(self.error), a + a.splat(self.error.abs())))
    }
}

/// E and A of every weight.
pub(crate) struct TemporalCoherence {
    /// E in the lower half of each word, A in the upper.
    sums: Mapped<AtomicU64>,
}

impl TemporalCoherence {
    /// E = A = 0 for every weight.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn new(weights: u64) -> Result<Self, MemoryError> {
        Ok(TemporalCoherence { sums: Mapped::zeroed(weights as usize)? })
    }

    /// E and A of the weight at an index.
    fn sums(&self, index: usize) -> (f32, f32) {
        unpack(self.sums.as_slice()[index].load(Relaxed))
    }

    /// Sets E and A of the weight at an index.
    fn set_sums(&self, index: usize, e: f32, a: f32) {
        self.sums.as_slice()[index].store(pack((e, a)), Relaxed);
    }

    /// Resets E and A to 0 (terauchi-2025, 5.2).
    pub(crate) fn reset(&mut self) {
        self.sums.clear();
    }

    /// E and A of every weight, for checkpoints.
    pub(crate) fn numbers(&self) -> Vec<WeightNumbers<'_>> {
        let e = move |p: usize, e: f32| self.set_sums(p, e, self.sums(p).1);
        let a = move |p: usize, a: f32| self.set_sums(p, self.sums(p).0, a);
        vec![WeightNumbers::new("E", |p| self.sums(p).0, e), WeightNumbers::new("A", |p| self.sums(p).1, a)]
    }

    /// Updates weights at their rates times `step`, and adapts to `error`.
    #[inline(always)]
    pub(crate) fn update<I: Isa>(
        &self,
        isa: I,
        view: &View<'_>,
        features: Features<'_>,
        step: f32,
        error: f32,
    ) {
        view.update(isa, features, self.pairs(), Coherence { step, error });
    }

    /// E and A, packed.
    #[inline(always)]
    pub(crate) fn pairs(&self) -> &[AtomicU64] {
        self.sums.as_slice()
    }
}
