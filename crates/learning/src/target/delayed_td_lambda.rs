//! Delayed-TD(λ): jaskowski-2016, Algorithm 3; with temporal coherence delayed-TC(λ), Algorithm 4.
//!
//! Every afterstate is updated once, h steps late, by the decayed sum of the errors since.

use afterstate_network::{Isa, Reached};

use super::{Target, Trace};
use crate::{Learner, step_size::StepSize};

/// The afterstate of h steps ago moves by Δ = Σ δ·λ^k.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayedTdLambda {
    /// λ, the decay.
    pub lambda: f32,
    /// h, the delay in steps.
    pub horizon: usize,
}

impl DelayedTdLambda {
    /// Moves the afterstate `back` steps ago by the errors since: its own and the later ones.
    #[inline(always)]
    unsafe fn update<I: Isa, S: StepSize>(&self, trace: &Trace, learner: &Learner<'_, S>, back: usize) {
        let mut delta = 0.0;
        for later in 0..=back {
            delta = trace.number(later) + self.lambda * delta;
        }
        // SAFETY: inside a kernel.
        unsafe { learner.update::<I>(trace.features(back), delta, delta) };
    }

    /// Records the error of the last afterstate, and updates the one of h steps ago.
    #[inline(always)]
    unsafe fn record<I: Isa, S: StepSize>(&self, trace: &mut Trace, learner: &Learner<'_, S>, target: f32) {
        // SAFETY: inside a kernel.
        unsafe {
            trace.set_last_number(target - learner.value::<I>(trace.features(0)));
            if trace.len() > self.horizon {
                self.update::<I, S>(trace, learner, self.horizon);
            }
        }
    }
}

impl Target for DelayedTdLambda {
    fn horizon(&self) -> Option<usize> {
        Some(self.horizon + 1)
    }

    #[inline(always)]
    unsafe fn step<I: Isa, S: StepSize>(
        &self,
        trace: &mut Trace,
        learner: &Learner<'_, S>,
        reached: Reached<'_>,
    ) {
        if !trace.is_empty() {
            // SAFETY: inside a kernel.
            unsafe { self.record::<I, S>(trace, learner, reached.reward + reached.value) };
        }
        trace.push(reached.board, reached.features, 0.0);
    }

    #[inline(always)]
    unsafe fn finish<I: Isa, S: StepSize>(&self, trace: &mut Trace, learner: &Learner<'_, S>, last: f32) {
        if !trace.is_empty() {
            // SAFETY: inside a kernel.
            unsafe {
                self.record::<I, S>(trace, learner, last);
                for back in (0..self.horizon.min(trace.len())).rev() {
                    self.update::<I, S>(trace, learner, back);
                }
            }
        }
        trace.clear();
    }
}
