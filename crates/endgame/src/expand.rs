//! What a position leads to: a tile in each empty cell, then each allowed slide.
//!
//! Tiles that appear in one run of empty cells of a line slide to the same board along that line, so a slide is looked at once for
//! each run. Only from the cell at the front of the run it may be that nothing moves, which is no move.

use crate::{
    Position,
    half::{GOAL, Half, Layout, MOVED, PLACED, Slid, Spawn, rank, walls},
    layer::Layer,
    space::{ANY_ROW_MOVED, HOME, NO_SHAPE, RowSlid, Space, codes, is_special, moves_walls},
};

/// Sees what a position leads to. Tiles are constants, so that what is kept for each of them stays in registers.
pub(crate) trait Sink {
    /// A 2 (`TILE` 0) or a 4 (1) in one of these cells can be followed by a slide to the position with this index in its layer.
    fn position<const TILE: usize>(&mut self, index: u64, cells: u16);
    /// … by a slide that reaches the goal: the board with the tile on it, and the number of the slide ([`Space::slide`]).
    fn goal<const TILE: usize>(&mut self, board: u64, direction: usize, cells: u16);
}

/// A layer's positions with the same shape and first half.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    space: &'a Space,
    /// The layers of the sums after a 2 and a 4.
    next: [&'a Layer; 2],
    shape: usize,
    first_sum: usize,
    first: &'a Layout,
    first_spawns: &'a [Spawn],
    first_half: &'a Half,
    second: &'a Half,
    second_sum: usize,
}

