//! The positions of an endgame, as pairs of halves: the board is cut between columns, so that each half slides up and down by itself, and
//! slides to the left and right are added up row by row.

use crate::{
    Endgame, MAX_FREE, Position, PositionError,
    bitmap::Bitmap,
    board::{WALL, half_sum, mirrored, mirrored_mask, spread, transposed, transposed_mask},
    half::{Half, column, put},
    layer::{Layer, Segment},
    line::{Lines, cells, walls},
};

/// The shape in which the walls are where they belong.
pub(crate) const HOME: usize = 0;

/// When the goal is reached, in the orientation of the space.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    /// A tile of this exponent is the goal wherever it stands.
    made: u8,
    /// So is the tile below it in one of these cells, if the walls are where they belong.
    place: u16,
}

impl Goal {
    fn new(endgame: &Endgame, is_transposed: bool) -> Self {
        let place = endgame.place().map_or(0, |place| place.0);
        Goal { made: endgame.limit(), place: if is_transposed { transposed_mask(place) } else { place } }
    }

    /// Whether a board has a tile that is the goal wherever it stands.
    #[inline(always)]
    pub(crate) fn is_made(self, word: u64) -> bool {
        tiles(word, self.made) != 0
    }

    /// Whether a board has the target in its place.
    #[inline(always)]
    pub(crate) fn is_placed(self, word: u64) -> bool {
        self.place != 0 && tiles(word, self.made - 1) & spread(self.place) != 0
    }
}

/// The lowest bit of each nibble that is this exponent.
#[inline(always)]
fn tiles(word: u64, exponent: u8) -> u64 {
    const ONES: u64 = 0x1111_1111_1111_1111;
    let other = word ^ (ONES * u64::from(exponent));
    let other = other | other >> 1;
    !(other | other >> 2) & ONES
}

/// No shape.
pub(crate) const NO_SHAPE: u8 = u8::MAX;

/// A slide of a row, and sums of them: the code of the first half, from [`SECOND`] on that of the second, and flags.
pub(crate) type RowSlid = u64;

const SECOND: u32 = 26;
const CODE: u64 = (1 << SECOND) - 1;
/// Rows that moved, up to four of them.
pub(crate) const ROW_MOVED: u64 = 1 << 52;
pub(crate) const ANY_ROW_MOVED: u64 = 7 << 52;
/// Rows that made the target.
const ROW_GOAL: u64 = 1 << 55;
/// Rows whose walls moved.
const ROW_WALLS: u64 = 1 << 58;

/// The codes of the two halves.
#[inline(always)]
pub(crate) fn codes(slid: RowSlid) -> [usize; 2] {
    [(slid & CODE) as usize, (slid >> SECOND & CODE) as usize]
}

/// Whether a slide makes the target or moves walls.
#[inline(always)]
pub(crate) fn is_special(slid: RowSlid) -> bool {
    slid >= ROW_GOAL
}

/// Whether a slide moves walls.
#[inline(always)]
pub(crate) fn moves_walls(slid: RowSlid) -> bool {
    slid >= ROW_WALLS
}

/// A shape of walls, in the orientation of the space.
pub(crate) struct Shape {
    /// The walls.
    pub(crate) word: u64,
    /// The numbers of its halves.
    pub(crate) halves: [usize; 2],
    /// For each row, what its slides to the left and to the right do, by the row's content.
    pub(crate) rows: Box<[[[RowSlid; 1 << 16]; 2]; 4]>,
}

/// All positions of an endgame.
pub(crate) struct Space {
    pub(crate) goal: Goal,
    /// Whether rows and columns are exchanged.
    pub(crate) is_transposed: bool,
    /// Whether every shape is its own mirror image: then a position stands for its image too.
    pub(crate) is_mirrored: bool,
    pub(crate) lines: Lines,
    /// The halves, by the numbers of their walls.
    pub(crate) halves: [Vec<Half>; 2],
    pub(crate) shapes: Vec<Shape>,
    /// The shape of two halves, by their numbers.
    pub(crate) pairs: Vec<u8>,
    /// The shape of a mask of walls.
    pub(crate) by_walls: Vec<u8>,
    /// The largest sum of a first half.
    pub(crate) largest_first: usize,
    /// The largest sum of all.
    pub(crate) largest: usize,
}

/// Ways to cut the board between columns.
const CUTS: [[[usize; 2]; 2]; 3] = [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]];

