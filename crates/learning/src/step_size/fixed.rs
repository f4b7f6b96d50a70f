//! The fixed learning rate α: jaskowski-2016, Algorithm 1, line 33.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::StepSize;

/// V ← V + (α/m)·step.
#[derive(Clone, Copy, Debug)]
pub struct Fixed;

impl StepSize for Fixed {
    #[inline(always)]
    unsafe fn update(&self, weights: &[AtomicU32], position: usize, step: f32, _error: f32) {
        // SAFETY: the caller keeps the position inside the weights.
        let weight = unsafe { weights.get_unchecked(position) };
        weight.store((f32::from_bits(weight.load(Relaxed)) + step).to_bits(), Relaxed);
    }

    #[inline(always)]
    fn state(&self) -> Option<&[AtomicU64]> {
        None
    }
}
