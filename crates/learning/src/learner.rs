//! A learning network: its weights, and the step size that updates them.

use afterstate_network::{Features, Isa, View};

use crate::step_size::StepSize;

/// What a target operates on.
#[derive(Clone, Copy)]
pub(crate) struct Learner<'a> {
    /// The network, as this thread sees it.
    pub(crate) view: View<'a>,
    /// How far each weight moves.
    pub(crate) step_size: StepSize<'a>,
    /// The current α/m or β/m, the learning rate over the number of active features; 1 for Autostep.
    pub(crate) rate: f32,
    /// The number of sets of tables, beginning with the first, that do not learn.
    pub(crate) frozen: usize,
}

impl Learner<'_> {
    /// The current V(s').
    #[inline(always)]
    pub(crate) fn value<I: Isa>(&self, isa: I, features: Features<'_>) -> f32 {
        self.view.sum(isa, features)
    }

    /// Moves V(s') by the step, distributed over its weights, unless its stage is frozen; the step size adapts to
    /// `error`.
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

    /// Prefetches the data that an update of these weights needs.
    #[inline(always)]
    pub(crate) fn prefetch(&self, features: Features<'_>) {
        if let Some(pairs) = self.step_size.pairs() {
            self.view.prefetch(features, pairs);
        }
    }
}
