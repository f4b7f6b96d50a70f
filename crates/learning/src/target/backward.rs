//! The whole episode in backward order: every afterstate moves towards its successor after that
//! has itself been updated, so that information from the end of the game reaches its start at once
//! (the order of Szubert and Jaśkowski 2014 and of Yeh et al. 2016).
//!
//! With λ the target is the λ-return: Gₜ = rₜ₊₁ + (1 − λ)·V(s'ₜ₊₁) + λ·Gₜ₊₁, and G = 0 at the end.

use afterstate_network::Isa;

use super::{Reached, Target, Trace};
use crate::learner::Learner;

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
    fn step<I: Isa>(&self, _isa: I, trace: &mut Trace, _learner: &Learner<'_>, reached: Reached<'_>) {
        trace.push(reached.board, reached.features, reached.earned);
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, last: f32) {
        let mut target = last;
        for back in 0..trace.len() {
            trace.find(isa, &learner.view, back);
            let features = trace.found(back);
            let error = target - learner.value(isa, features);
            learner.update(isa, features, error, error);
            let value = learner.value(isa, features);
            target = trace.number(back) + (1.0 - self.lambda) * value + self.lambda * target;
        }
        trace.clear();
    }
}
