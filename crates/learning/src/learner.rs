//! A network that learns: its weights, and the step size that moves them.

use afterstate_network::{Features, Isa, View};

use crate::step_size::StepSize;

/// What a target works on.
#[derive(Clone, Copy)]
pub(crate) struct Learner<'a> {
    /// The network, as the thread sees it.
    pub(crate) view: View<'a>,
    /// How far a weight goes.
    pub(crate) step_size: StepSize<'a>,
    /// α/m or β/m, the learning rate over the number of active features, as it is now; 1 for Autostep.
    pub(crate) rate: f32,
    /// The number of sets of tables, from the first one on, that do not learn.
    pub(crate) frozen: usize,
}

impl Learner<'_> {
    /// V(s') as it is now.
    #[inline(always)]
    pub(crate) fn value<I: Isa>(&self, isa: I, features: Features<'_>) -> f32 {
        self.view.sum(isa, features)
    }

    /// Moves V(s') by the step, shared among its weights, unless its stage is frozen; `error` is what the step size learns
    /// from.
    #[inline(always)]
    pub(crate) fn update<I: Isa>(&self, isa: I, features: Features<'_>, step: f32, error: f32) {
        if features.set() < self.frozen {
            return;
        }
        match self.step_size {
            StepSize::Fixed => self.view.add(features, self.rate * step),
            StepSize::TemporalCoherence(coherence) => {
                coherence.update(isa, &self.view, features, self.rate * step, error);
            }
            StepSize::Autostep(autostep) => autostep.update(&self.view, features, self.rate, step),
        }
    }

    /// Prefetches what an update of these weights will need.
    #[inline(always)]
    pub(crate) fn prefetch(&self, features: Features<'_>) {
        if let Some(pairs) = self.step_size.pairs() {
            self.view.prefetch(features, pairs);
        }
    }
}
