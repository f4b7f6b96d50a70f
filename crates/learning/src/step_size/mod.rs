//! Step sizes: how far one weight goes when its afterstate is updated.

mod fixed;
mod temporal_coherence;

use std::sync::atomic::{AtomicU32, AtomicU64};

use afterstate_network::{Isa, Lookup, Positions};
pub use fixed::Fixed;
pub use temporal_coherence::TemporalCoherence;

/// The step sizes by name, with their parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepSizeSpec {
    /// A fixed learning rate α.
    Fixed {
        /// α, before it is divided by the number of active features.
        alpha: f32,
    },
    /// Temporal coherence with meta-learning rate β.
    TemporalCoherence {
        /// β, before it is divided by the number of active features.
        beta: f32,
    },
}

impl StepSizeSpec {
    /// α or β.
    pub fn rate(&self) -> f32 {
        match *self {
            StepSizeSpec::Fixed { alpha } => alpha,
            StepSizeSpec::TemporalCoherence { beta } => beta,
        }
    }

    /// The bytes of learning state for each weight.
    pub fn bytes_per_weight(&self) -> u64 {
        match self {
            StepSizeSpec::Fixed { .. } => 0,
            StepSizeSpec::TemporalCoherence { .. } => 8,
        }
    }
}

/// How a weight is moved.
pub trait StepSize: Sync {
    /// Moves the weights of a lookup, in the stage that begins at `start`, by their shares of `step`, one
    /// after the other, and learns from `error`.
    ///
    /// # Safety
    /// Inside a kernel only; the positions must be the lookup's, and the lookup the weights'.
    unsafe fn update<I: Isa>(
        &self,
        weights: &[AtomicU32],
        start: usize,
        lookup: &Lookup,
        positions: &Positions,
        step: f32,
        error: f32,
    );

    /// The learning state, if there is any: one word for each weight, in the weights' order.
    fn state(&self) -> Option<&[AtomicU64]>;

    /// This step size, if it is temporal coherence.
    fn temporal_coherence(&self) -> Option<&TemporalCoherence> {
        None
    }
}
