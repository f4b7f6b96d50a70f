//! Weight promotion (jaskowski-2016, V.D.2): where a stage has one before it, a weight of 0 stands for the weight
//! there. Training copies it on first access.
//!
//! All of it is out of line, so that the hot loops of networks without promotion need not carry it.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{Isa, Kernel, Level, Lookup, Positions, View, simd::dispatch_unchecked};

/// What becomes of a weight that is promoted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Promotion {
    /// It is read from the stage before, every time.
    Read,
    /// It is copied from there.
    Write,
}

/// What the weights of a sum are found by.
pub(crate) enum Source<'a> {
    /// A board; the positions are kept if there is room for them.
    Board(&'a [u8; 16], &'a mut [Positions]),
    /// Their positions, lookup by lookup.
    Positions(&'a [Positions]),
}

/// The sum of a set's weights, promoted ones among them, without the initial value.
///
/// # Safety
/// The processor must have this instruction set, the set must have a stage before it, and positions must be the
/// view's.
#[inline(never)]
pub(crate) unsafe fn sum(
    level: Level,
    view: &View<'_>,
    promotion: Promotion,
    set: usize,
    source: Source<'_>,
) -> f32 {
    // SAFETY: as the caller.
    unsafe { dispatch_unchecked(level, Sum { view, promotion, set, source }) }
}

struct Sum<'a, 'b> {
    view: &'a View<'b>,
    promotion: Promotion,
    set: usize,
    source: Source<'a>,
}

impl Kernel for Sum<'_, '_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> f32 {
        let Sum { view, promotion, set, mut source } = self;
        let weights = &view.weights[view.start(set)..];
        let before = &view.weights[view.start(set - view.sets_per_stage)..];
        // SAFETY: inside a kernel; the lookups are those of the weights.
        unsafe {
            let mut sums = I::zero();
            for (i, lookup) in view.lookups.iter().enumerate() {
                let positions = match &mut source {
                    Source::Positions(positions) => positions[i],
                    Source::Board(board, kept) => {
                        let positions = I::positions(board, view.encoding, lookup);
                        kept.get_mut(i).into_iter().for_each(|kept| *kept = positions);
                        positions
                    }
                };
                let found = I::gather(weights, lookup, &positions, lookup.live_lanes());
                sums = I::add(sums, found);
                let zeros = I::zeros(found) & lookup.live_lanes();
                if zeros != 0 {
                    if promotion == Promotion::Write {
                        promote(weights, before, lookup, &positions, zeros);
                    }
                    sums = I::add(sums, I::gather(before, lookup, &positions, zeros));
                }
            }
            I::total(sums)
        }
    }
}

/// Copies weights from the stage before. Another thread may have done so and learned meanwhile: then its
/// weight stays.
#[cold]
fn promote(weights: &[AtomicU32], before: &[AtomicU32], lookup: &Lookup, positions: &Positions, lanes: u16) {
    for lane in (0..lookup.live()).filter(|lane| lanes >> lane & 1 == 1) {
        let position = (lookup.base() + positions.0[lane] as isize) as usize;
        let (weight, found) = (before[position].load(Relaxed), weights[position].load(Relaxed));
        if f32::from_bits(found) == 0.0 {
            // A failure means that it is no longer 0, which is as good.
            let _ = weights[position].compare_exchange(found, weight, Relaxed, Relaxed);
        }
    }
}
