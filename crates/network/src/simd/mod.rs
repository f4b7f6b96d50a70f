//! Vector instructions in one place: the operations of a lookup, for each instruction set, and the
//! dispatch that compiles a whole hot loop for each of them.
//!
//! An instruction set is a token ([`Isa`]). Only [`dispatch`] makes one, after querying the processor, so
//! a holder of the token may use the instructions. Code that takes a token is therefore safe, as long as it is
//! inlined into the kernel that `dispatch` runs: mark it `#[inline(always)]`.
//!
//! All instruction sets give the same bits, which tests check.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod lanes;
mod portable;

use std::{
    str::FromStr,
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use crate::{Indices, Lookup};
pub use lanes::{Lanes, Rule, pack, unpack};
use portable::Portable;
#[cfg(target_arch = "x86_64")]
use {avx2::Avx2, avx512::Avx512};

/// The number of weights that are compared at once: a cache line.
pub const BLOCK: usize = 16;

/// An instruction set: proof that the processor has it, and the operations of a lookup.
pub trait Isa: Copy + Send + Sync {
    /// Sixteen numbers.
    type Sums: Copy;

    /// The indices of a board's weights.
    fn indices(self, board: &[u8; 16], encoding: Encoding, lookup: &Lookup) -> Indices;

    /// Zeros.
    fn zero(self) -> Self::Sums;

    /// Adds lane by lane.
    fn add(self, sums: Self::Sums, more: Self::Sums) -> Self::Sums;

    /// The lanes that are 0, as a bit mask.
    fn zeros(self, sums: Self::Sums) -> u16;

    /// The sum of the sixteen: the two halves lane by lane, then ((0+4)+(2+6)) + ((1+5)+(3+7)).
    fn total(self, sums: Self::Sums) -> f32;

    /// The weights at a lookup's indices, in some of its live lanes; 0 in the others.
    ///
    /// # Safety
    /// The indices of these lanes must be inside the weights.
    unsafe fn gather(
        self,
        weights: &[AtomicU32],
        lookup: &Lookup,
        indices: &Indices,
        lanes: u16,
    ) -> Self::Sums;

    /// Updates the weights at a lookup's indices, and the pairs of numbers that belong to them, by a rule. The result is
    /// that of updating one lane after the other: a weight can occur in several.
    ///
    /// # Safety
    /// The indices of live lanes must be inside the weights and the pairs.
    #[inline(always)]
    unsafe fn update(
        self,
        weights: &[AtomicU32],
        pairs: &[AtomicU64],
        lookup: &Lookup,
        indices: &Indices,
        rule: impl Rule,
    ) {
        // SAFETY: the caller guarantees it.
        unsafe { lanes::update_one_by_one(weights, pairs, lookup, indices, rule) }
    }

    /// Whether the bits of the first sixteen weights differ from these numbers. The weights should belong to one thread;
    /// concurrent writes of others may or may not be seen.
    #[inline(always)]
    fn differ(self, weights: &[AtomicU32], numbers: &[f32; BLOCK]) -> bool {
        let weights = weights[..BLOCK].iter().zip(numbers);
        weights.fold(0, |differ, (weight, number)| differ | weight.load(Relaxed) ^ number.to_bits()) != 0
    }

    /// Runs a kernel out of line, for rare cases inside another kernel.
    fn run_apart<K: Kernel>(self, kernel: K) -> K::Output;
}

/// How exponents are encoded as indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// Plain tables with c = 16: four bits a cell.
    Nibbles,
    /// All others: base-c numbers of labels in a value range.
    Labels,
}

/// The supported instruction sets.
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
    /// The levels of this processor, best last.
    pub fn available() -> Vec<Level> {
        let all = [Level::Portable, Level::Avx2, Level::Avx512];
        all.into_iter().filter(|level| level.is_available()).collect()
    }

    /// Whether this processor has it. Fast, since every dispatch calls it.
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

    /// The level that the environment variable [`Level::VARIABLE`] selects, or else the best one of this processor.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let asked = Level::asked_for().ok().flatten();
            asked.or_else(|| Level::available().pop()).unwrap_or(Level::Portable)
        })
    }

    /// The environment variable that selects an instruction set by name.
    pub const VARIABLE: &str = "AFTERSTATE_ISA";

    /// The level that the environment selects, if any.
    ///
    /// # Errors
    /// If there is no such level, or this processor lacks it.
    pub fn asked_for() -> Result<Option<Level>, LevelError> {
        std::env::var_os(Self::VARIABLE).map(|name| name.to_string_lossy().parse()).transpose()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

/// A name that is not an instruction set of this processor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={0} is not available: this processor has {names}", variable = Level::VARIABLE, names = names())]
pub struct LevelError(String);

/// The instruction sets of this processor.
fn names() -> String {
    Level::available().iter().map(|level| level.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Self, LevelError> {
        let level = Level::available().into_iter().find(|level| level.name() == text);
        level.ok_or_else(|| LevelError(text.to_owned()))
    }
}

/// A hot loop that is compiled for every instruction set.
pub trait Kernel {
    /// The result.
    type Output;

    /// The loop. Mark the implementation, and everything it calls in the loop, `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// Runs a kernel with an instruction set.
///
/// # Panics
/// If the processor lacks it.
pub fn dispatch<K: Kernel>(level: Level, kernel: K) -> K::Output {
    assert!(level.is_available(), "this processor has no {level:?}");
    match level {
        // SAFETY: checked above; the same holds below.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { Avx512::new() }.run_apart(kernel),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: checked above.
        Level::Avx2 => unsafe { Avx2::new() }.run_apart(kernel),
        _ => Portable.run_apart(kernel),
    }
}

/// Prefetches a cache line; does nothing on processors without such a hint.
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
