//! A chance node: an afterstate, the states that spawns make of it, and the afterstates behind those.

use afterstate_game::{Afterstate, Board, Rules, SpawnSlides};
use afterstate_network::{Batch, Isa};

use crate::ValueFunction;

/// The most children that an afterstate can have. A line has at most two runs of empty cells: two slides along each of
/// eight lines with two tiles in each of two runs.
const CHILDREN: usize = 64;

/// An afterstate under evaluation. Its children are the different afterstates, two moves on, that its spawns lead
/// to.
///
/// Equal children are found by structure, without comparing boards: tiles that appear in neighbouring empty cells of
/// a line slide to the same board along that line, with the same reward.
#[repr(C, align(64))]
pub(crate) struct Node<const N: usize> {
    /// Those after a 2, then those after a 4.
    children: [Afterstate<N>; CHILDREN],
    /// The reward of the move to each child, and once it is known, the child's value added. The second half stands for
    /// moves that are illegal, and stays −∞.
    returns: [f32; 2 * CHILDREN],
    /// The places among the returns that the slides of [`SpawnSlides`] lead to: for each tile, direction and cell.
    places: [[[u8; 16]; 4]; 2],
    /// The empty cells.
    empty: u16,
    /// Their number.
    cells: usize,
    /// The number of children after a 2.
    twos: usize,
    /// The number of children.
    len: usize,
    /// The child whose value is needed next.
    next: usize,
    /// The afterstate.
    pub(crate) afterstate: Afterstate<N>,
    /// The probabilities, from the root on, of a 2 in one of the cells and of a 4.
    child_probabilities: [f64; 2],
}

impl<const N: usize> Node<N> {
    pub(crate) fn new() -> Self {
        Node {
            children: [Afterstate::new(Board::EMPTY); CHILDREN],
            returns: [f32::NEG_INFINITY; 2 * CHILDREN],
            places: [[[0; 16]; 4]; 2],
            empty: 0,
            cells: 0,
            twos: 0,
            len: 0,
            next: 0,
            afterstate: Afterstate::new(Board::EMPTY),
            child_probabilities: [1.0; 2],
        }
    }

    /// Finds the children of an afterstate; `slides` is room to work in.
    #[inline(always)]
    pub(crate) fn expand(
        &mut self,
        slides: &mut SpawnSlides<N>,
        afterstate: Afterstate<N>,
        probability: f64,
        rules: &Rules,
    ) {
        slides.find(afterstate);
        let runs = slides.empty().map(Runs::new);
        let empty = afterstate.board().empty_cells();
        (self.empty, self.cells) = (empty.mask(), empty.count() as usize);
        (self.len, self.next) = (0, 0);
        self.afterstate = afterstate;
        self.child_probabilities =
            [1.0 - rules.four, rules.four].map(|tile| probability * tile / self.cells as f64);
        self.expand_tile(slides, &runs, 0);
        self.twos = self.len;
        self.expand_tile(slides, &runs, 1);
    }

    /// Finds the children after a 2 or a 4 has appeared in each of the empty cells.
    #[inline(always)]
    fn expand_tile(&mut self, slides: &SpawnSlides<N>, runs: &[Runs; 2], tile: usize) {
        // In a longer run there is a cell from which the tile can move, whichever way.
        let [rows, columns] = runs.map(|runs| (twice(runs.first), twice(runs.longer)));
        let (first, longer) = (rows.0 | columns.0 << 32, rows.1 | columns.1 << 32);
        let mut wanted = first & (longer | !slides.illegal(tile));
        let places = &mut self.places[tile];
        while wanted != 0 {
            let slide = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            let child = self.len % CHILDREN;
            self.children[child] = slides.afterstate(tile, slide);
            self.returns[child] = slides.reward(tile, slide);
            places[slide / 16][slide % 16] = child as u8;
            self.len += 1;
        }
        const ILLEGAL: u128 = u128::from_le_bytes([CHILDREN as u8; 16]);
        for (number, places) in places.iter_mut().enumerate() {
            let illegal = u128::from_le_bytes(slides.illegal_bytes(tile, number)) & ILLEGAL;
            let all = runs[number / 2].spread_from_first(u128::from_le_bytes(*places)) | illegal;
            *places = all.to_le_bytes();
        }
    }

    /// Takes afterstates for children that no tile comes before.
    #[inline(always)]
    pub(crate) fn hold(&mut self, afterstates: &[Afterstate<N>], probability: f64) {
        for (child, &afterstate) in afterstates.iter().enumerate().take(CHILDREN) {
            (self.children[child], self.returns[child]) = (afterstate, 0.0);
        }
        (self.len, self.next) = (afterstates.len().min(CHILDREN), 0);
        self.child_probabilities = [probability; 2];
    }

