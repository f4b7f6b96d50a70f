//! Targets: which afterstates are moved towards what, and when.

mod backward;
mod delayed_td_lambda;
mod n_step;
mod td_lambda;
mod trace;

use afterstate_network::{Isa, Network, Reached};

use crate::{Learner, step_size::StepSize};
pub use backward::Backward;
pub use delayed_td_lambda::DelayedTdLambda;
pub use n_step::NStep;
pub use td_lambda::TdLambda;
pub use trace::Trace;

/// The targets by name, with their parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TargetSpec {
    /// TD(λ) as in Algorithm 1; TD(0) when λ = 0.
    TdLambda(TdLambda),
    /// Delayed-TD(λ), Algorithm 3.
    DelayedTdLambda(DelayedTdLambda),
    /// n-step TD.
    NStep(NStep),
    /// The whole episode, from its end to its start.
    Backward(Backward),
}

/// How an episode becomes updates.
pub trait Target: Copy + Send + Sync {
    /// The number of afterstates of an episode that must be remembered; `None` for all of them.
    fn horizon(&self) -> Option<usize>;

    /// An afterstate has been reached.
    ///
    /// # Safety
    /// Inside a kernel only.
    unsafe fn step<I: Isa, S: StepSize>(
        &self,
        trace: &mut Trace,
        learner: &Learner<'_, S>,
        reached: Reached<'_>,
    );

    /// The episode is over: nothing is left to come but `last`, the reward of the last move where values are of
    /// states or actions, and 0 where they are of afterstates.
    ///
    /// # Safety
    /// Inside a kernel only.
    unsafe fn finish<I: Isa, S: StepSize>(&self, trace: &mut Trace, learner: &Learner<'_, S>, last: f32);

    /// An empty trace for this target.
    fn trace(&self, network: &Network) -> Trace {
        Trace::new(self.horizon(), network)
    }
}
