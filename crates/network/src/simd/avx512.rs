//! AVX-512: the sixteen lanes of a lookup in one vector.

use std::{
    arch::x86_64::*,
    sync::atomic::{AtomicU32, AtomicU64},
};

use super::{Encoding, Isa, Level, avx2};
use crate::{Lookup, Positions, lookup::SCATTER};

/// x86-64 with AVX-512 (F, BW, CD, DQ, VL).
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512;

impl Isa for Avx512 {
    type Sums = __m512;
    const LEVEL: Level = Level::Avx512;

    #[inline(always)]
    unsafe fn positions(board: &[u8; 16], encoding: Encoding, lookup: &Lookup) -> Positions {
        let mut positions = Positions::default();
        // SAFETY: AVX-512 is there; loads and stores are of whole arrays, whose alignment is 64.
        unsafe {
            let load = |array: *const __m512i| _mm512_load_si512(array);
            let board = _mm_loadu_si128(board.as_ptr().cast());
            let board = match encoding {
                Encoding::Nibbles => _mm_min_epu8(board, _mm_set1_epi8(15)),
                Encoding::Labels => avx2::labels(board, lookup),
            };
            let board = _mm512_broadcast_i32x4(board);
            let offset = load(lookup.offset.as_ptr().cast());
            let position = match encoding {
                Encoding::Nibbles => {
                    let even = _mm512_shuffle_epi8(board, load(lookup.even_nibbles.as_ptr().cast()));
                    let odd = _mm512_shuffle_epi8(board, load(lookup.odd_nibbles.as_ptr().cast()));
                    let nibbles = _mm512_or_si512(even, _mm512_slli_epi16::<4>(odd));
                    let shift = load(lookup.shift.as_ptr().cast());
                    let scattered = _mm512_xor_si512(nibbles, _mm512_srli_epi32::<{ SCATTER }>(nibbles));
                    let position = _mm512_add_epi32(_mm512_sllv_epi32(scattered, shift), offset);
                    if lookup.is_private {
                        // Bytes of two nibbles become numbers of six bits, then of twelve and of 24.
                        let upper = _mm512_and_si512(nibbles, _mm512_set1_epi8(0x70));
                        let digits = _mm512_sub_epi8(nibbles, _mm512_srli_epi16::<1>(upper));
                        let digits = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x4001));
                        let digits = _mm512_madd_epi16(digits, _mm512_set1_epi32(0x1000_0001));
                        let digits = _mm512_sllv_epi32(digits, shift);
                        let small = _mm512_testn_epi32_mask(nibbles, _mm512_set1_epi8(0x88_u8 as i8));
                        let apart = load(lookup.private_offset.as_ptr().cast());
                        _mm512_mask_add_epi32(position, small, digits, apart)
                    } else {
                        position
                    }
                }
                Encoding::Labels => {
                    let pair = load(lookup.pair.as_ptr().cast());
                    let four = |cells, pairs| {
                        let bytes = _mm512_shuffle_epi8(board, load(cells));
                        _mm512_madd_epi16(_mm512_maddubs_epi16(bytes, pair), load(pairs))
                    };
                    let low = four(lookup.low_cells.as_ptr().cast(), lookup.low_pairs.as_ptr().cast());
                    let high = four(lookup.high_cells.as_ptr().cast(), lookup.high_pairs.as_ptr().cast());
                    let high = _mm512_mullo_epi32(high, load(lookup.high.as_ptr().cast()));
                    let position = _mm512_add_epi32(_mm512_add_epi32(low, high), offset);
                    if lookup.is_long {
                        let top = four(lookup.top_cells.as_ptr().cast(), lookup.high_pairs.as_ptr().cast());
                        let top = _mm512_mullo_epi32(top, load(lookup.top.as_ptr().cast()));
                        _mm512_add_epi32(position, top)
                    } else {
                        position
                    }
                }
            };
            _mm512_store_si512(positions.0.as_mut_ptr().cast(), position);
        }
        positions
    }

    #[inline(always)]
    unsafe fn zero() -> Self::Sums {
        // SAFETY: AVX-512 is there.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn gather(
        weights: &[AtomicU32],
        lookup: &Lookup,
        positions: &Positions,
        lanes: u16,
    ) -> Self::Sums {
        // SAFETY: AVX-512 is there, and the positions of live lanes, the only ones that are loaded, lie
        // inside the weights. Other threads may store to them meanwhile: aligned four-byte loads never
        // tear, and any bits are an f32; it is what relaxed atomic loads compile to.
        unsafe {
            let base = weights.as_ptr().cast::<f32>().wrapping_offset(lookup.base());
            let index = _mm512_load_si512(positions.0.as_ptr().cast());
            _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, index, base)
        }
    }

    #[inline(always)]
    unsafe fn add(sums: Self::Sums, more: Self::Sums) -> Self::Sums {
        // SAFETY: AVX-512 is there.
        unsafe { _mm512_add_ps(sums, more) }
    }

    #[inline(always)]
    unsafe fn zeros(sums: Self::Sums) -> u16 {
        // SAFETY: AVX-512 is there.
        unsafe { _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(sums, _mm512_setzero_ps()) }
    }

    #[inline(always)]
    unsafe fn update_coherently(
        weights: &[AtomicU32],
        sums: &[AtomicU64],
        lookup: &Lookup,
        positions: &Positions,
        step: f32,
        error: f32,
    ) {
        // SAFETY: AVX-512 is there; the lanes of each round are live ones that differ in position.
        unsafe {
            let index = _mm512_load_si512(positions.0.as_ptr().cast());
            let conflicts = _mm512_conflict_epi32(index);
            let mut waiting = lookup.live_lanes();
            // Of lanes with the same weight the first one goes first. Mostly there are none.
            while waiting != 0 {
                let conflicts = _mm512_and_si512(conflicts, _mm512_set1_epi32(waiting.into()));
                let ready = _mm512_mask_testn_epi32_mask(waiting, conflicts, conflicts);
                update_lanes(weights, sums, lookup.base(), index, ready, step, error);
                waiting &= !ready;
            }
        }
    }

    #[inline(always)]
    unsafe fn total(sums: Self::Sums) -> f32 {
        // SAFETY: AVX-512 is there.
        unsafe {
            let high = _mm512_extractf32x8_ps::<1>(sums);
            avx2::total(_mm256_add_ps(_mm512_castps512_ps256(sums), high))
        }
    }
}

