//! The two hot loops over a layer: forward marks what its positions lead to, backward computes their chances.

use std::{ops::Range, sync::atomic::AtomicU64};

use afterstate_game::Rules;

use crate::{
    Position,
    bitmap::{Bitmap, Bits, set},
    code::Code,
    expand::{Row, Sink},
    layer::{Layer, Segment},
    simd::{Kernel, dispatch},
    space::Space,
};

/// A layer's positions with their chances.
#[derive(Default)]
pub(crate) struct Live<C> {
    pub(crate) bitmap: Bitmap,
    pub(crate) chances: Vec<C>,
}

impl<C: Code> Live<C> {
    /// The bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.bitmap.bytes() + C::BYTES * self.chances.len()
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
    pub(crate) fn backward<C: Code>(self, after: [&Live<C>; 2], goal: Option<GoalValues<'_>>) -> Vec<C> {
        let mut chances = vec![C::default(); self.bitmap.len];
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

/// So many chances become codes at a time, which takes less than one by one.
const BATCH: usize = 64;

struct Backward<'a, 'c, C> {
    walk: Walk<'a>,
    blocks: Range<usize>,
    after: [&'a Live<C>; 2],
    goal: Option<GoalValues<'a>>,
    chances: &'c mut [C],
}

impl<C: Code> Kernel for Backward<'_, '_, C> {
    #[inline(always)]
    fn run(self) {
        let Backward { walk, blocks, after, goal, chances } = self;
        let four = Rules::default().four;
        let mut positions = walk.positions(blocks);
        let mut means = [0.0; BATCH];
        for chances in chances.chunks_mut(BATCH) {
            for chance in &mut means[..chances.len()] {
                let Some((row, second)) = positions.next() else { break };
                let mut best = Best { after, goal, space: walk.space, best: [[C::Lane::default(); 16]; 2] };
                let empty = row.expand(second, &mut best);
                *chance = C::mean(&best.best, empty, four);
            }
            for (code, chance) in chances.iter_mut().zip(&means) {
                *code = C::new(*chance);
            }
        }
    }
}

/// The bit of each cell.
const CELLS: [u16; 16] = [
    1,
    1 << 1,
    1 << 2,
    1 << 3,
    1 << 4,
    1 << 5,
    1 << 6,
    1 << 7,
    1 << 8,
    1 << 9,
    1 << 10,
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
    1 << 15,
];

/// The chance of the best slide, for each cell that a tile can appear in.
struct Best<'a, C: Code> {
    after: [&'a Live<C>; 2],
    goal: Option<GoalValues<'a>>,
    space: &'a Space,
    best: [[C::Lane; 16]; 2],
}

impl<C: Code> Best<'_, C> {
    #[inline(always)]
    fn offer<const TILE: usize>(&mut self, chance: C, cells: u16) {
        let chance = chance.lane();
        // All sixteen lanes at once.
        for (best, cell) in self.best[TILE].iter_mut().zip(&CELLS) {
            let offered = if cells & cell != 0 { chance } else { C::Lane::default() };
            *best = if offered > *best { offered } else { *best };
        }
    }
}

impl<C: Code> Sink for Best<'_, C> {
    #[inline(always)]
    fn position<const TILE: usize>(&mut self, index: u64, cells: u16) {
        let after = self.after[TILE];
        self.offer::<TILE>(after.chances[after.bitmap.rank(index)], cells);
    }

    #[inline(always)]
    fn goal<const TILE: usize>(&mut self, board: u64, direction: usize, cells: u16) {
        let value = match self.goal {
            None => C::SURE,
            Some(goal) => value_of(goal, self.space, board, direction),
        };
        self.offer::<TILE>(value, cells);
    }
}

/// What a slide counts that reaches the goal.
#[inline(never)]
fn value_of<C: Code>(goal: GoalValues<'_>, space: &Space, board: u64, direction: usize) -> C {
    C::new((goal.value)(Position(space.orient(space.slide(board, direction)))).into())
}
