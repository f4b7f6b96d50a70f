//! n-step TD (guei-2021, section II.C, after Sutton and Barto): the afterstate n steps ago moves
//! towards the sum of the n rewards since then and the current value. n = 1 is TD(0).

use afterstate_network::Isa;

use super::{Reached, Target, Trace};
use crate::learner::Learner;

/// The target of s'ₜ is rₜ₊₁ + … + rₜ₊ₙ + V(s'ₜ₊ₙ).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NStep {
    /// n, at least 1.
    pub n: usize,
}

impl NStep {
    /// Updates the afterstate `back` steps before the last one towards the rewards since then plus `ahead`.
    #[inline(always)]
    fn update<I: Isa>(&self, isa: I, trace: &Trace, learner: &Learner<'_>, back: usize, ahead: f32) {
        let target = ahead + (0..back).map(|later| trace.number(later)).sum::<f32>();
        let features = trace.features(back);
        let error = target - learner.value(isa, features);
        learner.update(isa, features, error, error);
    }
}

impl Target for NStep {
    fn horizon(&self) -> Option<usize> {
        Some(self.n)
    }

    #[inline(always)]
    fn step<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, reached: Reached<'_>) {
        if trace.len() >= self.n {
            self.update(isa, trace, learner, self.n - 1, reached.reward + reached.value);
        }
        trace.push(reached.board, reached.features, reached.earned);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, last: f32) {
        for back in (0..self.n.min(trace.len())).rev() {
            self.update(isa, trace, learner, back, last);
        }
        trace.clear();
    }
}
