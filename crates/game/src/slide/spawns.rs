//! The slides that follow a new tile, for all empty cells of an afterstate together.
//!
//! A tile changes one row and one column. So the afterstate itself is slid once, and besides it only the changed
//! lines: sixteen rows at a time, in lane `4·row + column` the row with the tile in that column, and sixteen columns.
//!
//! Everything is done along two axes: that of the rows on the board, and that of the columns on the transposed board,
//! whose rows they are. A slide *forward* is to the left on either of them, a slide *back* to the right.

use super::{Lanes, Slid, slide_lines};

/// Sixteen bytes that are a board.
pub(super) trait BoardLanes: Lanes {
    fn load(bytes: [u8; 16]) -> Self;
    fn store(self) -> [u8; 16];
    /// The 4×4 bytes, rows for columns.
    fn transpose(self) -> Self;
    /// The `k`-th vector has each of the four bytes of row `k` four times over.
    fn spread_rows(self) -> [Self; 4];
    /// The bytes of each lane side by side, the first one the least significant.
    fn by_lane(cells: [Self; 4]) -> [u32; 16];
    /// The bytes of four lines, but those of another one, four times over, where the mask is true.
    fn with_line(lines: [u32; 4], line: u32, mask: Self) -> Self;
    /// The lanes that are true, as a bit mask.
    fn bits(self) -> u16;
    /// The lines of the four moves: up, left, down and right.
    fn gather_lines<const N: usize>(self) -> [Self; 4];
    /// 2^a + 2^b in each lane, where an exponent of 0 adds nothing, and a number for each four lanes.
    fn rewards(merged: [Self; 2], others: [f32; 4]) -> [f32; 16];
}

/// The slides of an afterstate on which a tile has appeared, for each of the two tiles. A slide along an axis in a
/// direction has the number `2·axis + direction`.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
#[repr(C, align(64))]
pub(crate) struct SpawnSlides {
    /// The changed line in each lane of each slide, after it.
    pub(crate) lines: [[[u32; 16]; 4]; 2],
    /// The rewards along each axis, which both directions share.
    pub(crate) rewards: [[[f32; 16]; 2]; 2],
    /// 0xff in the lanes of each slide where nothing moves.
    pub(crate) illegal: [[[u8; 16]; 4]; 2],
    /// The same as bits, sixteen for each slide.
    pub(crate) illegal_bits: [u64; 2],
    /// The afterstate itself after each slide, as the lines of its axis.
    pub(crate) slid: [[u32; 4]; 4],
    /// 0xff in the empty cells along each axis.
    pub(crate) empty: [[u8; 16]; 2],
}

/// The lanes of the lines beside which another line moves, for every set of moving lines.
static BESIDE: [[u8; 16]; 16] = {
    let mut table = [[0; 16]; 16];
    let mut moving = 0;
    while moving < 16 {
        let mut lane = 0;
        while lane < 16 {
            if moving & !(1 << (lane / 4)) != 0 {
                table[moving][lane] = 0xff;
            }
            lane += 1;
        }
        moving += 1;
    }
    table
};

/// The bytes of each line of a board.
static LINES: [[u8; 16]; 4] = {
    let mut lines = [[0; 16]; 4];
    let mut byte = 0;
    while byte < 16 {
        lines[byte / 4][byte] = 0xff;
        byte += 1;
    }
    lines
};

/// A tile in the cell of each lane, by the cell's place in its line: a 2 and a 4.
static TILES: [[[u8; 16]; 4]; 2] = {
    let mut tiles = [[[0; 16]; 4]; 2];
    let mut lane = 0;
    while lane < 16 {
        tiles[0][lane % 4][lane] = 1;
        tiles[1][lane % 4][lane] = 2;
        lane += 1;
    }
    tiles
};

/// The order of a line's cells from its back, on a board of side `N`; those outside stay last.
#[inline(always)]
fn from_back<L: Copy, const N: usize>([a, b, c, d]: [L; 4]) -> [L; 4] {
    match N {
        4 => [d, c, b, a],
        3 => [c, b, a, d],
        _ => [b, a, c, d],
    }
}

/// Finds all slides of an afterstate after a tile in each cell; those of cells that are not empty mean nothing.
#[inline(always)]
pub(super) fn spawn_slides<L: BoardLanes, const N: usize>(board: [u8; 16], slides: &mut SpawnSlides) {
    let rows = L::load(board);
    let columns = rows.transpose();
    let inside = L::load(std::array::from_fn(|i| if i / 4 < N && i % 4 < N { 0xff } else { 0 }));
    slides.empty = [rows, columns].map(|cells| cells.eq(L::ZERO).and(inside).store());
    let still = slide_lines(rows.gather_lines::<N>());
    let (forward, back) = (L::by_lane(still.cells), L::by_lane(from_back::<L, N>(still.cells)));
    slides.slid = [four(&forward, 4), four(&back, 12), four(&forward, 0), four(&back, 8)];
    let earned = L::rewards(still.merged, [0.0; 4]);
    let moving = !still.moved.eq(L::ZERO).bits();
    slides.illegal_bits = [0; 2];
    // The rows of the one axis are spread from the columns of the other.
    for (axis, cells, up_or_left) in [(0, columns.spread_rows(), 4), (1, rows.spread_rows(), 0)] {
        let moving = [moving >> up_or_left & 15, moving >> (up_or_left + 8) & 15];
        let beside = moving.map(|moving| L::load(BESIDE[usize::from(moving)]));
        let [a, b, c, d] = four(&earned, up_or_left);
        let others = [b + c + d, a + c + d, a + b + d, a + b + c];
        for (tile, tiles) in TILES.iter().enumerate() {
            let lines: [L; 4] = std::array::from_fn(|k| cells[k].or(L::load(tiles[k])));
            let slid = [slide_lines(lines), slide_lines(from_back::<L, N>(lines))];
            slides.rewards[tile][axis] = L::rewards(slid[0].merged, others);
            for (direction, Slid { cells, moved, .. }) in slid.into_iter().enumerate() {
                let number = 2 * axis + direction;
                let cells = if direction == 0 { cells } else { from_back::<L, N>(cells) };
                slides.lines[tile][number] = L::by_lane(cells);
                let illegal = moved.eq(L::ZERO).unless(beside[direction]);
                slides.illegal[tile][number] = illegal.store();
                slides.illegal_bits[tile] |= u64::from(illegal.bits()) << (16 * number);
            }
        }
    }
}

/// Four of sixteen, from the `first` on.
#[inline(always)]
fn four<T: Copy>(all: &[T; 16], first: usize) -> [T; 4] {
    std::array::from_fn(|i| all[first + i])
}

/// A board of four lines with one of them replaced; the lines are its columns, if it is to be transposed.
#[inline(always)]
pub(super) fn with_line<L: BoardLanes>(
    lines: [u32; 4],
    place: usize,
    line: u32,
    transposed: bool,
) -> [u8; 16] {
    let lines = L::with_line(lines, line, L::load(LINES[place & 3]));
    let transposed = L::load([if transposed { 0xff } else { 0 }; 16]);
    lines.unless(transposed).or(lines.transpose().and(transposed)).store()
}
