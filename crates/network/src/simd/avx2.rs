//! AVX2: eight lanes in a vector, two vectors a lookup.

use std::{arch::x86_64::*, sync::atomic::AtomicU32};

use super::{BLOCK, Encoding, Isa, Kernel};
use crate::{Indices, Lookup, lookup::SCATTER};

/// x86-64 with AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The token.
    ///
    /// # Safety
    /// The processor must have the instruction set.
    pub(super) unsafe fn new() -> Self {
        Avx2(())
    }
}

impl Isa for Avx2 {
    type Sums = [__m256; 2];

    #[inline(always)]
    fn indices(self, board: &[u8; 16], encoding: Encoding, lookup: &Lookup) -> Indices {
        let mut indices = Indices::default();
        // SAFETY: the token proves that AVX2 is available; loads and stores are of halves of arrays, whose alignment is 64.
        unsafe {
            let board = _mm_loadu_si128(board.as_ptr().cast());
            let board = match encoding {
                Encoding::Nibbles => _mm_min_epu8(board, _mm_set1_epi8(15)),
                Encoding::Labels => labels(board, lookup),
            };
            let board = _mm256_broadcastsi128_si256(board);
            for half in 0..2 {
                let load = |array: *const __m256i| _mm256_load_si256(array.add(half));
                let offset = load(lookup.offset.as_ptr().cast());
                let index = match encoding {
                    Encoding::Nibbles => {
                        let even = _mm256_shuffle_epi8(board, load(lookup.even_nibbles.as_ptr().cast()));
                        let odd = _mm256_shuffle_epi8(board, load(lookup.odd_nibbles.as_ptr().cast()));
                        let nibbles = _mm256_or_si256(even, _mm256_slli_epi16::<4>(odd));
                        let shift = load(lookup.shift.as_ptr().cast());
                        let scattered =
                            _mm256_xor_si256(nibbles, _mm256_srli_epi32::<{ SCATTER as i32 }>(nibbles));
                        let index = _mm256_add_epi32(_mm256_sllv_epi32(scattered, shift), offset);
                        if lookup.is_private {
                            // Pairs of nibbles are packed into six bits, then into 12 and 24.
                            let upper = _mm256_and_si256(nibbles, _mm256_set1_epi8(0x70));
                            let digits = _mm256_sub_epi8(nibbles, _mm256_srli_epi16::<1>(upper));
                            let digits = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x4001));
                            let digits = _mm256_madd_epi16(digits, _mm256_set1_epi32(0x1000_0001));
                            let digits = _mm256_sllv_epi32(digits, shift);
                            let large = _mm256_and_si256(nibbles, _mm256_set1_epi8(0x88_u8 as i8));
                            let small = _mm256_cmpeq_epi32(large, _mm256_setzero_si256());
                            let apart = load(lookup.private_offset.as_ptr().cast());
                            _mm256_blendv_epi8(index, _mm256_add_epi32(digits, apart), small)
                        } else {
                            index
                        }
                    }
                    Encoding::Labels => {
                        let pair = load(lookup.pair.as_ptr().cast());
                        let four = |cells, pairs| {
                            let bytes = _mm256_shuffle_epi8(board, load(cells));
                            _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, pair), load(pairs))
                        };
                        let low = four(lookup.low_cells.as_ptr().cast(), lookup.low_pairs.as_ptr().cast());
                        let high = four(lookup.high_cells.as_ptr().cast(), lookup.high_pairs.as_ptr().cast());
                        let high = _mm256_mullo_epi32(high, load(lookup.high.as_ptr().cast()));
                        let index = _mm256_add_epi32(_mm256_add_epi32(low, high), offset);
                        if lookup.is_long {
                            let top =
                                four(lookup.top_cells.as_ptr().cast(), lookup.high_pairs.as_ptr().cast());
                            let top = _mm256_mullo_epi32(top, load(lookup.top.as_ptr().cast()));
                            _mm256_add_epi32(index, top)
                        } else {
                            index
                        }
                    }
                };
                _mm256_store_si256(indices.0.as_mut_ptr().cast::<__m256i>().add(half), index);
            }
        }
        indices
    }

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        // SAFETY: the token proves that AVX2 is available.
        unsafe { [_mm256_setzero_ps(); 2] }
    }

    #[inline(always)]
    unsafe fn gather(
        self,
        weights: &[AtomicU32],
        lookup: &Lookup,
        indices: &Indices,
        lanes: u16,
    ) -> Self::Sums {
        // SAFETY: the token proves that AVX2 is available, and the indices of live lanes, the only ones that are loaded, lie
        // inside the weights. Other threads may store to them concurrently: aligned four-byte loads never
        // tear, and any bits are an f32; relaxed atomic loads compile to the same code.
        unsafe {
            let base = weights.as_ptr().cast::<f32>().wrapping_offset(lookup.base());
            let index = indices.0.as_ptr().cast::<__m256i>();
            let (low, high) = (_mm256_load_si256(index), _mm256_load_si256(index.add(1)));
            if lanes == 0xffff {
                let first = indices.0.as_ptr();
                return [load_eight(base, first), load_eight(base, first.add(8))];
            }
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let wanted = _mm256_and_si256(_mm256_set1_epi32(lanes.into()), bits);
            let wanted = _mm256_castsi256_ps(_mm256_cmpeq_epi32(wanted, bits));
            let first = _mm256_mask_i32gather_ps::<4>(_mm256_setzero_ps(), base, low, wanted);
            let wanted = _mm256_and_si256(_mm256_set1_epi32((lanes >> 8).into()), bits);
            let wanted = _mm256_castsi256_ps(_mm256_cmpeq_epi32(wanted, bits));
            [first, _mm256_mask_i32gather_ps::<4>(_mm256_setzero_ps(), base, high, wanted)]
        }
    }

    #[inline(always)]
    fn add(self, sums: Self::Sums, more: Self::Sums) -> Self::Sums {
        // SAFETY: the token proves that AVX2 is available.
        unsafe { [_mm256_add_ps(sums[0], more[0]), _mm256_add_ps(sums[1], more[1])] }
    }

    #[inline(always)]
    fn zeros(self, [low, high]: Self::Sums) -> u16 {
        // SAFETY: the token proves that AVX2 is available.
        unsafe {
            let low = _mm256_cmp_ps::<_CMP_EQ_OQ>(low, _mm256_setzero_ps());
            let high = _mm256_cmp_ps::<_CMP_EQ_OQ>(high, _mm256_setzero_ps());
            (_mm256_movemask_ps(low) | _mm256_movemask_ps(high) << 8) as u16
        }
    }

    #[inline(always)]
    fn total(self, [low, high]: Self::Sums) -> f32 {
        // SAFETY: the token proves that AVX2 is available.
        unsafe { total(_mm256_add_ps(low, high)) }
    }

    #[inline(always)]
    fn differ(self, weights: &[AtomicU32], numbers: &[f32; BLOCK]) -> bool {
        let (weights, numbers) =
            (weights[..BLOCK].as_ptr().cast::<__m256i>(), numbers.as_ptr().cast::<__m256i>());
        // SAFETY: the token proves that AVX2 is available; sixteen weights and sixteen numbers are loaded. Other threads may
        // store to them concurrently, as in `gather`.
        unsafe {
            let half =
                |i| _mm256_xor_si256(_mm256_loadu_si256(weights.add(i)), _mm256_loadu_si256(numbers.add(i)));
            let differ = _mm256_or_si256(half(0), half(1));
            _mm256_testz_si256(differ, differ) == 0
        }
    }

    #[inline(always)]
    fn run_apart<K: Kernel>(self, kernel: K) -> K::Output {
        /// # Safety
        /// The processor must have the instruction set.
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
        unsafe fn run<K: Kernel>(isa: Avx2, kernel: K) -> K::Output {
            kernel.run(isa)
        }
        // SAFETY: the token proves it.
        unsafe { run(self, kernel) }
    }
}

