//! The two hot loops over a layer: forward marks what its positions lead to, backward computes their chances.

use std::{ops::Range, sync::atomic::AtomicU64};

use afterstate_game::Rules;

use crate::{
    Position,
    bitmap::{Bitmap, Bits, set},
    expand::{Row, Sink},
    layer::{Layer, Segment},
    simd::{Kernel, dispatch},
    space::Space,
};

/// A layer's positions with their chances.
#[derive(Default)]
pub(crate) struct Live {
    pub(crate) bitmap: Bitmap,
    pub(crate) chances: Vec<f32>,
}

impl Live {
    /// The bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bitmap.bytes() + 4 * self.chances.len()
    }
}

/// What a reached goal counts: the chance that the game continues from there, by a network's values.
#[derive(Clone, Copy)]
pub struct GoalValues<'a> {
    /// Whose values these are.
    pub name: &'a str,
    /// The walls beside which they hold: bit `e` for the tile of exponent `e`.
    pub tiles: u32,
    /// The value of a board on which the goal is reached, from 0 to 1.
    pub value: &'a (dyn Fn(Position) -> f32 + Sync),
}

/// A layer to be walked over.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub(crate) space: &'a Space,
    pub(crate) layer: &'a Layer,
    pub(crate) next: [&'a Layer; 2],
    pub(crate) bitmap: &'a Bitmap,
    pub(crate) threads: usize,
}

/// Fewer positions than these are not worth a second thread.
const SMALL: usize = 2048;

impl<'a> Walk<'a> {
    /// Marks all positions that the layer's lead to.
    pub(crate) fn forward(self, plain: [&[AtomicU64]; 2]) {
        let tasks = self.tasks().into_iter();
        self.share(tasks, |blocks| dispatch(Forward { walk: self, blocks, plain }));
    }

    /// The chances of the layer's positions from those of the two layers that they lead to.
    pub(crate) fn backward(self, after: [&Live; 2], goal: Option<GoalValues<'_>>) -> Vec<f32> {
        let mut chances = vec![0.0; self.bitmap.len];
        let mut rest = &mut chances[..];
        let mut tasks = Vec::new();
        for blocks in self.tasks() {
            let len = self.bitmap.rank_of_block(blocks.end) - self.bitmap.rank_of_block(blocks.start);
            let (own, others) = rest.split_at_mut(len);
            tasks.push((blocks, own));
            rest = others;
        }
        self.share(tasks.into_iter(), |(blocks, chances)| {
            dispatch(Backward { walk: self, blocks, after, goal, chances });
        });
        chances
    }

    /// Ranges of blocks, several for each thread.
    fn tasks(&self) -> Vec<Range<usize>> {
        let blocks = self.bitmap.blocks();
        let size = (blocks / (32 * self.threads)).max(1);
        (0..blocks).step_by(size).map(|first| first..(first + size).min(blocks)).collect()
    }

    /// Lets threads take tasks.
    fn share<T: Send>(&self, tasks: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
        if self.threads < 2 || self.bitmap.len < SMALL {
            return tasks.for_each(work);
        }
        afterstate_threads::share(self.threads, tasks, work);
    }

    /// The positions of a range of blocks.
    #[inline(always)]
    fn positions(self, blocks: Range<usize>) -> Positions<'a> {
        let bits = self.bitmap.bits(blocks);
        Positions { walk: self, bits, segment: 0, segment_end: 0, row_start: 0, row_end: 0, row: None }
    }
}

/// The positions of a layer.
struct Positions<'a> {
    walk: Walk<'a>,
    bits: Bits<'a>,
    segment: usize,
    segment_end: u64,
    row_start: u64,
    row_end: u64,
    row: Option<Row<'a>>,
}

impl<'a> Positions<'a> {
    /// The row of the next position, and the rank of its second half.
    #[inline(always)]
    fn next(&mut self) -> Option<(&Row<'a>, usize)> {
        let index = self.bits.next()?;
        if index >= self.row_end {
            self.find_row(index);
        }
        self.row.as_ref().map(|row| (row, (index - self.row_start) as usize))
    }

