//! The fixed learning rate α: jaskowski-2016, Algorithm 1, line 33.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use afterstate_network::{Isa, LANES, Lookup, Positions};

use super::StepSize;

/// V ← V + (α/m)·step.
#[derive(Clone, Copy, Debug)]
pub struct Fixed;

impl StepSize for Fixed {
    #[inline(always)]
    unsafe fn update<I: Isa>(
        &self,
        weights: &[AtomicU32],
        start: usize,
        lookup: &Lookup,
        positions: &Positions,
        step: f32,
        _error: f32,
    ) {
        let table = weights[start..].as_ptr().wrapping_offset(lookup.base());
        let update = |lane: usize| {
            // SAFETY: the positions of live lanes lie inside the weights.
            let weight = unsafe { &*table.wrapping_offset(positions.0[lane] as isize) };
            weight.store((f32::from_bits(weight.load(Relaxed)) + step).to_bits(), Relaxed);
        };
        if lookup.live() == LANES {
            (0..LANES).for_each(update);
        } else {
            (0..lookup.live()).for_each(update);
        }
    }

    #[inline(always)]
    fn state(&self) -> Option<&[AtomicU64]> {
        None
    }
}
