//! The fixed learning rate α: jaskowski-2016, Algorithm 1, line 33.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use afterstate_network::{Features, Isa, LANES, View};

use super::StepSize;

/// V ← V + (α/m)·step.
#[derive(Clone, Copy, Debug)]
pub struct Fixed;

impl StepSize for Fixed {
    #[inline(always)]
    unsafe fn update<I: Isa>(
        &self,
        view: &View<'_>,
        features: Features<'_>,
        rate: f32,
        step: f32,
        _error: f32,
    ) {
        let step = rate * step;
        let weights = view.weights[view.start(features.set)..].as_ptr();
        for (positions, lookup) in features.positions.iter().zip(view.lookups) {
            let table = weights.wrapping_offset(lookup.base());
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
    }

    #[inline(always)]
    fn state(&self) -> Option<&[AtomicU64]> {
        None
    }
}