/// Moves the weights of some lanes as temporal coherence does, all at once.
///
/// # Safety
/// AVX-512 must be there; the lanes must have positions inside the weights and the sums, each its own.
#[inline(always)]
unsafe fn update_lanes(
    weights: &[AtomicU32],
    sums: &[AtomicU64],
    base: isize,
    index: __m512i,
    lanes: u16,
    step: f32,
    error: f32,
) {
    // SAFETY: as the caller. Aligned loads and stores of four and eight bytes never tear, and any bits
    // are an f32; it is what relaxed atomics compile to.
    unsafe {
        let weights: *mut f32 = weights.as_ptr().wrapping_offset(base).cast_mut().cast();
        let sums: *mut i64 = sums.as_ptr().wrapping_offset(base).cast_mut().cast();
        let (low, high) = (_mm512_castsi512_si256(index), _mm512_extracti64x4_epi64::<1>(index));
        let (low_lanes, high_lanes) = (lanes as u8, (lanes >> 8) as u8);
        let zero = _mm512_setzero_si512();
        let first = _mm512_castsi512_ps(_mm512_mask_i32gather_epi64::<8>(zero, low_lanes, low, sums));
        let second = _mm512_castsi512_ps(_mm512_mask_i32gather_epi64::<8>(zero, high_lanes, high, sums));
        let number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let evens = _mm512_slli_epi32::<1>(number);
        let e = _mm512_permutex2var_ps(first, evens, second);
        let a = _mm512_permutex2var_ps(first, _mm512_or_si512(evens, _mm512_set1_epi32(1)), second);
        let seen = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, _mm512_setzero_ps());
        let rate = _mm512_mask_div_ps(_mm512_set1_ps(1.0), seen, _mm512_abs_ps(e), a);
        let weight = _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, index, weights);
        let weight = _mm512_add_ps(weight, _mm512_mul_ps(rate, _mm512_set1_ps(step)));
        _mm512_mask_i32scatter_ps::<4>(weights, lanes, index, weight);
        let e = _mm512_add_ps(e, _mm512_set1_ps(error));
        let a = _mm512_add_ps(a, _mm512_set1_ps(error.abs()));
        // E of lane i/2 and A of lane i/2 take turns.
        let pairs = _mm512_or_si512(
            _mm512_srli_epi32::<1>(number),
            _mm512_slli_epi32::<4>(_mm512_and_si512(number, _mm512_set1_epi32(1))),
        );
        let first = _mm512_permutex2var_ps(e, pairs, a);
        let second = _mm512_permutex2var_ps(e, _mm512_add_epi32(pairs, _mm512_set1_epi32(8)), a);
        _mm512_mask_i32scatter_epi64::<8>(sums, low_lanes, low, _mm512_castps_si512(first));
        _mm512_mask_i32scatter_epi64::<8>(sums, high_lanes, high, _mm512_castps_si512(second));
    }
}
