//! AVX-512: the sixteen lanes of a lookup in one vector.

use std::{arch::x86_64::*, sync::atomic::AtomicU32};

use super::{Encoding, Isa, avx2};
use crate::{Lookup, Positions};

/// x86-64 with AVX-512 (F, BW, DQ, VL).
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512;

impl Isa for Avx512 {
    type Sums = __m512;

    #[inline(always)]
    unsafe fn positions(board: &[u8; 16], encoding: Encoding, lookup: &Lookup) -> Positions {
        let mut positions = Positions::default();
        // SAFETY: AVX-512 is there; loads and stores are of whole arrays, whose alignment is 64.
        unsafe {
            let load = |array: *const __m512i| _mm512_load_si512(array);
            let board = _mm_loadu_si128(board.as_ptr().cast());
            let largest = if let Encoding::Linear(largest) = encoding { largest } else { 15 };
            let board = _mm512_broadcast_i32x4(_mm_min_epu8(board, _mm_set1_epi8(largest as i8)));
            let offset = load(lookup.offset.as_ptr().cast());
            let position = match encoding {
                Encoding::Nibbles => {
                    let even = _mm512_shuffle_epi8(board, load(lookup.even_nibbles.as_ptr().cast()));
                    let odd = _mm512_shuffle_epi8(board, load(lookup.odd_nibbles.as_ptr().cast()));
                    let nibbles = _mm512_or_si512(even, _mm512_slli_epi16::<4>(odd));
                    let shift = load(lookup.shift.as_ptr().cast());
                    let position = _mm512_add_epi32(_mm512_sllv_epi32(nibbles, shift), offset);
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
                Encoding::Linear(_) => {
                    let pair = load(lookup.pair.as_ptr().cast());
                    let four = |cells, pairs| {
                        let bytes = _mm512_shuffle_epi8(board, load(cells));
                        _mm512_madd_epi16(_mm512_maddubs_epi16(bytes, pair), load(pairs))
                    };
                    let low = four(lookup.low_cells.as_ptr().cast(), lookup.low_pairs.as_ptr().cast());
                    let high = four(lookup.high_cells.as_ptr().cast(), lookup.high_pairs.as_ptr().cast());
                    let high = _mm512_mullo_epi32(high, load(lookup.high.as_ptr().cast()));
                    _mm512_add_epi32(_mm512_add_epi32(low, high), offset)
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
    unsafe fn add(
        sums: Self::Sums,
        weights: &[AtomicU32],
        lookup: &Lookup,
        positions: &Positions,
    ) -> Self::Sums {
        // SAFETY: AVX-512 is there, and the positions of the live lanes, the only ones that are
        // loaded, lie inside the weights. Other threads may store to them meanwhile: aligned
        // four-byte loads never tear, and any bits are an f32; it is what relaxed atomic loads
        // compile to.
        unsafe {
            let base = weights.as_ptr().cast::<f32>().wrapping_offset(lookup.base());
            let index = _mm512_load_si512(positions.0.as_ptr().cast());
            let live = (0xffff_u32 >> (16 - lookup.live())) as u16;
            _mm512_add_ps(sums, _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), live, index, base))
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
