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
    let ab = a.eq(b).unless(a.eq(L::ZERO));
    let bc = b.eq(c).unless(b.eq(L::ZERO)).unless(ab);
    let cd = c.eq(d).unless(c.eq(L::ZERO)).unless(bc);
    // A true mask is −1 in each lane, so subtracting it doubles the tile.
    let (a, b, c) = (a.sub(ab), b.sub(bc), c.sub(cd));
    let merged = [a.and(ab).or(b.and(bc)), c.and(cd)];
    let behind_ab = [c, d.unless(cd)];
    let behind_bc = d;
    let second = behind_ab[0].and(ab).or(b.unless(ab));
    let third = behind_ab[1].and(ab).or(behind_bc.and(bc).or(c.unless(bc)).unless(ab));
    let fourth = d.unless(ab.or(bc).or(cd));
    ([a, second, third, fourth], merged)
}

/// Moves the tiles of every line forward over its empty cells.
#[inline(always)]
fn close_gaps<L: Lanes>(mut line: [L; 4]) -> [L; 4] {
    for (front, back) in [(2, 3), (1, 2), (0, 1), (2, 3), (1, 2), (2, 3)] {
        let moving = line[back].and(line[front].eq(L::ZERO));
        line[front] = line[front].or(moving);
        line[back] = line[back].sub(moving);
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
        sse2!({
            let half = _mm_unpacklo_epi8(v, _mm_srli_si128::<8>(v));
            _mm_unpacklo_epi8(half, _mm_srli_si128::<8>(half))
        })
    }

    /// Transposes 4×4 groups of four bytes, held in four vectors.
    #[inline(always)]
    fn transpose_groups([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
        sse2!({
            let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
            let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
            [
                _mm_unpacklo_epi64(ab_low, cd_low),
                _mm_unpackhi_epi64(ab_low, cd_low),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
            ]
        })
    }

    /// Mirrors the order of the first `N` rows; the empty ones behind them change places too.
    #[inline(always)]
    fn mirror_rows<const N: usize>(v: __m128i) -> __m128i {
        match N {
            4 => sse2!(_mm_shuffle_epi32::<0b00_01_10_11>(v)),
            3 => sse2!(_mm_shuffle_epi32::<0b11_00_01_10>(v)),
            _ => sse2!(_mm_shuffle_epi32::<0b10_11_00_01>(v)),
        }
    }

    /// The four slides of a board by move number: boards, rewards, mask of the legal ones.
    #[inline(always)]
    pub(crate) fn slides<const N: usize>(board: [u8; 16]) -> ([[u8; 16]; 4], [u32; 4], u8) {
        let rows = load(board);
        let columns = transpose(rows);
        // In each of these four, row 0 is the front: one for each move.
        let fronted = [rows, mirror_rows::<N>(columns), mirror_rows::<N>(rows), columns];
        let (lines, merged) = slide_lines(transpose_groups(fronted));
        let [up, right, down, left] = transpose_groups(lines);
        let boards = [up, transpose(mirror_rows::<N>(right)), mirror_rows::<N>(down), transpose(left)];
        let legal = (0..4).fold(0, |mask, a| mask | (u8::from(differ(boards[a], rows)) << a));
        (boards.map(store), rewards(merged), legal)
    }

    #[inline(always)]
    fn differ(a: __m128i, b: __m128i) -> bool {
        sse2!(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) != 0xffff)
    }

    /// Adds 2^exponent over the merged tiles of each move's four lines.
    ///
    /// An exponent in the exponent field of an f32 is the number 2^(exponent − 127), and 0 is 0.0:
    /// sums of such numbers are exact.
    #[inline(always)]
    fn rewards([first, second]: [__m128i; 2]) -> [u32; 4] {
        sse2!({
            let zero = _mm_setzero_si128();
            let power = |group| _mm_castsi128_ps(_mm_slli_epi32::<23>(group));
            let halves = |v| [_mm_unpacklo_epi8(v, zero), _mm_unpackhi_epi8(v, zero)];
            let groups = |v| {
                let [a, b] = halves(v);
                [
                    power(_mm_unpacklo_epi16(a, zero)),
                    power(_mm_unpackhi_epi16(a, zero)),
                    power(_mm_unpacklo_epi16(b, zero)),
                    power(_mm_unpackhi_epi16(b, zero)),
                ]
            };
            let (f, s) = (groups(first), groups(second));
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| _mm_add_ps(f[i], s[i]));
            let ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
            let cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
            let sums = _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
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