/// The numbers of half walls that a packed slide can hold, and one for none.
const WALL_NUMBERS: usize = 256;

impl Space {
    /// The positions of an endgame.
    pub(crate) fn new(endgame: &Endgame) -> Self {
        let limit = endgame.limit();
        let Cut { is_transposed, is_mirrored, halves: cut } = Cut::new(endgame);
        let goal = Goal::new(endgame, is_transposed);
        let orient = |mask| if is_transposed { transposed_mask(mask) } else { mask };
        let masks: Vec<u16> = endgame.shapes().iter().map(|shape| orient(shape.0)).collect();
        let lines = Lines::new(limit);
        let halves = cut.map(|columns| {
            let inside = columns_mask(columns);
            let mut walls: Vec<u16> = masks.iter().map(|mask| mask & inside).collect();
            walls.sort_unstable();
            walls.dedup();
            let mut halves: Vec<_> = walls.iter().map(|&walls| Half::new(columns, walls, limit)).collect();
            (0..halves.len()).for_each(|i| Half::look_up(i, &mut halves, columns, &lines, goal));
            halves.iter_mut().filter(|_| is_mirrored).for_each(Half::look_up_mirrors);
            halves
        });
        let number = |h: usize, mask: u16| {
            halves[h].iter().position(|half| half.walls == mask & columns_mask(cut[h])).unwrap_or_default()
        };
        let (mut pairs, mut by_walls) =
            (vec![NO_SHAPE; WALL_NUMBERS * WALL_NUMBERS], vec![NO_SHAPE; 1 << 16]);
        let mut shapes = Vec::new();
        for &mask in &masks {
            let numbers = [number(0, mask), number(1, mask)];
            pairs[numbers[0] * WALL_NUMBERS + numbers[1]] = shapes.len() as u8;
            by_walls[usize::from(mask)] = shapes.len() as u8;
            let weights = [0, 1].map(|h| &halves[h][numbers[h]].weights);
            // While walls are displaced, no place counts.
            let goal = if shapes.len() == HOME { goal } else { Goal { place: 0, ..goal } };
            shapes.push(Shape {
                word: spread(mask),
                halves: numbers,
                rows: rows(mask, weights, &lines, goal),
            });
        }
        let largest = [0, 1].map(|h| halves[h].iter().map(Half::largest).max().unwrap_or_default());
        let (largest_first, largest) = (largest[0], largest[0] + largest[1]);
        Space {
            goal,
            is_transposed,
            is_mirrored,
            lines,
            halves,
            shapes,
            pairs,
            by_walls,
            largest_first,
            largest,
        }
    }

    /// The number of layouts of the larger half.
    pub(crate) fn largest_half(endgame: &Endgame) -> u64 {
        let Cut { is_transposed, halves, .. } = Cut::new(endgame);
        let cells = larger_half(endgame, is_transposed, halves);
        u64::from(endgame.limit()).saturating_pow(cells)
    }

    /// The bytes of memory that the tables take.
    pub(crate) fn bytes(&self) -> usize {
        let halves = self.halves.iter().flatten().map(Half::bytes).sum::<usize>();
        halves
            + self.pairs.len()
            + self.by_walls.len()
            + self.shapes.len() * 8 * 8 * (1 << 16)
            + 5 * (1 << 16)
    }

    /// The shape of two halves, by the numbers of their walls.
    #[inline(always)]
    pub(crate) fn pair(&self, first: usize, second: usize) -> u8 {
        self.pairs[first * WALL_NUMBERS + second]
    }

    /// A word in the orientation of the space, or back.
    pub(crate) fn orient(&self, word: u64) -> u64 {
        if self.is_transposed { transposed(word) } else { word }
    }

    /// The shape of a board's walls, the sum of its first half, and the ranks of both; `None` where there is no such shape. All
    /// free tiles are below the target.
    pub(crate) fn locate(&self, word: u64) -> Option<(usize, usize, [usize; 2])> {
        let shape = self.by_walls[usize::from(Position(word).walls())];
        if shape == NO_SHAPE {
            return None;
        }
        let (first_sum, ranks) = self.ranks(shape.into(), word);
        Some((shape.into(), first_sum, ranks))
    }

    /// The sum of the first half of a board whose walls have a shape, and the ranks of both halves.
    #[inline(always)]
    pub(crate) fn ranks(&self, shape: usize, word: u64) -> (usize, [usize; 2]) {
        let [a, b] = [0, 1].map(|h| self.halves[h][self.shapes[shape].halves[h]].rank_of(word));
        ((a >> 16) as usize, [a, b].map(|rank| (rank & 0xffff) as usize))
    }