/// The weights at eight indices, by eight loads: on many processors gathers are slower.
///
/// # Safety
/// AVX must be available, and the indices must be inside the weights.
#[inline(always)]
pub(super) unsafe fn load_eight(weights: *const f32, index: *const i32) -> __m256 {
    // SAFETY: the caller guarantees it.
    unsafe {
        let at = |lane: usize| *weights.wrapping_offset(*index.add(lane) as isize);
        _mm256_setr_ps(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
    }
}

/// The labels of a board's exponents in a lookup's value range.
///
/// # Safety
/// SSE4.1 must be available.
/// SSE4.1 must be available.
#[inline(always)]
pub(super) unsafe fn labels(board: __m128i, lookup: &Lookup) -> __m128i {
    // SAFETY: the caller guarantees it.
    unsafe {
        let all = |byte: u8| _mm_set1_epi8(byte as i8);
        let inside = _mm_max_epu8(_mm_min_epu8(board, all(lookup.largest)), all(lookup.smallest));
        let empty = _mm_cmpeq_epi8(board, _mm_setzero_si128());
        _mm_andnot_si128(empty, _mm_sub_epi8(inside, all(lookup.subtract)))
    }
}

/// ((0+4)+(2+6)) + ((1+5)+(3+7)).
///
/// # Safety
/// AVX must be available.
#[inline(always)]
pub(super) unsafe fn total(v: __m256) -> f32 {
    // SAFETY: the caller guarantees it.
    unsafe {
        let v = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
        let v = _mm_add_ps(v, _mm_movehl_ps(v, v));
        _mm_cvtss_f32(_mm_add_ss(v, _mm_shuffle_ps::<1>(v, v)))
    }
}
