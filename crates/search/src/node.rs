//! A chance node: an afterstate, the states that spawns make of it, and the afterstates behind those.

use afterstate_game::{Afterstate, Board, Move, Rules};
use afterstate_network::Isa;

use crate::ValueFunction;

/// The most spawns that an afterstate can have: a 2 and a 4 on fifteen cells.
const SPAWNS: usize = 30;

/// Room for the children of all of them, and one place more.
const CHILDREN: usize = 128;

/// The place of a move that is illegal: its return stays −∞.
const NONE: u8 = (CHILDREN - 1) as u8;

/// An afterstate under evaluation. Its children are the different afterstates, two moves on, that its spawns lead
/// to.
///
/// Equal children are found by structure, without comparing boards: tiles that appear in neighbouring empty cells of
/// a line slide to the same board along that line, with the same reward.
#[repr(C, align(64))]
pub(crate) struct Node<const N: usize> {
    /// Those after a 2, then those after a 4.
    pub(crate) children: [Afterstate<N>; CHILDREN],
    /// The reward of the move to each child, and once it is known, the child's value added.
    pub(crate) returns: [f32; CHILDREN],
    /// For each spawn, the children that the four moves lead to: the 2s in all empty cells, then the 4s.
    spawns: [[u8; 4]; SPAWNS],
    /// The number of empty cells.
    cells: usize,
    /// The number of children after a 2.
    twos: usize,
    /// The number of children.
    pub(crate) len: usize,
    /// The child whose value is needed next.
    next: usize,
    /// The afterstate.
    pub(crate) afterstate: Afterstate<N>,
    /// The probability of getting here from the root.
    probability: f64,
}

impl<const N: usize> Node<N> {
    pub(crate) fn new() -> Self {
        Node {
            children: [Afterstate::new(Board::EMPTY); CHILDREN],
            returns: [f32::NEG_INFINITY; CHILDREN],
            spawns: [[NONE; 4]; SPAWNS],
            cells: 0,
            twos: 0,
            len: 0,
            next: 0,
            afterstate: Afterstate::new(Board::EMPTY),
            probability: 1.0,
        }
    }

    /// Finds the children of an afterstate.
    #[inline(always)]
    pub(crate) fn expand(&mut self, afterstate: Afterstate<N>, probability: f64) {
        let empty = afterstate.board().empty_cells();
        (self.len, self.next) = (0, 0);
        (self.afterstate, self.probability) = (afterstate, probability);
        // A slide leaves an empty cell, and a tile.
        self.cells = (empty.count() as usize).min(SPAWNS / 2);
        self.expand_tile(afterstate, empty.mask(), 1, 0);
        self.twos = self.len;
        self.expand_tile(afterstate, empty.mask(), 2, self.cells);
    }

    /// Finds the children after a tile has appeared in each of the empty cells.
    #[inline(always)]
    fn expand_tile(&mut self, afterstate: Afterstate<N>, empty: u16, tile: u8, first: usize) {
        const FIRST_COLUMN: u16 = 0x1111;
        let empty_on_the_left = empty << 1 & !FIRST_COLUMN;
        let empty_on_the_right = (empty & !FIRST_COLUMN) >> 1;
        // The children of the cell above, for each column.
        let mut above = [[NONE; 2]; 4];
        let mut before = [NONE; 2];
        let (mut cells, mut spawn) = (empty, first);
        for _ in 0..self.cells {
            let byte = cells.trailing_zeros() as usize & 15;
            cells &= cells - 1;
            let is = |set: u16| set >> byte & 1 == 1;
            let slides = afterstate.with_tile(byte, tile).slides();
            let legal = slides.legal;
            let mut child = |a: Move, shared: bool| -> u8 {
                if !shared && !legal.contains(a) {
                    return NONE;
                }
                let child = self.len & (CHILDREN - 1);
                self.children[child] = slides.afterstates[a as usize];
                self.returns[child] = slides.rewards[a as usize] as f32;
                self.len += 1;
                child as u8
            };
            // The first of neighbours has the board for all of them; a later one can move where the first
            // cannot.
            if !is(empty_on_the_left) {
                let shared = is(empty_on_the_right);
                before = [child(Move::Left, shared), child(Move::Right, shared)];
            }
            let column = byte % 4;
            if !is(empty << 4) {
                let shared = is(empty >> 4);
                above[column] = [child(Move::Up, shared), child(Move::Down, shared)];
            }
            let only = |a: Move, child: u8| if legal.contains(a) { child } else { NONE };
            self.spawns[spawn] = [
                only(Move::Up, above[column][0]),
                only(Move::Right, before[1]),
                only(Move::Down, above[column][1]),
                only(Move::Left, before[0]),
            ];
            spawn += 1;
        }
    }

    /// A child, and the probability of getting to one of the states that it follows.
    #[inline(always)]
    pub(crate) fn child(&self, child: usize, rules: &Rules) -> (Afterstate<N>, f64) {
        let tile = if child < self.twos { 1.0 - rules.four } else { rules.four };
        (self.children[child & (CHILDREN - 1)], self.probability * tile / self.cells as f64)
    }

    /// The first child that has no value yet, and its probability.
    #[inline(always)]
    pub(crate) fn next_child(&self, rules: &Rules) -> Option<(Afterstate<N>, f64)> {
        (self.next < self.len).then(|| self.child(self.next, rules))
    }

    /// Gives that child its value.
    #[inline(always)]
    pub(crate) fn take_value(&mut self, value: f32) {
        self.returns[self.next & (CHILDREN - 1)] += value;
        self.next += 1;
    }

    /// Gives all children their values by the value function.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn evaluate<I: Isa>(&mut self, values: &impl ValueFunction) {
        for (value, child) in self.returns.iter_mut().zip(&self.children).take(self.len) {
            // SAFETY: inside a kernel.
            *value += unsafe { values.value::<I>(&child.board().bytes()) };
        }
    }

    /// The value of the afterstate, once those of all children are known: the mean over the empty cells of the best
    /// return after a 2 and after a 4. States without a move are worth 0.
    ///
    /// The order of the sum is fixed: the cells row by row, for each tile.
    #[inline(always)]
    pub(crate) fn expectation(&self, rules: &Rules) -> f32 {
        let (twos, fours) = self.spawns[..2 * self.cells].split_at(self.cells);
        let (mut sum_of_twos, mut sum_of_fours) = (0.0, 0.0);
        for (two, four) in twos.iter().zip(fours) {
            sum_of_twos += f64::from(self.best(two));
            sum_of_fours += f64::from(self.best(four));
        }
        ((sum_of_twos * (1.0 - rules.four) + sum_of_fours * rules.four) / self.cells as f64) as f32
    }

    /// The best return of a spawn's moves.
    #[inline(always)]
    fn best(&self, spawn: &[u8; 4]) -> f32 {
        let [a, b, c, d] = spawn.map(|child| self.returns[usize::from(child) & (CHILDREN - 1)]);
        let larger = |a: f32, b: f32| if a > b { a } else { b };
        let best = larger(larger(a, b), larger(c, d));
        if best == f32::NEG_INFINITY { 0.0 } else { best }
    }
}
