//! The merge rule, once, on sixteen lines at a time.
//!
//! A 4×4 board has four lines in each of the four directions. All sixteen are laid side by side,
//! front cells in the first vector, second cells in the next, and so on: sliding is then the same
//! few byte operations in every lane, for all four moves together, and no table is read. A smaller
//! board is the same with its last cells empty.

/// Sixteen bytes with lane-wise operations; masks are 0xff (true) or 0 in each lane.
trait Lanes: Copy {
    const ZERO: Self;
    fn eq(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    /// `self` where the mask is false, 0 elsewhere.
    fn unless(self, mask: Self) -> Self;
    fn sub(self, other: Self) -> Self;
}

/// Slides every line towards its front. Gives the four cells of each line and the exponents of the
/// tiles that merging made: at most two in a line, 0 for none.
#[inline(always)]
fn slide_lines<L: Lanes>(lines: [L; 4]) -> ([L; 4], [L; 2]) {
    let [a, b, c, d] = close_gaps(lines);
    // From the front, a tile that has merged does not merge again.
    let ab = a.eq(b).unless(b.eq(L::ZERO));
    let bc = b.eq(c).unless(c.eq(L::ZERO)).unless(ab);
    let cd = c.eq(d).unless(d.eq(L::ZERO)).unless(bc);
    // A true mask is −1 in each lane, so subtracting it doubles the tile.
    let a = a.sub(ab);
    let b = b.unless(ab).sub(bc);
    let c = c.unless(bc).sub(cd);
    let d = d.unless(cd);
    let merged = [a.and(ab).or(b.and(bc)), c.and(cd)];
    // A merge of the first two leaves a gap in the second place, one of the next two in the third.
    let gap = ab.or(bc);
    ([a, b.or(c.and(ab)), c.unless(ab).or(d.and(gap)), d.unless(gap)], merged)
}

/// Moves the tiles of every line forward over its empty cells.
#[inline(always)]
fn close_gaps<L: Lanes>(mut line: [L; 4]) -> [L; 4] {
    for (front, back) in [(2, 3), (1, 2), (0, 1), (2, 3), (1, 2), (2, 3)] {
        let gap = line[front].eq(L::ZERO);
        line[front] = line[front].or(line[back].and(gap));
        line[back] = line[back].unless(gap);
    }
    line
}

#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::{slides, zero_bytes};

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::{slides, zero_bytes};

/// SSE2, which every x86-64 has.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::{Lanes, slide_lines};
    use std::arch::x86_64::*;

    // SAFETY of this module: SSE2 is part of the x86-64 baseline, and nothing here reads or writes
    // memory except through values.
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

    /// Hides a value's origin from the optimiser, which would make a dozen instructions of the two
    /// shuffles of a transposition: without the byte permutes of later processors it finds no better.
    #[inline(always)]
    fn as_it_is(mut v: __m128i) -> __m128i {
        // SAFETY: there is no instruction.
        unsafe {
            std::arch::asm!("/* {0} */", inout(xmm_reg) v, options(pure, nomem, nostack, preserves_flags))
        };
        v
    }