    /// The index of a layout in its layer, or that of its mirror image if it is smaller.
    #[inline(always)]
    pub(crate) fn index(&self, layer: &Layer, shape: usize, first_sum: usize, ranks: [usize; 2]) -> u64 {
        let index = layer.index(shape, first_sum, ranks);
        if !self.is_mirrored {
            return index;
        }
        index.min(layer.index(shape, first_sum, self.mirror(layer.sum, shape, first_sum, ranks)))
    }

    /// The ranks of a layout's mirror image.
    #[inline(always)]
    fn mirror(&self, sum: usize, shape: usize, first_sum: usize, ranks: [usize; 2]) -> [usize; 2] {
        let [a, b] = [0, 1].map(|h| &self.halves[h][self.shapes[shape].halves[h]]);
        [a.mirror(first_sum, ranks[0]), b.mirror(sum - first_sum, ranks[1])]
    }

    /// The number of positions that a layer's bitmap stands for.
    pub(crate) fn count(&self, layer: &Layer, bitmap: &Bitmap) -> u64 {
        let len = bitmap.len as u64;
        if !self.is_mirrored {
            return len;
        }
        let mut bits = bitmap.bits(0..bitmap.blocks());
        let is_symmetric = |&index: &u64| {
            let word = self.word(layer, index);
            mirrored(word) == word
        };
        2 * len - std::iter::from_fn(|| bits.next()).filter(is_symmetric).count() as u64
    }

    /// Checks that a position, in the orientation of the space, is one of the endgame.
    pub(crate) fn check(&self, word: u64) -> Result<(), PositionError> {
        let position = Position(self.orient(word));
        if self.by_walls[usize::from(Position(word).walls())] == NO_SHAPE {
            return Err(PositionError::Shape { position });
        }
        let is_tile = |cell: usize| match word >> (4 * cell) & 15 {
            WALL => true,
            nibble => nibble < self.goal.made.into(),
        };
        if !(0..16).all(is_tile) || self.is_goal(word) {
            return Err(PositionError::Tile {
                position,
                target: 1 << (self.goal.made - u8::from(self.goal.place != 0)),
            });
        }
        if position.empty() == 0 { Err(PositionError::Full(position)) } else { Ok(()) }
    }

    /// A board slid up, down, to the left or to the right, in this order.
    #[inline(always)]
    pub(crate) fn slide(&self, word: u64, direction: usize) -> u64 {
        let lines = [&self.lines.front, &self.lines.back][direction % 2];
        let slid = |line: u16| lines[usize::from(line)];
        match direction {
            0 | 1 => (0..4).map(|c| put(slid(column(word, c)), c)).sum(),
            _ => (0..4).map(|r| u64::from(slid((word >> (16 * r)) as u16)) << (16 * r)).sum(),
        }
    }

    /// Whether a board is one on which the goal is reached.
    pub(crate) fn is_goal(&self, word: u64) -> bool {
        let is_home = || usize::from(self.by_walls[usize::from(Position(word).walls())]) == HOME;
        self.goal.is_made(word) || self.goal.is_placed(word) && is_home()
    }

    /// The board with an index in a layer.
    pub(crate) fn word(&self, layer: &Layer, index: u64) -> u64 {
        let segment = layer.segments.partition_point(|segment| segment.first <= index) - 1;
        let (shape, first_sum) = (&self.shapes[segment / layer.sums], segment % layer.sums);
        let Segment { first, stride } = layer.segments[segment];
        let ranks = [(index - first) / stride, (index - first) % stride];
        let half = |h: usize, sum| self.halves[h][shape.halves[h]].layout(sum, ranks[h] as usize).0.word;
        shape.word | half(0, first_sum) | half(1, layer.sum - first_sum)
    }

    /// All layouts of a small sum, as boards.
    pub(crate) fn layouts(&self, sum: usize) -> Vec<u64> {
        let mut words = Vec::new();
        for shape in &self.shapes {
            let [a, b] = [0, 1].map(|h| &self.halves[h][shape.halves[h]]);
            for first in 0..=sum.min(a.largest()) {
                for (i, j) in (0..a.count(first)).flat_map(|i| (0..b.count(sum - first)).map(move |j| (i, j)))
                {
                    let word = shape.word | a.layout(first, i).0.word | b.layout(sum - first, j).0.word;
                    words.push(word);
                }
            }
        }
        words.retain(|&word| Position(word).empty() != 0 && !self.is_goal(word));
        debug_assert!(words.iter().all(|&word| half_sum(word) == sum));
        words
    }
}

