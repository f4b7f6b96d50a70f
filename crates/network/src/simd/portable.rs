//! Plain Rust: the reference for the vector paths, and the path for other processors.

use std::{
    array::from_fn,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use super::Isa;
use crate::{LANES, Lookup, Positions};

/// Plain Rust.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl Isa for Portable {
    type Values = [f32; LANES];

    #[inline(always)]
    unsafe fn positions(board: &[u8; 16], largest: u8, lookup: &Lookup) -> Positions {
        Positions(from_fn(|lane| {
            let digit = |p: usize| {
                let byte = lookup.shuffle[8 * lane + p];
                if byte < 16 { board[usize::from(byte)].min(largest) } else { 0 }
            };
            let low = |p: usize| u64::from(digit(p) & lookup.low_bits);
            let pair = |q: usize| {
                let factor = |p: usize| lookup.pair[8 * lane + p] as u64;
                low(2 * q) * factor(2 * q) + low(2 * q + 1) * factor(2 * q + 1)
            };
            let half = |h: usize| {
                let factor = |q: usize| lookup.quad[4 * lane + q] as u64;
                pair(2 * h) * factor(2 * h) + pair(2 * h + 1) * factor(2 * h + 1)
            };
            let upper = |p: usize| u64::from(digit(p) & lookup.block_bit != 0) << p;
            let block = (0..8).map(upper).sum::<u64>();
            half(0) + half(1) * lookup.high[lane] + block * lookup.block[lane] + lookup.offset[lane]
        }))
    }

    #[inline(always)]
    unsafe fn zero() -> Self::Values {
        [0.0; LANES]
    }

    #[inline(always)]
    unsafe fn add(sum: Self::Values, weights: &[AtomicU32], positions: &Positions) -> Self::Values {
        from_fn(|lane| sum[lane] + f32::from_bits(weights[positions.0[lane] as usize].load(Relaxed)))
    }

    #[inline(always)]
    unsafe fn total(v: Self::Values) -> f32 {
        ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
    }
}
