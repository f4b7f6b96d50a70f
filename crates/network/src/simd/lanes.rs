//! Update rules written once, for a single number and for a vector of them.

use std::{
    ops::{Add, Mul},
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use crate::{Indices, Lookup};

/// One f32, or sixteen of them lane by lane. Both give the same bits.
pub trait Lanes: Copy + Add<Output = Self> + Mul<Output = Self> {
    /// A number in every lane.
    fn splat(self, number: f32) -> Self;

    /// The absolute value.
    fn abs(self) -> Self;

    /// The quotient, or `otherwise` where the divisor is 0.
    fn divided_or(self, divisor: Self, otherwise: f32) -> Self;
}

impl Lanes for f32 {
    #[inline(always)]
    fn splat(self, number: f32) -> f32 {
        number
    }

    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }

    #[inline(always)]
    fn divided_or(self, divisor: f32, otherwise: f32) -> f32 {
        if divisor == 0.0 { otherwise } else { self / divisor }
    }
}

/// How an update changes a weight and the pair of numbers that belongs to it.
pub trait Rule: Copy {
    /// The new weight and its new pair.
    fn apply<L: Lanes>(self, weight: L, pair: (L, L)) -> (L, (L, L));
}

/// The two numbers in one word: the lower half and the upper.
#[inline(always)]
pub fn unpack(word: u64) -> (f32, f32) {
    (f32::from_bits(word as u32), f32::from_bits((word >> 32) as u32))
}

/// Combines two numbers into one word: the lower half and the upper.
#[inline(always)]
pub fn pack((low, high): (f32, f32)) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

/// Defines [`Isa::update`](super::Isa::update), and implements it for processors without scatters.
///
/// # Safety
/// The indices of live lanes must be inside the weights and the pairs.
#[inline(always)]
pub(super) unsafe fn update_one_by_one(
    weights: &[AtomicU32],
    pairs: &[AtomicU64],
    lookup: &Lookup,
    indices: &Indices,
    rule: impl Rule,
) {
    for &index in &indices.0[..lookup.live()] {
        let index = (lookup.base() + index as isize) as usize;
        // SAFETY: the caller guarantees it.
        let (weight, pair) = unsafe { (weights.get_unchecked(index), pairs.get_unchecked(index)) };
        let (new, kept) = rule.apply(f32::from_bits(weight.load(Relaxed)), unpack(pair.load(Relaxed)));
        weight.store(new.to_bits(), Relaxed);
        pair.store(pack(kept), Relaxed);
    }
}
