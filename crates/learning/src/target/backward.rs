//! The whole episode in backward order: every afterstate moves towards what follows it after that
//! has itself been updated, so that news from the end of the game reaches its start at once
//! (the order of Szubert and Jaśkowski 2014 and of Yeh et al. 2016).
//!
//! With λ the target is the λ-return: Gₜ = rₜ₊₁ + (1 − λ)·V(s'ₜ₊₁) + λ·Gₜ₊₁, and G = 0 at the end.

use afterstate_network::{Features, Isa, Positions, Reached};

use super::{Target, Trace};
use crate::{Learner, step_size::StepSize};

/// TD(λ) from the end of the episode to its start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backward {
    /// λ, the decay; 0 is TD(0).
    pub lambda: f32,
}

impl Target for Backward {
    fn horizon(&self) -> Option<usize> {
        None
    }

    #[inline(always)]
    unsafe fn step<I: Isa, S: StepSize>(
        &self,
        trace: &mut Trace,
        _learner: &Learner<'_, S>,
        reached: Reached<'_>,
    ) {
        trace.push(reached.board, reached.features, reached.earned);
    }

    #[inline(always)]
    unsafe fn finish<I: Isa, S: StepSize>(&self, trace: &mut Trace, learner: &Learner<'_, S>, last: f32) {
        let mut buffer = vec![Positions::default(); learner.view.lookups.len()];
        let mut target = last;
        for back in 0..trace.len() {
            // SAFETY: inside a kernel.
            unsafe {
                let set = trace.set(back);
                let error = target - learner.view.find_in::<I>(set, trace.board(back), &mut buffer);
                let features = Features { set, positions: &buffer };
                learner.update::<I>(features, error, error);
                let value = learner.value::<I>(features);
                target = trace.number(back) + (1.0 - self.lambda) * value + self.lambda * target;
            }
        }
        trace.clear();
    }
}
