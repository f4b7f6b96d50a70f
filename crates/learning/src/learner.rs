//! A network that learns: its weights, and the step size that moves them.

use afterstate_network::{Features, Isa, View, prefetch};

use crate::step_size::StepSize;

/// What a target works on.
pub struct Learner<'a, S> {
    /// The network, as the thread sees it.
    pub view: View<'a>,
    /// How far a weight goes.
    pub step_size: &'a S,
    /// α/m or β/m, the learning rate over the number of active features, as it is now; 1 for Autostep.
    pub rate: f32,
    /// The number of stages, from the first one on, that do not learn.
    pub frozen: usize,
}

impl<S: StepSize> Learner<'_, S> {
    /// V(s') as it is now.
    ///
    /// # Safety
    /// Inside a kernel only, with features of this view.
    #[inline(always)]
    pub unsafe fn value<I: Isa>(&self, features: Features<'_>) -> f32 {
        // SAFETY: as the caller.
        unsafe { self.view.sum::<I>(features) }
    }

    /// Moves V(s') by the step, shared among its weights, unless its stage is frozen; `error` is what the step size learns from.
    ///
    /// The weights change one after the other: on a symmetric board one weight occurs several times.
    ///
    /// # Safety
    /// Inside a kernel only, with features of this view.
    #[inline(always)]
    pub unsafe fn update<I: Isa>(&self, features: Features<'_>, step: f32, error: f32) {
        if features.set < self.frozen {
            return;
        }
        // SAFETY: as the caller.
        unsafe { self.step_size.update::<I>(&self.view, features, self.rate, step, error) };
    }

    /// Asks for what an update of these weights will need.
    ///
    /// # Safety
    /// With features of this view.
    #[inline(always)]
    pub unsafe fn prefetch(&self, features: Features<'_>) {
        if let Some(state) = self.step_size.state() {
            let state = state.as_ptr().wrapping_add(self.view.start(features.set));
            for (positions, lookup) in features.positions.iter().zip(self.view.lookups) {
                let state = state.wrapping_offset(lookup.base());
                for &position in &positions.0[..lookup.live()] {
                    prefetch(state.wrapping_offset(position as isize));
                }
            }
        }
    }
}