    /// The number of children.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The return of each child.
    #[inline(always)]
    pub(crate) fn returns(&self) -> &[f32] {
        &self.returns
    }

    /// A child, and the probability of getting to one of the states that it follows.
    #[inline(always)]
    pub(crate) fn child(&self, child: usize) -> (Afterstate<N>, f64) {
        (self.children[child % CHILDREN], self.child_probabilities[usize::from(child >= self.twos)])
    }

    /// The first child that has no value yet, and its probability.
    #[inline(always)]
    pub(crate) fn next_child(&self) -> Option<(Afterstate<N>, f64)> {
        (self.next < self.len).then(|| self.child(self.next))
    }

    /// The child after that one, if there is one; else any afterstate.
    #[inline(always)]
    pub(crate) fn child_after_next(&self) -> Afterstate<N> {
        self.children[(self.next + 1) % CHILDREN]
    }

    /// Gives that child its value.
    #[inline(always)]
    pub(crate) fn take_value(&mut self, value: f32) {
        self.returns[self.next % CHILDREN] += value;
        self.next += 1;
    }

    /// Gives all children their values by the value function.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn add_values<I: Isa>(&mut self, values: &impl ValueFunction, batch: &mut Batch) {
        let len = self.len.min(CHILDREN);
        // SAFETY: inside a kernel.
        unsafe { values.add_values::<I, N>(batch, &self.children[..len], &mut self.returns[..len]) }
    }

    /// The value of the afterstate, once those of all children are known: the mean over the empty cells of the best
    /// return after a 2 and after a 4. States without a move are worth 0.
    ///
    /// The order of the sum is fixed: the cells row by row, for each tile.
    #[inline(always)]
    pub(crate) fn expectation(&self, rules: &Rules) -> f32 {
        let (mut sum_of_twos, mut sum_of_fours) = (0.0, 0.0);
        let mut cells = self.empty;
        for _ in 0..self.cells {
            let cell = cells.trailing_zeros() as usize % 16;
            cells &= cells - 1;
            sum_of_twos += f64::from(self.best(0, cell));
            sum_of_fours += f64::from(self.best(1, cell));
        }
        ((sum_of_twos * (1.0 - rules.four) + sum_of_fours * rules.four) / self.cells as f64) as f32
    }

    /// The best return after a tile in a cell.
    #[inline(always)]
    fn best(&self, tile: usize, cell: usize) -> f32 {
        let transposed = cell % 4 * 4 + cell / 4;
        let value = |number: usize, cell: usize| {
            self.returns[usize::from(self.places[tile][number][cell]) % (2 * CHILDREN)]
        };
        let larger = |a: f32, b: f32| if a > b { a } else { b };
        let along_row = larger(value(0, cell), value(1, cell));
        let along_column = larger(value(2, transposed), value(3, transposed));
        let best = larger(along_row, along_column);
        if best == f32::NEG_INFINITY { 0.0 } else { best }
    }
}

/// The runs of empty cells in the lines of an axis. Wherever in a run a tile appears, it slides to the same place.
#[derive(Clone, Copy)]
struct Runs {
    /// The first cells, a bit for each.
    first: u16,
    /// Those of them that have an empty neighbour.
    longer: u16,
    /// The first cells, the second and further ones, and the third and fourth ones, as bytes.
    first_bytes: u128,
    second_bytes: u128,
    third_bytes: u128,
}

impl Runs {
    #[inline(always)]
    fn new(empty: [u8; 16]) -> Self {
        const FIRST_COLUMN: u128 = 0x0000_00ff_0000_00ff_0000_00ff_0000_00ff;
        let empty = u128::from_le_bytes(empty);
        let second_bytes = empty & (empty << 8) & !FIRST_COLUMN;
        let first_bytes = empty & !second_bytes;
        let third_bytes = second_bytes & (second_bytes << 8);
        let longer = first_bytes & (second_bytes >> 8);
        Runs { first: bits(first_bytes), longer: bits(longer), first_bytes, second_bytes, third_bytes }
    }

    /// Gives all cells of a run the byte of the first one.
    #[inline(always)]
    fn spread_from_first(&self, bytes: u128) -> u128 {
        let first = bytes & self.first_bytes;
        let two = first | (first << 8) & self.second_bytes;
        two | (two << 16) & self.third_bytes
    }
}

/// The bytes that are 0xff, as bits.
#[inline(always)]
fn bits(bytes: u128) -> u16 {
    // The product moves the lowest bit of byte i to bit 56 + i.
    let half = |bytes: u64| (bytes & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    (half(bytes as u64) | half((bytes >> 64) as u64) << 8) as u16
}

/// Sixteen bits for both directions of an axis.
#[inline(always)]
fn twice(bits: u16) -> u64 {
    u64::from(bits) << 16 | u64::from(bits)
}
