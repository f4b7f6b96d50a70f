//! Slides in plain Rust, for processors without SSE2; tests compare the vector code with it.

use super::{Lanes, Slid, slide_lines};
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

/// The byte index of the `k`-th cell from the front of line `line` of move `a`.
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

/// The four slides of a board by move number: boards, rewards, mask of the legal moves.
#[inline(always)]
pub(crate) fn slides<const N: usize>(board: [u8; 16]) -> ([[u8; 16]; 4], [u32; 4], u8) {
    let lines = from_fn(|k| from_fn(|i| board[byte::<N>(i / 4, i % 4, k)]));
    let Slid { cells, merged, moved }: Slid<[u8; 16]> = slide_lines(lines);
    let (mut boards, mut rewards, mut legal) = ([[0; 16]; 4], [0; 4], 0);
    for a in 0..4 {
        for line in 0..4 {
            for k in 0..4 {
                boards[a][byte::<N>(a, line, k)] = cells[k][4 * a + line];
            }
            let tile = |made: [u8; 16]| (1u32 << made[4 * a + line]) & !1;
            rewards[a] += tile(merged[0]) + tile(merged[1]);
        }
        legal |= u8::from(moved[4 * a..][..4] != [0; 4]) << a;
    }
    (boards, rewards, legal)
}
