//! AVX-512: the eight lanes of a lookup in one vector.

use std::{arch::x86_64::*, sync::atomic::AtomicU32};

use super::{Isa, avx2};
use crate::{Lookup, Positions};

/// x86-64 with AVX-512 (F, BW, DQ, VL).
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512;

impl Isa for Avx512 {
    type Values = __m256;

    #[inline(always)]
    unsafe fn positions(board: &[u8; 16], largest: u8, lookup: &Lookup) -> Positions {
        let mut positions = Positions::default();
        // SAFETY: AVX-512 is there; loads and stores are of whole arrays, whose alignment is 64.
        unsafe {
            let board = _mm_min_epu8(_mm_loadu_si128(board.as_ptr().cast()), _mm_set1_epi8(largest as i8));
            let board = _mm512_broadcast_i32x4(board);
            let bytes = _mm512_shuffle_epi8(board, _mm512_load_si512(lookup.shuffle.as_ptr().cast()));
            let low = _mm512_and_si512(bytes, _mm512_set1_epi8(lookup.low_bits as i8));
            let pairs = _mm512_maddubs_epi16(low, _mm512_load_si512(lookup.pair.as_ptr().cast()));
            let halves = _mm512_madd_epi16(pairs, _mm512_load_si512(lookup.quad.as_ptr().cast()));
            let low = _mm512_and_si512(halves, _mm512_set1_epi64(0xffff_ffff));
            let high = _mm512_srli_epi64::<32>(halves);
            let high = _mm512_mul_epu32(high, _mm512_load_si512(lookup.high.as_ptr().cast()));
            let low = _mm512_add_epi64(low, _mm512_load_si512(lookup.offset.as_ptr().cast()));
            // The block bits of a lane's eight bytes, as a number.
            let upper = _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(lookup.block_bit as i8));
            let upper = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(upper as i64));
            let block = _mm512_mul_epu32(upper, _mm512_load_si512(lookup.block.as_ptr().cast()));
            let low = _mm512_add_epi64(low, block);
            _mm512_store_si512(positions.0.as_mut_ptr().cast(), _mm512_add_epi64(low, high));
        }
        positions
    }

    #[inline(always)]
    unsafe fn zero() -> Self::Values {
        // SAFETY: AVX-512 is there.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn add(sum: Self::Values, weights: &[AtomicU32], positions: &Positions) -> Self::Values {
        // SAFETY: AVX-512 is there, and the caller keeps the positions inside the weights. Other
        // threads may store to them meanwhile: aligned four-byte loads never tear, and any bits are
        // a valid f32; this is what relaxed atomic loads compile to.
        unsafe {
            let index = _mm512_load_si512(positions.0.as_ptr().cast());
            _mm256_add_ps(sum, _mm512_i64gather_ps::<4>(index, weights.as_ptr().cast()))
        }
    }

    #[inline(always)]
    unsafe fn total(values: Self::Values) -> f32 {
        // SAFETY: AVX-512 is there.
        unsafe {
            let high = _mm256_extractf128_ps::<1>(values);
            avx2::total(_mm_add_ps(_mm256_castps256_ps128(values), high))
        }
    }
}
