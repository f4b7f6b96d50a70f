//! TD(λ) for afterstates: jaskowski-2016, Algorithm 1, lines 12–15 and 29–34; TD(0) when λ = 0.
//!
//! With temporal coherence this is TC(λ), Algorithm 2: E and A learn from δ itself, not from its
//! decayed step.

use afterstate_network::Isa;

use super::{Reached, Target, Trace};
use crate::learner::Learner;

/// Every error δₜ moves the last h + 1 afterstates, by δₜ·λ^(t−k).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TdLambda {
    /// λ, the decay.
    pub lambda: f32,
    /// h, the number of earlier afterstates that an error still updates.
    pub horizon: usize,
}

impl TdLambda {
    /// h = ⌈log_λ 0.1⌉ − 1, so that λ^h is at least 0.1 (section IV.D), for λ between 0 and 1.
    pub fn default_horizon(lambda: f64) -> usize {
        ((0.1f64.ln() / lambda.ln()).ceil() as usize).saturating_sub(1)
    }

    #[inline(always)]
    fn update<I: Isa>(&self, isa: I, trace: &Trace, learner: &Learner<'_>, target: f32) {
        let delta = target - learner.value(isa, trace.features(0));
        let mut step = delta;
        for back in 0..=self.horizon.min(trace.len() - 1) {
            learner.update(isa, trace.features(back), step, delta);
            step *= self.lambda;
        }
    }
}

impl Target for TdLambda {
    fn horizon(&self) -> Option<usize> {
        Some(self.horizon + 1)
    }

    #[inline(always)]
    fn step<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, reached: Reached<'_>) {
        if !trace.is_empty() {
            self.update(isa, trace, learner, reached.reward + reached.value);
        }
        trace.push(reached.board, reached.features, 0.0);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, last: f32) {
        if !trace.is_empty() {
            self.update(isa, trace, learner, last);
        }
        trace.clear();
    }
}
