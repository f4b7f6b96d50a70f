//! Vector instructions, in one place: what a lookup needs, once for each instruction set, and the
//! dispatch that compiles a whole hot loop for each of them.
//!
//! All of them give the same bits, and a test says so.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::{Lookup, Positions};
use portable::Portable;
#[cfg(target_arch = "x86_64")]
use {avx2::Avx2, avx512::Avx512};

/// An instruction set: how positions are computed, and weights loaded and added.
pub trait Isa: Copy {
    /// Sixteen sums.
    type Sums: Copy;

    /// Which one it is.
    const LEVEL: Level;

    /// The positions of a board's weights.
    ///
    /// # Safety
    /// The instruction set must be there: inside a [`Kernel`] that [`dispatch`] runs.
    unsafe fn positions(board: &[u8; 16], encoding: Encoding, lookup: &Lookup) -> Positions;

    /// Zeros.
    ///
    /// # Safety
    /// As for [`Self::positions`].
    unsafe fn zero() -> Self::Sums;

    /// The weights at a lookup's positions, in some of its live lanes; 0 in the others.
    ///
    /// # Safety
    /// As for [`Self::positions`]; the positions must be the lookup's, and the lookup the weights'.
    unsafe fn gather(weights: &[AtomicU32], lookup: &Lookup, positions: &Positions, lanes: u16)
    -> Self::Sums;

    /// Adds lane by lane.
    ///
    /// # Safety
    /// As for [`Self::positions`].
    unsafe fn add(sums: Self::Sums, more: Self::Sums) -> Self::Sums;

    /// The lanes that are 0.
    ///
    /// # Safety
    /// As for [`Self::positions`].
    unsafe fn zeros(sums: Self::Sums) -> u16;

    /// Moves the weights at a lookup's positions as temporal coherence does: by |E|/A of each weight
    /// (1 while A is 0) times the step; then E grows by the error and A by its absolute value. One
    /// lane after the other, since a weight can occur in several.
    ///
    /// # Safety
    /// As for [`Self::gather`]; there must be as many sums (E in the lower half, A in the upper) as weights.
    #[inline(always)]
    unsafe fn update_coherently(
        weights: &[AtomicU32],
        sums: &[AtomicU64],
        lookup: &Lookup,
        positions: &Positions,
        step: f32,
        error: f32,
    ) {
        for &position in &positions.0[..lookup.live()] {
            let position = (lookup.base() + position as isize) as usize;
            // SAFETY: the positions of live lanes lie inside the weights.
            let (weight, sum) = unsafe { (weights.get_unchecked(position), sums.get_unchecked(position)) };
            let word = sum.load(Relaxed);
            let (e, a) = (f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32));
            let rate = if a == 0.0 { 1.0 } else { e.abs() / a };
            weight.store((f32::from_bits(weight.load(Relaxed)) + rate * step).to_bits(), Relaxed);
            let (e, a) = (e + error, a + error.abs());
            sum.store(u64::from(e.to_bits()) | u64::from(a.to_bits()) << 32, Relaxed);
        }
    }

    /// The sum of the sixteen: the two halves lane by lane, then ((0+4)+(2+6)) + ((1+5)+(3+7)).
    ///
    /// # Safety
    /// As for [`Self::positions`].
    unsafe fn total(sums: Self::Sums) -> f32;
}

/// How exponents become positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Plain tables with c = 16: four bits a cell.
    Nibbles,
    /// Any others: a number to the base c, of labels in a value range.
    Labels,
}

/// The instruction sets there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// Plain Rust.
    Portable,
    /// x86-64 with AVX2 and BMI.
    Avx2,
    /// x86-64 with AVX-512 (F, BW, CD, DQ, VL).
    Avx512,
}

impl Level {
    /// The levels that this processor has, the best one last.
    pub fn available() -> Vec<Level> {
        let all = [Level::Portable, Level::Avx2, Level::Avx512];
        all.into_iter().filter(|level| level.is_available()).collect()
    }

    /// Whether this processor has it; quickly, since every dispatch asks.
    fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        match self {
            Level::Portable => true,
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2"),
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512cd")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Level::Portable
        }
    }

    /// The best level that this processor has.
    pub fn best() -> Level {
        Level::available().pop().unwrap_or(Level::Portable)
    }
}

/// A hot loop that is to be compiled for every instruction set.
pub trait Kernel {
    /// What it gives.
    type Output;

    /// The loop. Mark the implementation, and everything it calls in the loop, `#[inline(always)]`.
    ///
    /// # Safety
    /// The instruction set must be there.
    unsafe fn run<I: Isa>(self) -> Self::Output;
}

/// Runs a kernel with an instruction set.
///
/// # Panics
/// When the processor does not have it.
pub fn dispatch<K: Kernel>(level: Level, kernel: K) -> K::Output {
    assert!(level.is_available(), "this processor has no {level:?}");
    // SAFETY: just checked.
    unsafe { dispatch_unchecked(level, kernel) }
}

/// Runs a kernel with an instruction set that is known to be there: for one kernel inside another, to keep what
/// is rarely needed out of a hot loop.
///
/// # Safety
/// The processor must have it.
pub(crate) unsafe fn dispatch_unchecked<K: Kernel>(level: Level, kernel: K) -> K::Output {
    // SAFETY: as the caller; plain Rust runs everywhere.
    unsafe {
        match level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => run_avx512(kernel),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => run_avx2(kernel),
            _ => kernel.run::<Portable>(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: the caller has checked the processor.
    unsafe { kernel.run::<Avx2>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
unsafe fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    // SAFETY: the caller has checked the processor.
    unsafe { kernel.run::<Avx512>() }
}

/// Asks for a cache line before it is needed; does nothing where the processor has no such hint.
#[inline(always)]
pub fn prefetch<T>(target: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of the x86-64 baseline, and a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(target.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}
