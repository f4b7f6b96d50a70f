//! Weight promotion (jaskowski-2016, V.D.2): in stages after the first, a weight of 0 stands for the weight of the
//! previous stage. Training copies it on first access.
//!
//! All of it is out of line, to keep it out of the hot loops of networks without promotion.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::{Indices, Isa, Kernel, Lookup, View};

/// How a promoted weight is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Promotion {
    /// Read from the previous stage every time.
    Read,
    /// Copied from the previous stage.
    Write,
}

/// How the weights of a sum are found.
pub(crate) enum Source<'a> {
    /// By a board; the indices are stored if a buffer is given.
    Board(&'a [u8; 16], Option<&'a mut [Indices]>),
    /// By their indices, lookup by lookup, which must come from the view.
    Indices(&'a [Indices]),
}

/// The sum of a set's weights, including promoted ones, without the initial value. The set must have a previous stage.
pub(crate) struct Sum<'a, 'b> {
    pub(crate) view: &'a View<'b>,
    pub(crate) set: usize,
    pub(crate) source: Source<'a>,
}

impl Kernel for Sum<'_, '_> {
    type Output = f32;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> f32 {
        let Sum { view, set, mut source } = self;
        let (weights, before) = (view.weights_of(set), view.weights_of(set - view.sets_per_stage));
        let mut sums = isa.zero();
        for (i, lookup) in view.lookups.iter().enumerate() {
            let indices = match &mut source {
                Source::Indices(indices) => indices[i],
                Source::Board(board, kept) => {
                    let indices = isa.indices(board, view.encoding, lookup);
                    kept.iter_mut().for_each(|kept| kept[i] = indices);
                    indices
                }
            };
            // SAFETY: the lookup and the indices belong to the view.
            let gather = |weights, lanes| unsafe { isa.gather(weights, lookup, &indices, lanes) };
            let found = gather(weights, lookup.live_lanes());
            sums = isa.add(sums, found);
            let zeros = isa.zeros(found) & lookup.live_lanes();
            if zeros != 0 {
                if view.promotion == Promotion::Write {
                    promote(weights, before, lookup, &indices, zeros);
                }
                sums = isa.add(sums, gather(before, zeros));
            }
        }
        isa.total(sums)
    }
}

/// Copies weights from the previous stage. If another thread has already done so and updated a weight, its
/// weight stays.
#[cold]
fn promote(weights: &[AtomicU32], before: &[AtomicU32], lookup: &Lookup, indices: &Indices, lanes: u16) {
    for lane in (0..lookup.live()).filter(|lane| lanes >> lane & 1 == 1) {
        let index = (lookup.base() + indices.0[lane] as isize) as usize;
        let (weight, found) = (before[index].load(Relaxed), weights[index].load(Relaxed));
        if f32::from_bits(found) == 0.0 {
            // Failure means that it is no longer 0, which is just as good.
            let _ = weights[index].compare_exchange(found, weight, Relaxed, Relaxed);
        }
    }
}