/// How the board is cut.
struct Cut {
    /// Whether rows and columns are exchanged.
    is_transposed: bool,
    /// Whether the halves are their own mirror images, in every shape.
    is_mirrored: bool,
    /// The columns of each half.
    halves: [[usize; 2]; 2],
}

impl Cut {
    /// Into halves that are their own mirror images, or else as alike as possible.
    fn new(endgame: &Endgame) -> Self {
        let fits = |&t: &bool| is_mirrored(endgame, t) && larger_half(endgame, t, CUTS[2]) <= MAX_FREE / 2;
        if let Some(is_transposed) = [false, true].into_iter().find(fits) {
            return Cut { is_transposed, is_mirrored: true, halves: CUTS[2] };
        }
        let ways = [false, true].into_iter().flat_map(|t| CUTS.map(|cut| (t, cut)));
        let best = ways.min_by_key(|&(t, cut)| larger_half(endgame, t, cut));
        let (is_transposed, halves) = best.expect("there are six ways");
        Cut { is_transposed, is_mirrored: false, halves }
    }
}

/// Whether all shapes, and the place, are their own mirror images.
fn is_mirrored(endgame: &Endgame, is_transposed: bool) -> bool {
    let orient = |mask| if is_transposed { transposed_mask(mask) } else { mask };
    let masks = endgame.shapes().iter().copied().chain(endgame.place());
    masks.map(|mask| orient(mask.0)).all(|mask| mirrored_mask(mask) == mask)
}

/// The most free cells of a half.
fn larger_half(endgame: &Endgame, is_transposed: bool, cut: [[usize; 2]; 2]) -> u32 {
    let orient = |mask| if is_transposed { transposed_mask(mask) } else { mask };
    let free = |mask: u16| cut.map(|columns| (!orient(mask) & columns_mask(columns)).count_ones());
    endgame.shapes().iter().flat_map(|shape| free(shape.0)).max().unwrap_or_default()
}

/// The cells of two columns.
fn columns_mask(columns: [usize; 2]) -> u16 {
    columns.iter().map(|&c| 0x1111 << c).sum()
}

/// What the slides of each row do to the codes of the halves, as long as the walls stay where they are.
fn rows(mask: u16, weights: [&[u32; 16]; 2], lines: &Lines, goal: Goal) -> Box<[[[RowSlid; 1 << 16]; 2]; 4]> {
    let mut tables: Box<[[[RowSlid; 1 << 16]; 2]; 4]> = boxed();
    for (r, tables) in tables.iter_mut().enumerate() {
        let row_walls = mask >> (4 * r) & 15;
        let is_tile = |cell: &u8| *cell < goal.made || u64::from(*cell) == WALL;
        let is_line = |line: &u16| walls(*line) == row_walls && cells(*line).iter().all(is_tile);
        for line in (0..=u16::MAX).filter(is_line).map(usize::from) {
            for (table, slid) in tables.iter_mut().zip([&lines.front, &lines.back]) {
                let moved = if usize::from(slid[line]) == line { 0 } else { ROW_MOVED };
                table[line] = moved + after_row(slid[line], r, row_walls, weights, goal);
            }
        }
    }
    tables
}

/// The codes of what a row has become, or what else happened to it.
fn after_row(line: u16, r: usize, row_walls: u16, weights: [&[u32; 16]; 2], goal: Goal) -> RowSlid {
    if walls(line) != row_walls {
        return ROW_WALLS;
    }
    let word = u64::from(line) << (16 * r);
    if goal.is_made(word) || goal.is_placed(word) {
        return ROW_GOAL;
    }
    let code = |h: usize| {
        let digit = |(c, nibble): (usize, u8)| u64::from(nibble) * u64::from(weights[h][4 * r + c]);
        (0..).zip(cells(line)).map(digit).sum::<u64>()
    };
    code(0) + (code(1) << SECOND)
}

/// Tables too large for the stack.
fn boxed() -> Box<[[[RowSlid; 1 << 16]; 2]; 4]> {
    let rows = vec![[[0; 1 << 16]; 2]; 4].into_boxed_slice();
    rows.try_into().expect("four rows")
}
