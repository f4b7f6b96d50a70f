//! Delayed-TD(λ): jaskowski-2016, Algorithm 3; with temporal coherence delayed-TC(λ), Algorithm 4.
//!
//! Every afterstate is updated once, h steps late, by the decayed sum of the errors since then.

use afterstate_network::Isa;

use super::{Reached, Target, Trace};
use crate::learner::Learner;

/// The afterstate of h steps ago moves by Δ = Σ δ·λ^k.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayedTdLambda {
    /// λ, the decay.
    pub lambda: f32,
    /// h, the delay in steps.
    pub horizon: usize,
}

impl DelayedTdLambda {
    /// Updates the afterstate `back` steps ago by the errors since then: its own and the later ones.
    #[inline(always)]
    fn update<I: Isa>(&self, isa: I, trace: &Trace, learner: &Learner<'_>, back: usize) {
        let mut delta = 0.0;
        for later in 0..=back {
            delta = trace.number(later) + self.lambda * delta;
        }
        learner.update(isa, trace.features(back), delta, delta);
    }

    /// Records the error of the last afterstate, and updates the one h steps ago.
    #[inline(always)]
    fn record<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, target: f32) {
        trace.set_last_number(target - learner.value(isa, trace.features(0)));
        if trace.len() > self.horizon {
            self.update(isa, trace, learner, self.horizon);
        }
    }
}

impl Target for DelayedTdLambda {
    fn horizon(&self) -> Option<usize> {
        Some(self.horizon + 1)
    }

    #[inline(always)]
    fn step<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, reached: Reached<'_>) {
        if !trace.is_empty() {
            self.record(isa, trace, learner, reached.reward + reached.value);
        }
        trace.push(reached.board, reached.features, 0.0);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, last: f32) {
        if !trace.is_empty() {
            self.record(isa, trace, learner, last);
            for back in (0..self.horizon.min(trace.len())).rev() {
                self.update(isa, trace, learner, back);
            }
        }
        trace.clear();
    }
}
