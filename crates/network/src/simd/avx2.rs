//! AVX2: four lanes in a vector, two vectors a lookup.

use std::{arch::x86_64::*, sync::atomic::AtomicU32};

use super::Isa;
use crate::{Lookup, Positions};

/// x86-64 with AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2;

impl Isa for Avx2 {
    type Values = [__m128; 2];

    #[inline(always)]
    unsafe fn positions(board: &[u8; 16], largest: u8, lookup: &Lookup) -> Positions {
        let mut positions = Positions::default();
        // SAFETY: AVX2 is there; all loads and stores stay inside the arrays, whose alignment is 64.
        unsafe {
            let board = _mm_min_epu8(_mm_loadu_si128(board.as_ptr().cast()), _mm_set1_epi8(largest as i8));
            let board = _mm256_broadcastsi128_si256(board);
            for half in 0..2 {
                let load = |array: *const __m256i| _mm256_load_si256(array.add(half));
                let bytes = _mm256_shuffle_epi8(board, load(lookup.shuffle.as_ptr().cast()));
                let low = _mm256_and_si256(bytes, _mm256_set1_epi8(lookup.low_bits as i8));
                let pairs = _mm256_maddubs_epi16(low, load(lookup.pair.as_ptr().cast()));
                let halves = _mm256_madd_epi16(pairs, load(lookup.quad.as_ptr().cast()));
                let low = _mm256_and_si256(halves, _mm256_set1_epi64x(0xffff_ffff));
                let high = _mm256_srli_epi64::<32>(halves);
                let high = _mm256_mul_epu32(high, load(lookup.high.as_ptr().cast()));
                let low = _mm256_add_epi64(low, load(lookup.offset.as_ptr().cast()));
                // The block bits of a lane's eight bytes, as a number: bit 3 moves to the sign bit.
                let upper = _mm256_and_si256(bytes, _mm256_set1_epi8(lookup.block_bit as i8));
                let upper = _mm256_movemask_epi8(_mm256_slli_epi16::<4>(upper));
                let upper = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(upper));
                let block = _mm256_mul_epu32(upper, load(lookup.block.as_ptr().cast()));
                let low = _mm256_add_epi64(low, block);
                let target: *mut __m256i = positions.0.as_mut_ptr().cast();
                _mm256_store_si256(target.add(half), _mm256_add_epi64(low, high));
            }
        }
        positions
    }

    #[inline(always)]
    unsafe fn zero() -> Self::Values {
        // SAFETY: AVX2 is there.
        unsafe { [_mm_setzero_ps(); 2] }
    }

    #[inline(always)]
    unsafe fn add(sum: Self::Values, weights: &[AtomicU32], positions: &Positions) -> Self::Values {
        // SAFETY: AVX2 is there, and the caller keeps the positions inside the weights. Other
        // threads may store to them meanwhile: aligned four-byte loads never tear, and any bits are
        // a valid f32; this is what relaxed atomic loads compile to.
        unsafe {
            let weights: *const f32 = weights.as_ptr().cast();
            let index: *const __m256i = positions.0.as_ptr().cast();
            let low = _mm256_i64gather_ps::<4>(weights, _mm256_load_si256(index));
            let high = _mm256_i64gather_ps::<4>(weights, _mm256_load_si256(index.add(1)));
            [_mm_add_ps(sum[0], low), _mm_add_ps(sum[1], high)]
        }
    }

    #[inline(always)]
    unsafe fn total([low, high]: Self::Values) -> f32 {
        // SAFETY: AVX2 is there.
        unsafe { total(_mm_add_ps(low, high)) }
    }
}

/// (0+2) + (1+3).
///
/// # Safety
/// None beyond SSE, which every x86-64 has.
#[inline(always)]
pub(super) unsafe fn total(v: __m128) -> f32 {
    // SAFETY: SSE is part of the x86-64 baseline.
    unsafe {
        let v = _mm_add_ps(v, _mm_movehl_ps(v, v));
        _mm_cvtss_f32(_mm_add_ss(v, _mm_shuffle_ps::<1>(v, v)))
    }
}