    fn find_row(&mut self, index: u64) {
        let Walk { space, layer, next, .. } = self.walk;
        if index >= self.segment_end {
            let segments = &layer.segments[self.segment..];
            self.segment += segments.partition_point(|segment| segment.first <= index) - 1;
            self.segment_end = layer.end(self.segment);
        }
        let Segment { first, stride } = layer.segments[self.segment];
        let rank = (index - first) / stride;
        self.row_start = first + rank * stride;
        self.row_end = self.row_start + stride;
        let (shape, first_sum) = (self.segment / layer.sums, self.segment % layer.sums);
        self.row = Some(Row::new(space, next, layer.sum, shape, first_sum, rank as usize));
    }
}

struct Forward<'a> {
    walk: Walk<'a>,
    blocks: Range<usize>,
    plain: [&'a [AtomicU64]; 2],
}

impl Kernel for Forward<'_> {
    #[inline(always)]
    fn run(self) {
        let mut marks = Marks(self.plain);
        let mut positions = self.walk.positions(self.blocks);
        while let Some((row, second)) = positions.next() {
            row.expand(second, &mut marks);
        }
    }
}

/// Marks positions.
struct Marks<'a>([&'a [AtomicU64]; 2]);

impl Sink for Marks<'_> {
    #[inline(always)]
    fn position<const TILE: usize>(&mut self, index: u64, _: u16) {
        set(self.0[TILE], index);
    }

    #[inline(always)]
    fn goal<const TILE: usize>(&mut self, _: u64, _: usize, _: u16) {}
}

struct Backward<'a, 'c> {
    walk: Walk<'a>,
    blocks: Range<usize>,
    after: [&'a Live; 2],
    goal: Option<GoalValues<'a>>,
    chances: &'c mut [f32],
}

impl Kernel for Backward<'_, '_> {
    #[inline(always)]
    fn run(self) {
        let Backward { walk, blocks, after, goal, chances } = self;
        let four = Rules::default().four;
        let mut chances = chances.iter_mut();
        let mut positions = walk.positions(blocks);
        while let Some((row, second)) = positions.next() {
            let mut best = Best { after, goal, space: walk.space, best: [[0.0; 16]; 2] };
            let empty = row.expand(second, &mut best);
            if let Some(chance) = chances.next() {
                *chance = mean(&best.best, empty, four);
            }
        }
    }
}

/// The chance of the best slide, for each cell that a tile can appear in.
struct Best<'a> {
    after: [&'a Live; 2],
    goal: Option<GoalValues<'a>>,
    space: &'a Space,
    best: [[f32; 16]; 2],
}

impl Best<'_> {
    #[inline(always)]
    fn offer<const TILE: usize>(&mut self, chance: f32, cells: u16) {
        // All sixteen lanes at once.
        for (cell, best) in self.best[TILE].iter_mut().enumerate() {
            let offered = if cells >> cell & 1 == 1 { chance } else { 0.0 };
            *best = if offered > *best { offered } else { *best };
        }
    }
}

impl Sink for Best<'_> {
    #[inline(always)]
    fn position<const TILE: usize>(&mut self, index: u64, cells: u16) {
        let after = self.after[TILE];
        self.offer::<TILE>(after.chances[after.bitmap.rank(index)], cells);
    }

    #[inline(always)]
    fn goal<const TILE: usize>(&mut self, board: u64, direction: usize, cells: u16) {
        let value = match self.goal {
            None => 1.0,
            Some(goal) => (goal.value)(Position(self.space.orient(self.space.slide(board, direction)))),
        };
        self.offer::<TILE>(value, cells);
    }
}

/// The mean over the empty cells; the order of the sum is the same for all instruction sets.
#[inline(always)]
fn mean(best: &[[f32; 16]; 2], empty: u32, four: f64) -> f32 {
    let [twos, fours] = best;
    let mut s = [0.0; 8];
    for (i, s) in s.iter_mut().enumerate() {
        let (two, four_sum) =
            (f64::from(twos[i]) + f64::from(twos[i + 8]), f64::from(fours[i]) + f64::from(fours[i + 8]));
        *s = (1.0 - four) * two + four * four_sum;
    }
    let sum = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
    (sum / f64::from(empty)) as f32
}
