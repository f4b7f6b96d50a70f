//! Targets: which afterstates are moved towards what, and when.

mod backward;
mod delayed_td_lambda;
mod n_step;
mod td_lambda;
mod trace;

use afterstate_network::{Features, Isa, Kernel};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::learner::Learner;
pub use backward::Backward;
pub use delayed_td_lambda::DelayedTdLambda;
pub use n_step::NStep;
pub use td_lambda::TdLambda;
pub(crate) use trace::Trace;

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

/// Serialized with the keys of recipes.
impl Serialize for TargetSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (target, lambda, horizon, n, order) = match *self {
            TargetSpec::TdLambda(td) => ("td", Some(td.lambda), Some(td.horizon), None, "forward"),
            TargetSpec::DelayedTdLambda(td) => ("td", Some(td.lambda), Some(td.horizon), None, "delayed"),
            TargetSpec::Backward(td) => ("td", Some(td.lambda), None, None, "backward"),
            TargetSpec::NStep(n_step) => ("n-step", None, None, Some(n_step.n), "forward"),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("target", target)?;
        if let Some(lambda) = lambda {
            // The shortest number that parses as the same λ, rather than all digits of its f32.
            let shortest: f64 = lambda.to_string().parse().unwrap_or(lambda.into());
            map.serialize_entry("lambda", &shortest)?;
        }
        if let Some(horizon) = horizon {
            map.serialize_entry("horizon", &horizon)?;
        }
        if let Some(n) = n {
            map.serialize_entry("n", &n)?;
        }
        map.serialize_entry("order", order)?;
        map.end()
    }
}

/// What a move reaches: the preceding afterstate moves towards `reward + value`, and then
/// it is the turn of `features`.
///
/// In a network of afterstates this is the afterstate s' of the move. In networks of states and of
/// actions it is the state in which the move is made, and the reward is that of the previous move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached<'a> {
    /// The sixteen bytes of the board.
    pub(crate) board: [u8; 16],
    /// Its weights; in a network of actions, those of the move made.
    pub(crate) features: Features<'a>,
    /// r, the reward of the best move, whether or not that is the move made.
    pub(crate) reward: f32,
    /// V(s') of the best move, V(s), or the largest Q(s, a).
    pub(crate) value: f32,
    /// The reward actually earned; differs from `reward` after an exploring move.
    pub(crate) earned: f32,
}

/// How an episode is turned into updates.
pub(crate) trait Target {
    /// The number of an episode's afterstates to remember; `None` for all of them.
    fn horizon(&self) -> Option<usize>;

    /// Learns from reaching an afterstate.
    fn step<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, reached: Reached<'_>);

    /// Learns from the end of the episode: the only reward left is `last`, that of the last move if values are of
    /// states or actions, and 0 if they are of afterstates.
    fn finish<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, last: f32);
}

/// The target is chosen at run time, by a branch in each move that always goes the same way.
impl Target for TargetSpec {
    fn horizon(&self) -> Option<usize> {
        match self {
            TargetSpec::TdLambda(target) => target.horizon(),
            TargetSpec::DelayedTdLambda(target) => target.horizon(),
            TargetSpec::NStep(target) => target.horizon(),
            TargetSpec::Backward(target) => target.horizon(),
        }
    }

    /// TD(λ), the most common target, is inlined in the hot loop; the others are called.
    #[inline(always)]
    fn step<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, reached: Reached<'_>) {
        match self {
            TargetSpec::TdLambda(target) => target.step(isa, trace, learner, reached),
            TargetSpec::DelayedTdLambda(target) => isa.run_apart(Step { target, trace, learner, reached }),
            TargetSpec::NStep(target) => isa.run_apart(Step { target, trace, learner, reached }),
            TargetSpec::Backward(target) => target.step(isa, trace, learner, reached),
        }
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, trace: &mut Trace, learner: &Learner<'_>, last: f32) {
        match self {
            TargetSpec::TdLambda(target) => isa.run_apart(Finish { target, trace, learner, last }),
            TargetSpec::DelayedTdLambda(target) => isa.run_apart(Finish { target, trace, learner, last }),
            TargetSpec::NStep(target) => isa.run_apart(Finish { target, trace, learner, last }),
            TargetSpec::Backward(target) => isa.run_apart(Finish { target, trace, learner, last }),
        }
    }
}

/// [`Target::step`], out of line.
struct Step<'a, T> {
    target: &'a T,
    trace: &'a mut Trace,
    learner: &'a Learner<'a>,
    reached: Reached<'a>,
}

impl<T: Target> Kernel for Step<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.target.step(isa, self.trace, self.learner, self.reached);
    }
}

/// [`Target::finish`], out of line.
struct Finish<'a, T> {
    target: &'a T,
    trace: &'a mut Trace,
    learner: &'a Learner<'a>,
    last: f32,
}

impl<T: Target> Kernel for Finish<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.target.finish(isa, self.trace, self.learner, self.last);
    }
}
