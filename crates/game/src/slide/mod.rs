//! The merge rule, written once, for sixteen lines at a time.
//!
//! A 4×4 board has four lines in each of the four directions. All sixteen are laid side by side,
//! front cells in the first vector, second cells in the next, and so on. Sliding is then the same
//! few byte operations in every lane, for all four moves at once, without a lookup table. A smaller
//! board is the same with its last cells empty.

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;

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

/// The result of sliding sixteen lines.
struct Slid<L> {
    /// The cells of each line, from its front.
    cells: [L; 4],
    /// The exponents of the tiles made by merging: at most two in a line, 0 for none.
    merged: [L; 2],
    /// Not 0 in the lines where something moved.
    moved: L,
}

/// Slides every line towards its front.
#[inline(always)]
fn slide_lines<L: Lanes>(lines: [L; 4]) -> Slid<L> {
    let ([a, b, c, d], closed) = close_gaps(lines);
    // From the front, a tile that has merged does not merge again.
    let ab = a.eq(b).unless(b.eq(L::ZERO));
    let bc = b.eq(c).unless(c.eq(L::ZERO)).unless(ab);
    let cd = c.eq(d).unless(d.eq(L::ZERO)).unless(bc);
    // A true mask is −1 in each lane, so subtracting it doubles the tile.
    let a = a.sub(ab);
    let b = b.unless(ab).sub(bc);
    let c = c.unless(bc).sub(cd);
    let d = d.unless(cd);
    // A merge of the first two cells leaves a gap in the second cell, a merge of the next two in the third.
    let gap = ab.or(bc);
    Slid {
        cells: [a, b.or(c.and(ab)), c.unless(ab).or(d.and(gap)), d.unless(gap)],
        merged: [a.and(ab).or(b.and(bc)), c.and(cd)],
        moved: closed.or(gap).or(cd),
    }
}

/// Moves the tiles of every line forward over its empty cells, and reports which lines changed.
///
/// Works from the back: each empty cell pulls everything behind it, which has no gaps left, one step
/// forward.
#[inline(always)]
fn close_gaps<L: Lanes>([a, b, c, d]: [L; 4]) -> ([L; 4], L) {
    let gap = c.eq(L::ZERO);
    let into_c = d.and(gap);
    let (c, d) = (c.or(into_c), d.unless(gap));

    let gap = b.eq(L::ZERO);
    let into_b = c.and(gap);
    let (b, c, d) = (b.or(into_b), c.unless(gap).or(d.and(gap)), d.unless(gap));

    let gap = a.eq(L::ZERO);
    let into_a = b.and(gap);
    let (a, b) = (a.or(into_a), b.unless(gap).or(c.and(gap)));
    let (c, d) = (c.unless(gap).or(d.and(gap)), d.unless(gap));
    ([a, b, c, d], into_c.or(into_b).or(into_a))
}

#[cfg(target_arch = "x86_64")]
pub(crate) use sse2::{slides, zero_bytes};

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::{slides, zero_bytes};

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
