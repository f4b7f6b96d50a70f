//! Step sizes: how far each weight moves when its afterstate is updated.

mod autostep;
mod temporal_coherence;

use std::sync::atomic::AtomicU64;

use afterstate_network::MemoryError;
use serde::Serialize;

pub(crate) use autostep::Autostep;
pub(crate) use temporal_coherence::TemporalCoherence;

/// The step sizes by name, with their parameters.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(tag = "step_size", rename_all = "kebab-case")]
pub enum StepSizeSpec {
    /// A fixed learning rate α.
    Fixed {
        /// α, before it is divided by the number of active features.
        alpha: f64,
    },
    /// Temporal coherence with meta-learning rate β.
    #[serde(rename = "tc")]
    TemporalCoherence {
        /// β, before it is divided by the number of active features.
        beta: f64,
        /// The number of actions after which E and A are reset, repeatedly (terauchi-2025, 5.2); 0 for never.
        #[serde(rename = "tc_reset")]
        reset: u64,
    },
    /// First a fixed rate, then temporal coherence: the two phases of OTD+TC (guei-2021, III).
    #[serde(rename = "otd+tc")]
    FixedThenCoherence {
        /// α of the first phase, before it is divided by the number of active features.
        alpha: f64,
        /// β of the second.
        beta: f64,
        /// P_TC, the second phase's share of the budget.
        tc_share: f64,
        /// The number of actions after which E and A are reset, repeatedly; 0 for never.
        #[serde(rename = "tc_reset")]
        reset: u64,
    },
    /// Autostep.
    Autostep {
        /// μ, the meta-learning rate.
        mu: f64,
        /// τ, the rate at which the scale of a weight's changes is forgotten.
        tau: f64,
        /// α_init, the initial step size of every weight, before it is divided by the number of active features.
        alpha: f64,
    },
}

impl StepSizeSpec {
    /// Whether the second phase has begun at this share of the budget.
    pub fn is_second_phase(&self, share: f64) -> bool {
        matches!(*self, StepSizeSpec::FixedThenCoherence { tc_share, .. } if share >= 1.0 - tc_share)
    }

    /// α or β at a share of the budget, given the schedule's factor. Autostep has no rate of its
    /// own, and a second phase has no schedule.
    pub fn rate(&self, share: f64, factor: f32) -> f32 {
        match *self {
            StepSizeSpec::Fixed { alpha } => alpha as f32 * factor,
            StepSizeSpec::TemporalCoherence { beta, .. } => beta as f32 * factor,
            StepSizeSpec::FixedThenCoherence { beta, .. } if self.is_second_phase(share) => beta as f32,
            StepSizeSpec::FixedThenCoherence { alpha, .. } => alpha as f32 * factor,
            StepSizeSpec::Autostep { .. } => factor,
        }
    }

    /// Whether the rate is divided by the number of active features. Autostep does so itself.
    pub(crate) fn is_divided(&self) -> bool {
        !matches!(self, StepSizeSpec::Autostep { .. })
    }

    /// The number of actions after which E and A are reset; `None` for never. In the first of two phases they do not
    /// exist yet, and a reset has no effect.
    pub(crate) fn reset(&self) -> Option<u64> {
        match *self {
            StepSizeSpec::TemporalCoherence { reset, .. }
            | StepSizeSpec::FixedThenCoherence { reset, .. } => Some(reset).filter(|&reset| reset > 0),
            StepSizeSpec::Fixed { .. } | StepSizeSpec::Autostep { .. } => None,
        }
    }

    /// The bytes of learning state for each weight.
    pub fn bytes_per_weight(&self) -> u64 {
        match self {
            StepSizeSpec::Fixed { .. } => 0,
            StepSizeSpec::TemporalCoherence { .. } | StepSizeSpec::FixedThenCoherence { .. } => 8,
            StepSizeSpec::Autostep { .. } => 12,
        }
    }
}