impl<'a> Row<'a> {
    pub(crate) fn new(
        space: &'a Space,
        next: [&'a Layer; 2],
        sum: usize,
        shape: usize,
        first_sum: usize,
        first_rank: usize,
    ) -> Self {
        let [a, b] = [0, 1].map(|h| &space.halves[h][space.shapes[shape].halves[h]]);
        let (first, first_spawns) = a.layout(first_sum, first_rank);
        Row {
            space,
            next,
            shape,
            first_sum,
            first,
            first_spawns,
            first_half: a,
            second: b,
            second_sum: sum - first_sum,
        }
    }

    /// Shows what the position whose second half has this rank leads to, and counts its empty cells.
    #[inline(always)]
    pub(crate) fn expand(&self, second_rank: usize, sink: &mut impl Sink) -> u32 {
        let (second, second_spawns) = self.second.layout(self.second_sum, second_rank);
        let word = self.space.shapes[self.shape].word | self.first.word | second.word;
        for spawn in self.first_spawns {
            self.slide_first::<0, 0>(word, spawn, second.slid, sink);
            self.slide_first::<1, 0>(word, spawn, second.slid, sink);
            self.slide_first::<0, 1>(word, spawn, second.slid, sink);
            self.slide_first::<1, 1>(word, spawn, second.slid, sink);
        }
        for spawn in second_spawns {
            self.slide_second::<0, 0>(word, spawn, sink);
            self.slide_second::<1, 0>(word, spawn, sink);
            self.slide_second::<0, 1>(word, spawn, sink);
            self.slide_second::<1, 1>(word, spawn, sink);
        }
        self.expand_horizontally(word, sink);
        empty_count(word)
    }

    /// Slides up (direction 0) or down (1) after a tile in the first half.
    #[inline(always)]
    fn slide_first<const TILE: usize, const DIRECTION: usize>(
        &self,
        word: u64,
        spawn: &Spawn,
        second: [Slid; 2],
        sink: &mut impl Sink,
    ) {
        let halves = [spawn.slid[TILE][DIRECTION], second[DIRECTION]];
        self.slide_halves::<TILE, DIRECTION>(word, spawn.cells, halves, self.first_sum + TILE + 1, sink);
    }

    /// The same after a tile in the second half.
    #[inline(always)]
    fn slide_second<const TILE: usize, const DIRECTION: usize>(
        &self,
        word: u64,
        spawn: &Spawn,
        sink: &mut impl Sink,
    ) {
        let halves = [self.first.slid[DIRECTION], spawn.slid[TILE][DIRECTION]];
        self.slide_halves::<TILE, DIRECTION>(word, spawn.cells, halves, self.first_sum, sink);
    }

    #[inline(always)]
    fn slide_halves<const TILE: usize, const DIRECTION: usize>(
        &self,
        word: u64,
        run: u16,
        [first, second]: [Slid; 2],
        first_sum: usize,
        sink: &mut impl Sink,
    ) {
        let shape = self.space.pair(walls(first), walls(second));
        let front = if DIRECTION == 0 { lowest(run) } else { highest(run) };
        let cells = legal((first | second) & MOVED != 0, run, front);
        if shape == NO_SHAPE || cells == 0 {
            return;
        }
        let goal = if usize::from(shape) == HOME { GOAL | PLACED } else { GOAL };
        if (first | second) & goal != 0 {
            sink.goal::<TILE>(with_tile(word, cells, TILE), DIRECTION, cells);
        } else {
            let ranks = [rank(first), rank(second)];
            sink.position::<TILE>(self.space.index(self.next[TILE], shape.into(), first_sum, ranks), cells);
        }
    }

    /// Slides to the left and right.
    #[inline(always)]
    fn expand_horizontally(&self, word: u64, sink: &mut impl Sink) {
        // Loops and no closures: those might not be compiled for the instruction set of the hot loop.
        let rows = &*self.space.shapes[self.shape].rows;
        let mut whole: [RowSlid; 2] = [0; 2];
        for (r, tables) in rows.iter().enumerate() {
            let line = row(word, r);
            whole[0] += tables[0][line];
            whole[1] += tables[1][line];
        }
        for (r, tables) in rows.iter().enumerate() {
            let line = row(word, r);
            let others = [whole[0] - tables[0][line], whole[1] - tables[1][line]];
            let mut gaps = self.space.lines.gaps[line];
            while gaps != 0 {
                let gap = u16::from(if gaps & 15 != 0 { gaps & 15 } else { gaps >> 4 });
                gaps = if gaps & 15 != 0 { gaps & 0xf0 } else { 0 };
                self.slide_row::<0, 0>(word, (r, line, gap), others, &tables[0], sink);
                self.slide_row::<1, 0>(word, (r, line, gap), others, &tables[0], sink);
                self.slide_row::<0, 1>(word, (r, line, gap), others, &tables[1], sink);
                self.slide_row::<1, 1>(word, (r, line, gap), others, &tables[1], sink);
            }
        }
    }

    /// Slides to the left (side 0) or right (1) after a tile in a run of a row.
    #[inline(always)]
    fn slide_row<const TILE: usize, const SIDE: usize>(
        &self,
        word: u64,
        (r, line, gap): (usize, usize, u16),
        others: [RowSlid; 2],
        table: &[RowSlid; 1 << 16],
        sink: &mut impl Sink,
    ) {
        let front = if SIDE == 0 { lowest(gap) } else { highest(gap) };
        let slid = others[SIDE] + table[(line | (TILE + 1) << (4 * front.trailing_zeros())) & 0xffff];
        let cells = legal(slid & ANY_ROW_MOVED != 0, gap, front) << (4 * r);
        if cells == 0 {
            return;
        }
        let board = with_tile(word, cells, TILE);
        if !is_special(slid) {
            sink.position::<TILE>(self.index(slid, TILE), cells);
        } else if !moves_walls(slid) {
            sink.goal::<TILE>(board, 2 + SIDE, cells);
        } else if let Some(after) = self.move_walls(board, 2 + SIDE) {
            match after {
                Moved::Goal => sink.goal::<TILE>(board, 2 + SIDE, cells),
                Moved::Position(shape, first_sum, ranks) => {
                    let index = self.space.index(self.next[TILE], shape, first_sum, ranks);
                    sink.position::<TILE>(index, cells);
                }
            }
        }
    }

    /// The index of what a slide to the left or right leads to, where the walls stay where they are.
    #[inline(always)]
    fn index(&self, slid: RowSlid, tile: usize) -> u64 {
        let [first, second] = codes(slid);
        let (first, second) = (self.first_half.ranks[first], self.second.ranks[second]);
        let ranks = [(first & 0xffff) as usize, (second & 0xffff) as usize];
        self.space.index(self.next[tile], self.shape, (first >> 16) as usize, ranks)
    }

    /// What a slide to the left or right leads to that moves walls, if it is allowed.
    #[inline(never)]
    fn move_walls(&self, board: u64, direction: usize) -> Option<Moved> {
        let after = self.space.slide(board, direction);
        let shape = self.space.by_walls[usize::from(Position(after).walls())];
        if shape == NO_SHAPE {
            return None;
        }
        if self.space.is_goal(after) {
            return Some(Moved::Goal);
        }
        let (first_sum, ranks) = self.space.ranks(shape.into(), after);
        Some(Moved::Position(shape.into(), first_sum, ranks))
    }
}

/// Where a slide leads to.
enum Moved {
    Goal,
    /// The shape, the sum of the first half, and the ranks of both.
    Position(usize, usize, [usize; 2]),
}

/// A row of a board.
#[inline(always)]
fn row(word: u64, r: usize) -> usize {
    (word >> (16 * r)) as u16 as usize
}

/// The cells from which a slide moves something: all if something else moves, else all but the one at the front of the run.
#[inline(always)]
fn legal(moved: bool, cells: u16, front: u16) -> u16 {
    if moved { cells } else { cells & !front }
}

#[inline(always)]
fn lowest(cells: u16) -> u16 {
    cells & cells.wrapping_neg()
}

#[inline(always)]
fn highest(cells: u16) -> u16 {
    1 << cells.ilog2()
}

/// The board with a tile in the first of some cells.
#[inline(always)]
fn with_tile(word: u64, cells: u16, tile: usize) -> u64 {
    word | (tile as u64 + 1) << (4 * cells.trailing_zeros())
}

/// The number of empty cells.
#[inline(always)]
fn empty_count(word: u64) -> u32 {
    let any = word | word >> 1;
    let any = any | any >> 2;
    (!any & 0x1111_1111_1111_1111).count_ones()
}
