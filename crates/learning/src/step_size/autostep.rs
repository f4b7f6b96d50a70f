//! Autostep: Mahmood et al. 2012, "Tuning-free step-size adaptation", Table 1, as in jaskowski-2016, V.B.2.
//!
//! Every weight has a step size αᵢ that grows while successive changes of the weight agree. In the linear model V = Σ
//! wᵢ·xᵢ, a weight that occurs n times on a symmetric board has the feature value xᵢ = n. For each weight with xᵢ > 0,
//! with its memory hᵢ of recent changes and the scale vᵢ of its correlations δ·xᵢ·hᵢ:
//!
//! ```text
//! vᵢ ← max(|δ·xᵢ·hᵢ|, vᵢ + τ·αᵢ·xᵢ²·(|δ·xᵢ·hᵢ| − vᵢ)),  αᵢ ← αᵢ·exp(μ·δ·xᵢ·hᵢ/vᵢ)  (unless vᵢ = 0)
//! M ← max(Σ αᵢ·xᵢ², 1),  αᵢ ← αᵢ/M,  wᵢ ← wᵢ + αᵢ·δ·xᵢ,  hᵢ ← hᵢ·(1 − αᵢ·xᵢ²) + αᵢ·δ·xᵢ
//! ```
//!
//! Differences from the papers:
//! 1. τ is a factor, as in jaskowski-2016; Mahmood et al. divide by it.
//! 2. αᵢ begins at α_init divided by the number of active features, as in the program of jaskowski-2016's author; the
//!    paper only gives α_init = 1.0.
//! 3. In M that program counts a weight that occurs n times n times, but updates it once, as if xᵢ were 1.
//! 4. Defined for λ = 0; with other targets δ is the step that the target requests, as in that author's program for
//!    delayed updates.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use afterstate_network::{Features, Mapped, MemoryError, View, pack, unpack};

use super::WeightNumbers;

#[cfg(test)]
mod tests;

/// Step sizes by Autostep.
pub(crate) struct Autostep {
    /// μ, the meta-learning rate.
    mu: f32,
    /// τ, the rate at which vᵢ forgets.
    tau: f32,
    /// The bits of the initial αᵢ.
    initial: u32,
    /// The bits of αᵢ XOR those of the initial one, so that zeros are the initial state.
    alphas: Mapped<AtomicU32>,
    /// hᵢ in the lower half of each word, vᵢ in the upper.
    memory: Mapped<AtomicU64>,
}

impl Autostep {
    /// αᵢ = `alpha`, hᵢ = vᵢ = 0 for every weight.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn new(weights: u64, mu: f32, tau: f32, alpha: f32) -> Result<Self, MemoryError> {
        let (alphas, memory) = (Mapped::zeroed(weights as usize)?, Mapped::zeroed(weights as usize)?);
        Ok(Autostep { mu, tau, initial: alpha.to_bits(), alphas, memory })
    }

    fn alpha(&self, index: usize) -> f32 {
        f32::from_bits(self.alphas.as_slice()[index].load(Relaxed) ^ self.initial)
    }

    fn set_alpha(&self, index: usize, alpha: f32) {
        self.alphas.as_slice()[index].store(alpha.to_bits() ^ self.initial, Relaxed);
    }

    /// h and v.
    fn memory(&self, index: usize) -> (f32, f32) {
        unpack(self.memory.as_slice()[index].load(Relaxed))
    }

    fn set_memory(&self, index: usize, h: f32, v: f32) {
        self.memory.as_slice()[index].store(pack((h, v)), Relaxed);
    }

    /// αᵢ, hᵢ and vᵢ of every weight, for checkpoints.
    pub(crate) fn numbers(&self) -> Vec<WeightNumbers<'_>> {
        let h = move |p: usize, h: f32| self.set_memory(p, h, self.memory(p).1);
        let v = move |p: usize, v: f32| self.set_memory(p, self.memory(p).0, v);
        vec![
            WeightNumbers::new("alpha", |p| self.alpha(p), |p, alpha| self.set_alpha(p, alpha)),
            WeightNumbers::new("h", |p| self.memory(p).0, h),
            WeightNumbers::new("v", |p| self.memory(p).1, v),
        ]
    }
}

impl Autostep {
    /// Updates weights at their own rates times `rate · step`. Out of line, to keep it out of the loops of the other
    /// step sizes.
    #[inline(never)]
    pub(crate) fn update(&self, view: &View<'_>, features: Features<'_>, rate: f32, step: f32) {
        let mut sum = 0.0;
        view.for_each_weight(features, |index, x| {
            let (h, v) = self.memory(index);
            let (alpha, correlation) = (self.alpha(index), step * x * h);
            let v = correlation.abs().max(v + self.tau * alpha * x * x * (correlation.abs() - v));
            let alpha = if v == 0.0 { alpha } else { alpha * (self.mu * correlation / v).exp() };
            sum += alpha * x * x;
            self.set_alpha(index, alpha);
            self.set_memory(index, h, v);
        });
        let divisor = sum.max(1.0);
        view.for_each_weight(features, |index, x| {
            let alpha = self.alpha(index) / divisor;
            let change = alpha * step * x;
            let weight = &view.weights()[index];
            weight.store((f32::from_bits(weight.load(Relaxed)) + rate * change).to_bits(), Relaxed);
            let (h, v) = self.memory(index);
            self.set_alpha(index, alpha);
            self.set_memory(index, h * (1.0 - alpha * x * x) + change, v);
        });
    }

    /// h and v, packed.
    #[inline(always)]
    pub(crate) fn pairs(&self) -> &[AtomicU64] {
        self.memory.as_slice()
    }
}
