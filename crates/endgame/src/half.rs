//! Half of a board: two columns. Layouts of its free cells are numbered within their sum, and vertical moves, which keep to a half,
//! are looked up.

use crate::{
    board::{half_tile, mirrored, spread},
    line::{Lines, cells},
    space::Goal,
};

/// A slide of a half, packed: the rank of what it leads to, the number of its walls, and flags.
pub(crate) type Slid = u32;

/// Something moved.
pub(crate) const MOVED: Slid = 1 << 24;
/// The goal is reached, whatever the other half is.
pub(crate) const GOAL: Slid = 1 << 25;
/// The goal is reached if the walls are where they belong.
pub(crate) const PLACED: Slid = 1 << 26;

/// The rank of what a slide leads to, within its walls and sum.
#[inline(always)]
pub(crate) fn rank(slid: Slid) -> usize {
    (slid & 0xffff) as usize
}

/// The number of the walls that a slide leads to.
#[inline(always)]
pub(crate) fn walls(slid: Slid) -> usize {
    (slid >> 16 & 0xff) as usize
}

/// A layout of the free cells.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// Its tiles.
    pub(crate) word: u64,
    /// Slid up and down.
    pub(crate) slid: [Slid; 2],
    /// Where its spawns begin.
    spawns: u32,
}

/// A tile that appears in a run of empty cells of a column: wherever in the run, slides lead to the same board.
#[derive(Clone, Copy)]
pub(crate) struct Spawn {
    /// After a 2 and after a 4, slid up from the first cell of the run and down from its last: only there it may be that nothing
    /// moves.
    pub(crate) slid: [[Slid; 2]; 2],
    /// The run, as a mask of the board's cells.
    pub(crate) cells: u16,
}

/// A half with its walls in certain cells.
pub(crate) struct Half {
    /// The walls, as a mask of the board's cells.
    pub(crate) walls: u16,
    /// The weight of each cell's exponent in a layout's code: 0 for walls and cells of the other half.
    pub(crate) weights: [u32; 16],
    /// The sum, in the upper half, and the rank of every code.
    pub(crate) ranks: Vec<u32>,
    /// Where the layouts of each sum begin, and the end.
    starts: Vec<u32>,
    layouts: Vec<Layout>,
    spawns: Vec<Spawn>,
    /// The rank of each layout's mirror image, where the endgame has one.
    mirrors: Vec<u16>,
}

