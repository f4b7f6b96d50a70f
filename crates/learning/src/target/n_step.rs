//! n-step TD (guei-2021, section II.C, after Sutton and Barto): the afterstate of n steps ago moves
//! towards the n rewards since and the value of the present one. n = 1 is TD(0).

use afterstate_network::{Isa, Reached};

use super::{Target, Trace};
use crate::{Learner, step_size::StepSize};

/// The target of s'ₜ is rₜ₊₁ + … + rₜ₊ₙ + V(s'ₜ₊ₙ).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NStep {
    /// n, at least 1.
    pub n: usize,
}

impl NStep {
    /// Moves the afterstate `back` steps before the last one towards the rewards since and `ahead`.
    #[inline(always)]
    unsafe fn update<I: Isa, S: StepSize>(
        &self,
        trace: &Trace,
        learner: &Learner<'_, S>,
        back: usize,
        ahead: f32,
    ) {
        let target = ahead + (0..back).map(|later| trace.number(later)).sum::<f32>();
        let features = trace.features(back);
        // SAFETY: inside a kernel.
        unsafe {
            let error = target - learner.value::<I>(features);
            learner.update::<I>(features, error, error);
        }
    }
}

impl Target for NStep {
    fn horizon(&self) -> Option<usize> {
        Some(self.n)
    }

    #[inline(always)]
    unsafe fn step<I: Isa, S: StepSize>(
        &self,
        trace: &mut Trace,
        learner: &Learner<'_, S>,
        reached: Reached<'_>,
    ) {
        if trace.len() >= self.n {
            // SAFETY: inside a kernel.
            unsafe { self.update::<I, S>(trace, learner, self.n - 1, reached.reward + reached.value) };
        }
        trace.push(reached.board, reached.features, reached.earned);
    }

    #[inline(always)]
    unsafe fn finish<I: Isa, S: StepSize>(&self, trace: &mut Trace, learner: &Learner<'_, S>, last: f32) {
        for back in (0..self.n.min(trace.len())).rev() {
            // SAFETY: inside a kernel.
            unsafe { self.update::<I, S>(trace, learner, back, last) };
        }
        trace.clear();
    }
}
