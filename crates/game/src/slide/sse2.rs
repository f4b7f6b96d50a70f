//! Slides with SSE2, which every x86-64 has.

use super::{Lanes, Slid, slide_lines};
use std::arch::x86_64::*;

macro_rules! sse2 {
    ($e:expr) => {{
        // SAFETY: SSE2 is part of the x86-64 baseline; the operation works on values only.
        #[allow(unused_unsafe)]
        unsafe {
            $e
        }
    }};
}

impl Lanes for __m128i {
    // SAFETY: sixteen bytes of zeros are a valid vector.
    const ZERO: Self = unsafe { std::mem::zeroed() };
    #[inline(always)]
    fn eq(self, other: Self) -> Self {
        sse2!(_mm_cmpeq_epi8(self, other))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        sse2!(_mm_and_si128(self, other))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        sse2!(_mm_or_si128(self, other))
    }
    #[inline(always)]
    fn unless(self, mask: Self) -> Self {
        sse2!(_mm_andnot_si128(mask, self))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        sse2!(_mm_sub_epi8(self, other))
    }
}

#[inline(always)]
fn load(bytes: [u8; 16]) -> __m128i {
    // SAFETY: both are sixteen plain bytes.
    unsafe { std::mem::transmute(bytes) }
}

#[inline(always)]
fn store(vector: __m128i) -> [u8; 16] {
    // SAFETY: both are sixteen plain bytes.
    unsafe { std::mem::transmute(vector) }
}

/// The bytes that are 0, as a bit mask.
#[inline(always)]
pub(crate) fn zero_bytes(bytes: [u8; 16]) -> u16 {
    sse2!(_mm_movemask_epi8(_mm_cmpeq_epi8(load(bytes), _mm_setzero_si128())) as u16)
}

/// Transposes the 4×4 bytes: two perfect shuffles.
#[inline(always)]
fn transpose(v: __m128i) -> __m128i {
    let shuffle = |v| sse2!(_mm_unpacklo_epi8(v, as_it_is(_mm_unpackhi_epi64(v, v))));
    shuffle(shuffle(v))
}

/// Hides a value's origin from the optimiser, which would otherwise turn the two shuffles of a
/// transposition into a dozen instructions where SSSE3's byte permute is unavailable.
#[inline(always)]
fn as_it_is(mut v: __m128i) -> __m128i {
    if cfg!(target_feature = "ssse3") {
        return v;
    }
    // SAFETY: the assembly contains no instruction.
    unsafe { std::arch::asm!("/* {0} */", inout(xmm_reg) v, options(pure, nomem, nostack, preserves_flags)) };
    v
}

/// Lays the lines of the four moves side by side: in the `k`-th vector, the `k`-th cells from the
/// front of the four lines of up, then of left, down and right.
#[inline(always)]
fn gather_lines<const N: usize>(rows: __m128i) -> [__m128i; 4] {
    let columns = transpose(rows);
    sse2!({
        // Rows 0 and columns 0, rows 1 and columns 1; then 2 and 3.
        let pairs = [_mm_unpacklo_epi32(rows, columns), _mm_unpackhi_epi32(rows, columns)];
        let turned = mirror_pairs::<N>(pairs);
        [
            _mm_unpacklo_epi64(pairs[0], turned[0]),
            _mm_unpackhi_epi64(pairs[0], turned[0]),
            _mm_unpacklo_epi64(pairs[1], turned[1]),
            _mm_unpackhi_epi64(pairs[1], turned[1]),
        ]
    })
}

/// Reverses the order of the first `N` of four pairs, two in a vector; the others are empty.
#[inline(always)]
fn mirror_pairs<const N: usize>([front, back]: [__m128i; 2]) -> [__m128i; 2] {
    let swap = |v| sse2!(_mm_shuffle_epi32::<0b01_00_11_10>(v));
    match N {
        4 => [swap(back), swap(front)],
        3 => [sse2!(_mm_unpacklo_epi64(back, swap(front))), sse2!(_mm_unpacklo_epi64(front, swap(back)))],
        _ => [swap(front), back],
    }
}

/// The boards of the four moves, by move number, from their lines.
#[inline(always)]
fn scatter_lines<const N: usize>([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    // The front of down and right is the last row or column.
    let [e, f, g, h] = match N {
        4 => [d, c, b, a],
        3 => [c, b, a, d],
        _ => [b, a, c, d],
    };
    sse2!([
        _mm_unpacklo_epi64(_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d)),
        _mm_unpackhi_epi8(_mm_unpackhi_epi8(e, g), _mm_unpackhi_epi8(f, h)),
        _mm_unpacklo_epi64(_mm_unpackhi_epi32(e, f), _mm_unpackhi_epi32(g, h)),
        _mm_unpackhi_epi8(_mm_unpacklo_epi8(a, c), _mm_unpacklo_epi8(b, d)),
    ])
}

/// The four slides of a board by move number: boards, rewards, mask of the legal moves.
#[inline(always)]
pub(crate) fn slides<const N: usize>(board: [u8; 16]) -> ([[u8; 16]; 4], [u32; 4], u8) {
    let Slid { cells, merged, moved } = slide_lines(gather_lines::<N>(load(board)));
    (scatter_lines::<N>(cells).map(store), rewards(merged), legal(moved))
}

/// The mask, by move number, of the moves that change at least one of their lines.
#[inline(always)]
fn legal(moved: __m128i) -> u8 {
    sse2!({
        let still = _mm_cmpeq_epi32(moved, _mm_setzero_si128());
        let by_number = _mm_shuffle_epi32::<0b01_10_11_00>(still);
        0b1111 ^ _mm_movemask_ps(_mm_castsi128_ps(by_number)) as u8
    })
}

/// Adds 2^exponent over the merged tiles of each move's four lines.
///
/// A line merges the same tiles in both directions, so up and left also give down and right. Written to
/// the exponent field of an f32, an exponent is the number 2^(exponent − 127), and 0 is 0.0: sums of
/// such numbers are exact.
#[inline(always)]
fn rewards([first, second]: [__m128i; 2]) -> [u32; 4] {
    sse2!({
        let zero = _mm_setzero_si128();
        let words = |bytes| _mm_srli_epi16::<1>(_mm_unpacklo_epi8(zero, bytes));
        let (firsts, seconds) = (words(first), words(second));
        let up = |words| _mm_castsi128_ps(_mm_unpacklo_epi16(zero, words));
        let left = |words| _mm_castsi128_ps(_mm_unpackhi_epi16(zero, words));
        let up = _mm_add_ps(up(firsts), up(seconds));
        let left = _mm_add_ps(left(firsts), left(seconds));
        let halves = _mm_add_ps(_mm_unpacklo_ps(up, left), _mm_unpackhi_ps(up, left));
        // Up, left, up, left.
        let sums = _mm_add_ps(_mm_movelh_ps(halves, halves), _mm_movehl_ps(halves, halves));
        let scaled = _mm_cvttps_epi32(_mm_mul_ps(sums, _mm_set1_ps(2f32.powi(127))));
        std::mem::transmute::<__m128i, [u32; 4]>(scaled)
    })
}