impl Half {
    /// Numbers the layouts of tiles below a limit; slides are not known before all halves are numbered.
    pub(crate) fn new(columns: [usize; 2], walls: u16, limit: u8) -> Self {
        let base = u32::from(limit);
        let is_free = |cell: &usize| columns.contains(&(cell % 4)) && walls >> cell & 1 == 0;
        let free: Vec<usize> = (0..16).filter(is_free).collect();
        let mut weights = [0; 16];
        let mut codes = 1;
        for &cell in &free {
            weights[cell] = codes;
            codes *= base;
        }
        let word = |code: u32| {
            let nibble = |cell: &usize| u64::from(code / weights[*cell] % base) << (4 * cell);
            free.iter().map(nibble).sum::<u64>()
        };
        let sum = |word: u64| free.iter().map(|cell| half_tile(word >> (4 * cell) & 15)).sum::<usize>();
        let largest = free.len() << (limit - 2);
        let mut starts = vec![0; largest + 2];
        let words: Vec<_> = (0..codes).map(word).collect();
        words.iter().for_each(|&word| starts[sum(word) + 1] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let mut next = starts.clone();
        let mut layouts = vec![Layout { word: 0, slid: [0; 2], spawns: 0 }; words.len() + 1];
        let number = |&word: &u64| {
            let sum = sum(word);
            let rank = next[sum] - starts[sum];
            layouts[next[sum] as usize].word = word;
            next[sum] += 1;
            (sum as u32) << 16 | rank
        };
        let ranks = words.iter().map(number).collect();
        Half { walls, weights, ranks, starts, layouts, spawns: Vec::new(), mirrors: Vec::new() }
    }

    /// Numbers the mirror images of all layouts; the half must be its own image.
    pub(crate) fn look_up_mirrors(&mut self) {
        let layouts = &self.layouts[..self.layouts.len() - 1];
        self.mirrors = layouts.iter().map(|layout| self.rank_of(mirrored(layout.word)) as u16).collect();
    }

    /// The rank of a layout's mirror image.
    #[inline(always)]
    pub(crate) fn mirror(&self, sum: usize, rank: usize) -> usize {
        self.mirrors[self.starts[sum] as usize + rank].into()
    }

    /// The largest sum.
    pub(crate) fn largest(&self) -> usize {
        self.starts.len() - 2
    }

    /// The number of layouts of a sum.
    pub(crate) fn count(&self, sum: usize) -> usize {
        if sum > self.largest() { 0 } else { (self.starts[sum + 1] - self.starts[sum]) as usize }
    }

    /// The bytes of memory that its tables take.
    pub(crate) fn bytes(&self) -> usize {
        let layouts = size_of::<Layout>() * self.layouts.len();
        layouts
            + 2 * self.mirrors.len()
            + 4 * (self.ranks.len() + self.starts.len())
            + size_of::<Spawn>() * self.spawns.len()
    }

    /// A layout, and its spawns.
    #[inline(always)]
    pub(crate) fn layout(&self, sum: usize, rank: usize) -> (&Layout, &[Spawn]) {
        let index = self.starts[sum] as usize + rank;
        let (layout, next) = (&self.layouts[index], &self.layouts[index + 1]);
        (layout, &self.spawns[layout.spawns as usize..next.spawns as usize])
    }

    /// The sum and rank of the layout on a board whose walls are these, in one number.
    #[inline(always)]
    pub(crate) fn rank_of(&self, word: u64) -> u32 {
        let code: u32 = (0..16).map(|cell| (word >> (4 * cell) & 15) as u32 * self.weights[cell]).sum();
        self.ranks[code as usize]
    }

    /// Looks up the slides of all layouts, once the halves that they lead to are numbered.
    pub(crate) fn look_up(index: usize, halves: &mut [Half], columns: [usize; 2], lines: &Lines, goal: Goal) {
        let half = &halves[index];
        let slider = Slider { halves, columns, lines, goal };
        let mut layouts = half.layouts.clone();
        let mut spawns = Vec::new();
        let last = layouts.len() - 1;
        let walls = spread(half.walls);
        for layout in &mut layouts[..last] {
            layout.spawns = spawns.len() as u32;
            layout.slid = slider.slide(layout.word | walls);
            slider.add_spawns(layout.word | walls, &mut spawns);
        }
        layouts[last].spawns = spawns.len() as u32;
        (halves[index].layouts, halves[index].spawns) = (layouts, spawns);
    }
}

/// Slides columns.
struct Slider<'a> {
    halves: &'a [Half],
    columns: [usize; 2],
    lines: &'a Lines,
    goal: Goal,
}

impl Slider<'_> {
    /// A half slid up and down.
    fn slide(&self, word: u64) -> [Slid; 2] {
        [&self.lines.front, &self.lines.back].map(|lines| {
            let slid = self.columns.map(|c| put(lines[usize::from(column(word, c))], c)).iter().sum();
            self.pack(word, slid)
        })
    }

    fn pack(&self, before: u64, word: u64) -> Slid {
        let walls = crate::board::Position(word).walls();
        let Some(index) = self.halves.iter().position(|half| half.walls == walls) else {
            return 0xff << 16 | MOVED;
        };
        let moved = if word == before { 0 } else { MOVED };
        let placed = if self.goal.is_placed(word) { PLACED } else { 0 };
        // The weights of walls are 0.
        let rank = if self.goal.is_made(word) { GOAL } else { self.halves[index].rank_of(word) & 0xffff };
        rank | (index as u32) << 16 | moved | placed
    }

    fn add_spawns(&self, word: u64, spawns: &mut Vec<Spawn>) {
        for c in self.columns {
            let line = column(word, c);
            let mut gaps = self.lines.gaps[usize::from(line)];
            while gaps != 0 {
                let gap = if gaps & 15 != 0 { gaps & 15 } else { gaps >> 4 };
                gaps = if gaps & 15 != 0 { gaps & 0xf0 } else { 0 };
                let row = |bit: u32| u64::from(bit) * 16 + 4 * c as u64;
                let [first, last] = [gap.trailing_zeros(), gap.ilog2()].map(row);
                let slid = [1, 2]
                    .map(|tile| [self.slide(word | tile << first)[0], self.slide(word | tile << last)[1]]);
                let cells = (0..4).filter(|r| gap >> r & 1 == 1).map(|r| 1u16 << (4 * r + c)).sum();
                spawns.push(Spawn { slid, cells });
            }
        }
    }
}

/// A column of a board, as a line from its upper cell.
pub(crate) fn column(word: u64, c: usize) -> u16 {
    (0..4).map(|row| ((word >> (16 * row + 4 * c) & 15) as u16) << (4 * row)).sum()
}

/// A line as a column of a board.
pub(crate) fn put(line: u16, c: usize) -> u64 {
    (0..).zip(cells(line)).map(|(row, nibble)| u64::from(nibble) << (16 * row + 4 * c)).sum()
}