/// The current step size: how to update a weight.
#[derive(Clone, Copy)]
pub(crate) enum StepSize<'a> {
    /// The fixed learning rate α: V ← V + (α/m)·step (jaskowski-2016, Algorithm 1, line 33).
    Fixed,
    TemporalCoherence(&'a TemporalCoherence),
    Autostep(&'a Autostep),
}

impl<'a> StepSize<'a> {
    /// The pairs that belong to the weights, if any, in the weights' order.
    #[inline(always)]
    pub(crate) fn pairs(self) -> Option<&'a [AtomicU64]> {
        match self {
            StepSize::Fixed => None,
            StepSize::TemporalCoherence(coherence) => Some(coherence.pairs()),
            StepSize::Autostep(autostep) => Some(autostep.pairs()),
        }
    }
}

/// A step size with its state, as the settings specify it.
pub(crate) enum StepSizes {
    Fixed,
    TemporalCoherence(TemporalCoherence),
    FixedThenCoherence(TemporalCoherence),
    Autostep(Autostep),
}

impl StepSizes {
    /// The initial step size for a network of this many weights, this many of which are active.
    pub(crate) fn new(spec: StepSizeSpec, weights: u64, active: usize) -> Result<Self, MemoryError> {
        Ok(match spec {
            StepSizeSpec::Fixed { .. } => StepSizes::Fixed,
            StepSizeSpec::TemporalCoherence { .. } => {
                StepSizes::TemporalCoherence(TemporalCoherence::new(weights)?)
            }
            StepSizeSpec::FixedThenCoherence { .. } => {
                StepSizes::FixedThenCoherence(TemporalCoherence::new(weights)?)
            }
            StepSizeSpec::Autostep { mu, tau, alpha } => {
                let [mu, tau, alpha] = [mu, tau, alpha].map(|rate| rate as f32);
                StepSizes::Autostep(Autostep::new(weights, mu, tau, alpha / active as f32)?)
            }
        })
    }

    /// The step size at a share of the budget.
    pub(crate) fn at(&self, spec: &StepSizeSpec, share: f64) -> StepSize<'_> {
        match self {
            StepSizes::TemporalCoherence(coherence) => StepSize::TemporalCoherence(coherence),
            StepSizes::FixedThenCoherence(coherence) if spec.is_second_phase(share) => {
                StepSize::TemporalCoherence(coherence)
            }
            StepSizes::Autostep(autostep) => StepSize::Autostep(autostep),
            StepSizes::Fixed | StepSizes::FixedThenCoherence(_) => StepSize::Fixed,
        }
    }

    /// E and A, if there are any.
    pub(crate) fn sums(&self) -> Option<&[AtomicU64]> {
        match self {
            StepSizes::TemporalCoherence(coherence) | StepSizes::FixedThenCoherence(coherence) => {
                Some(coherence.pairs())
            }
            StepSizes::Fixed | StepSizes::Autostep(_) => None,
        }
    }

    /// Resets E and A, if there are any.
    pub(crate) fn reset(&mut self) {
        if let StepSizes::TemporalCoherence(coherence) | StepSizes::FixedThenCoherence(coherence) = self {
            coherence.reset();
        }
    }

    /// The numbers stored for every weight.
    pub(crate) fn numbers(&self) -> Vec<WeightNumbers<'_>> {
        match self {
            StepSizes::Fixed => Vec::new(),
            StepSizes::TemporalCoherence(coherence) | StepSizes::FixedThenCoherence(coherence) => {
                coherence.numbers()
            }
            StepSizes::Autostep(autostep) => autostep.numbers(),
        }
    }
}

/// A number that a step size stores for every weight, by the weight's index.
pub struct WeightNumbers<'a> {
    /// Its name in the paper.
    pub name: &'static str,
    get: Box<dyn Fn(usize) -> f32 + 'a>,
    set: Box<dyn Fn(usize, f32) + 'a>,
}

impl<'a> WeightNumbers<'a> {
    fn new(name: &'static str, get: impl Fn(usize) -> f32 + 'a, set: impl Fn(usize, f32) + 'a) -> Self {
        WeightNumbers { name, get: Box::new(get), set: Box::new(set) }
    }

    /// The number of the weight at an index.
    pub fn get(&self, index: usize) -> f32 {
        (self.get)(index)
    }

    /// Restores the number of the weight at an index.
    pub fn set(&self, index: usize, number: f32) {
        (self.set)(index, number);
    }
}