    /// Lays the lines of the four moves side by side: in the `k`-th vector, the `k`-th cells from the
    /// front of the four lines of up, then of left, down and right.
    #[inline(always)]
    fn gather_lines<const N: usize>(rows: __m128i) -> [__m128i; 4] {
        let columns = transpose(rows);
        sse2!({
            // Row and column 0, row and column 1; then 2 and 3.
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

    /// Mirrors the order of the first `N` of four pairs, two in a vector; the others are empty.
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
    fn scatter_lines<const N: usize>(lines: [__m128i; 4]) -> [__m128i; 4] {
        let [a, b, c, d] = lines;
        let mirrored = match N {
            4 => [d, c, b, a],
            3 => [c, b, a, d],
            _ => [b, a, c, d],
        };
        sse2!({
            let up_left = [_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d)];
            let [a, b, c, d] = mirrored;
            let down_right = [_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d)];
            [
                _mm_unpacklo_epi64(up_left[0], up_left[1]),
                transpose(_mm_unpackhi_epi64(down_right[0], down_right[1])),
                _mm_unpacklo_epi64(down_right[0], down_right[1]),
                transpose(_mm_unpackhi_epi64(up_left[0], up_left[1])),
            ]
        })
    }

    /// The four slides of a board by move number: boards, rewards, mask of the legal ones.
    #[inline(always)]
    pub(crate) fn slides<const N: usize>(board: [u8; 16]) -> ([[u8; 16]; 4], [u32; 4], u8) {
        let lines = gather_lines::<N>(load(board));
        let (slid, merged) = slide_lines(lines);
        (scatter_lines::<N>(slid).map(store), rewards(merged), legal(lines, slid))
    }

    /// The moves, by number, that change a line.
    #[inline(always)]
    fn legal(lines: [__m128i; 4], slid: [__m128i; 4]) -> u8 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| lines[k].eq(slid[k]));
        let same = a.and(b).and(c.and(d));
        sse2!({
            let same = _mm_cmpeq_epi32(same, _mm_set1_epi32(-1));
            let by_number = _mm_shuffle_epi32::<0b01_10_11_00>(same);
            0b1111 ^ _mm_movemask_ps(_mm_castsi128_ps(by_number)) as u8
        })
    }

    /// Adds 2^exponent over the merged tiles of each move's four lines.
    ///
    /// A line merges the same tiles whichever way it slides, so up and left stand for down and right.
    /// An exponent in the exponent field of an f32 is the number 2^(exponent − 127), and 0 is 0.0: sums
    /// of such numbers are exact.
    #[inline(always)]
    fn rewards([first, second]: [__m128i; 2]) -> [u32; 4] {
        sse2!({
            let zero = _mm_setzero_si128();
            let pairs = _mm_unpacklo_epi8(first, second);
            let firsts = _mm_slli_epi16::<7>(_mm_and_si128(pairs, _mm_set1_epi16(0xff)));
            let seconds = _mm_slli_epi16::<7>(_mm_srli_epi16::<8>(pairs));
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
}

/// Plain Rust, for every other processor; the twin that tests compare the vectors with.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::{Lanes, slide_lines};
    use std::array::from_fn;

    impl Lanes for [u8; 16] {
        const ZERO: Self = [0; 16];
        #[inline(always)]
        fn eq(self, other: Self) -> Self {
            from_fn(|i| if self[i] == other[i] { 0xff } else { 0 })
        }
        #[inline(always)]
        fn and(self, other: Self) -> Self {
            from_fn(|i| self[i] & other[i])
        }
        #[inline(always)]
        fn or(self, other: Self) -> Self {
            from_fn(|i| self[i] | other[i])
        }
        #[inline(always)]
        fn unless(self, mask: Self) -> Self {
            from_fn(|i| self[i] & !mask[i])
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            from_fn(|i| self[i].wrapping_sub(other[i]))
        }
    }

    /// The bytes that are 0, as a bit mask.
    #[inline(always)]
    pub(crate) fn zero_bytes(bytes: [u8; 16]) -> u16 {
        (0..16).fold(0, |mask, i| mask | (u16::from(bytes[i] == 0) << i))
    }

    /// The byte of the board that is cell `k` from the front of line `line` of move `a`.
    #[inline(always)]
    fn byte<const N: usize>(a: usize, line: usize, k: usize) -> usize {
        let mirrored = (N + 3 - k) % 4;
        match a {
            0 => 4 * k + line,
            1 => 4 * line + mirrored,
            2 => 4 * mirrored + line,
            _ => 4 * line + k,
        }
    }

    /// The four slides of a board by move number: boards, rewards, mask of the legal ones.
    #[inline(always)]
    pub(crate) fn slides<const N: usize>(board: [u8; 16]) -> ([[u8; 16]; 4], [u32; 4], u8) {
        let lines = from_fn(|k| from_fn(|i| board[byte::<N>(i / 4, i % 4, k)]));
        let (slid, merged): ([[u8; 16]; 4], _) = slide_lines(lines);
        let (mut boards, mut rewards, mut legal) = ([[0; 16]; 4], [0; 4], 0);
        for a in 0..4 {
            for line in 0..4 {
                for k in 0..4 {
                    boards[a][byte::<N>(a, line, k)] = slid[k][4 * a + line];
                }
                let tile = |made: [u8; 16]| (1u32 << made[4 * a + line]) & !1;
                rewards[a] += tile(merged[0]) + tile(merged[1]);
            }
            legal |= u8::from(boards[a] != board) << a;
        }
        (boards, rewards, legal)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{portable, sse2};

    /// Every line of four tiles up to 131072 (18⁴ of them), and all sides, in all positions.
    #[test]
    fn vectors_agree_with_plain_rust_on_every_line() {
        for line in 0..18usize.pow(4) {
            let cells = [0, 1, 2, 3].map(|i| (line / 18usize.pow(i) % 18) as u8);
            let mut board = [0; 16];
            for (i, byte) in board.iter_mut().enumerate() {
                *byte = cells[(i + i / 4) % 4];
            }
            assert_eq!(sse2::slides::<4>(board), portable::slides::<4>(board), "{board:?}");
            let inside = |side: usize| -> [u8; 16] {
                std::array::from_fn(|i| if i / 4 < side && i % 4 < side { board[i] } else { 0 })
            };
            assert_eq!(sse2::slides::<3>(inside(3)), portable::slides::<3>(inside(3)));
            assert_eq!(sse2::slides::<2>(inside(2)), portable::slides::<2>(inside(2)));
            assert_eq!(sse2::zero_bytes(board), portable::zero_bytes(board));
        }
    }
}
