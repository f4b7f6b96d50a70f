//! A chance node: an afterstate, the states after its spawns, and the afterstates that follow those.

use afterstate_game::{Afterstate, Board, Move, Rules};
use afterstate_network::{Batch, Isa};

use crate::leaves::Leaves;

/// The maximum number of children of an afterstate. A line has at most two runs of empty cells: two slides along each
/// of eight lines with two tiles in each of two runs.
const CHILDREN: usize = 64;

/// The maximum number of spawns of an afterstate: a 2 and a 4 on fifteen cells.
const SPAWNS: usize = 30;

/// The index of an illegal move: its return stays −∞.
const NONE: u8 = CHILDREN as u8;

/// An afterstate under evaluation. Its children are the distinct afterstates that its spawns and one move lead to.
///
/// Equal children are found by structure, without comparing boards: tiles that appear in neighbouring empty cells of
/// a line slide to the same board along that line, with the same reward.
#[repr(C, align(64))]
pub(crate) struct Node<const N: usize> {
    /// Those after a 2, followed by those after a 4.
    children: [Afterstate<N>; CHILDREN],
    /// The reward of the move to each child, plus the child's value once it is known. The second half is for illegal
    /// moves, and stays −∞.
    returns: [f32; 2 * CHILDREN],
    /// For each spawn, the indices of the returns of the four moves: the 2s in all empty cells, then the 4s.
    spawns: [[u8; 4]; SPAWNS],
    /// The number of empty cells.
    cells: usize,
    /// The number of children after a 2.
    twos: usize,
    /// The number of children.
    len: usize,
    /// The next child to be evaluated.
    next: usize,
    /// The afterstate.
    pub(crate) afterstate: Afterstate<N>,
    /// The probabilities, from the root, of a 2 in one of the cells and of a 4.
    child_probabilities: [f64; 2],
    /// The number of 4-tiles that branches below this node may still have.
    fours: u32,
}

/// A branch below a chance node.
#[derive(Clone, Copy)]
pub(crate) struct Branch<const N: usize> {
    /// The afterstate that it leads to.
    pub(crate) afterstate: Afterstate<N>,
    /// The probability, from the root, of one of the states before it.
    pub(crate) probability: f64,
    /// The number of 4-tiles that branches below it may still have; `None` if it already has too many.
    pub(crate) fours: Option<u32>,
}

impl<const N: usize> Node<N> {
    pub(crate) fn new() -> Self {
        Node {
            children: [Afterstate::new(Board::EMPTY); CHILDREN],
            returns: [f32::NEG_INFINITY; 2 * CHILDREN],
            spawns: [[NONE; 4]; SPAWNS],
            cells: 0,
            twos: 0,
            len: 0,
            next: 0,
            afterstate: Afterstate::new(Board::EMPTY),
            child_probabilities: [1.0; 2],
            fours: 0,
        }
    }

    /// Finds the children of an afterstate.
    #[inline(always)]
    pub(crate) fn expand(&mut self, branch: Branch<N>, rules: &Rules) {
        let Branch { afterstate, probability, fours } = branch;
        let empty = afterstate.board().empty_cells();
        (self.len, self.next) = (0, 0);
        self.afterstate = afterstate;
        self.fours = fours.unwrap_or_default();
        // A slide leaves an empty cell, and a tile.
        self.cells = (empty.count() as usize).min(SPAWNS / 2);
        self.child_probabilities =
            [1.0 - rules.four, rules.four].map(|tile| probability * tile / self.cells as f64);
        self.expand_tile(afterstate, empty.mask(), 1, 0);
        self.twos = self.len;
        self.expand_tile(afterstate, empty.mask(), 2, self.cells);
    }

    /// Finds the children after a tile has spawned in each of the empty cells.
    #[inline(always)]
    fn expand_tile(&mut self, afterstate: Afterstate<N>, empty: u16, tile: u8, first: usize) {
        const FIRST_COLUMN: u16 = 0x1111;
        let empty_on_the_left = empty << 1 & !FIRST_COLUMN;
        let empty_on_the_right = (empty & !FIRST_COLUMN) >> 1;
        // The children of the cell above, for each column.
        let mut above = [[NONE; 2]; 4];
        let mut before = [NONE; 2];
        let mut cells = empty;
        for spawn in first..first + self.cells {
            let byte = cells.trailing_zeros() as usize % 16;
            cells &= cells - 1;
            let is = |set: u16| set >> byte & 1 == 1;
            let slides = afterstate.with_tile(byte, tile).slides();
            let legal = slides.legal;
            let mut child = |a: Move, shared: bool| -> u8 {
                if !shared && !legal.contains(a) {
                    return NONE;
                }
                let child = self.len % CHILDREN;
                self.children[child] = slides.afterstates[a as usize];
                self.returns[child] = slides.rewards[a as usize] as f32;
                self.len += 1;
                child as u8
            };
            // The first of several neighbours has the board for all of them; a later one can move where the first
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
            self.spawns[spawn % SPAWNS] = [
                only(Move::Up, above[column][0]),
                only(Move::Right, before[1]),
                only(Move::Down, above[column][1]),
                only(Move::Left, before[0]),
            ];
        }
    }

    /// Makes these afterstates the children, without a spawn before them.
    #[inline(always)]
    pub(crate) fn hold(&mut self, afterstates: &[Afterstate<N>], probability: f64, fours: u32) {
        for (child, &afterstate) in afterstates.iter().enumerate().take(CHILDREN) {
            (self.children[child], self.returns[child]) = (afterstate, 0.0);
        }
        (self.len, self.next) = (afterstates.len().min(CHILDREN), 0);
        (self.twos, self.fours) = (self.len, fours);
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

    /// The branch to a child.
    #[inline(always)]
    pub(crate) fn branch(&self, child: usize) -> Branch<N> {
        let is_four = usize::from(child >= self.twos);
        Branch {
            afterstate: self.children[child % CHILDREN],
            probability: self.child_probabilities[is_four],
            fours: self.fours.checked_sub(is_four as u32),
        }
    }

    /// The number of 4-tiles that branches below this node may still have.
    #[inline(always)]
    pub(crate) fn fours(&self) -> u32 {
        self.fours
    }

    /// The branch to the first child without a value.
    #[inline(always)]
    pub(crate) fn next_branch(&self) -> Option<Branch<N>> {
        (self.next < self.len).then(|| self.branch(self.next))
    }

    /// The child after that one, if there is one, or else an arbitrary afterstate.
    #[inline(always)]
    pub(crate) fn child_after_next(&self) -> Afterstate<N> {
        self.children[(self.next + 1) % CHILDREN]
    }

    /// Sets the value of that child.
    #[inline(always)]
    pub(crate) fn take_value(&mut self, value: f32) {
        self.returns[self.next % CHILDREN] += value;
        self.next += 1;
    }

    /// Evaluates all children as leaves.
    #[inline(always)]
    pub(crate) fn add_values<I: Isa>(&mut self, isa: I, leaves: &Leaves<'_>, batch: &mut Batch) {
        let len = self.len.min(CHILDREN);
        leaves.add_values(isa, batch, &self.children[..len], &mut self.returns[..len]);
    }

    /// The value of the afterstate, once those of all children are known: the mean over the empty cells of the best
    /// return after a 2 and after a 4. States without a legal move have value 0.
    ///
    /// The order of summation is fixed: the cells row by row, for each tile.
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

    /// The best return of the moves after a spawn.
    #[inline(always)]
    fn best(&self, spawn: &[u8; 4]) -> f32 {
        let [a, b, c, d] = spawn.map(|child| self.returns[usize::from(child) % (2 * CHILDREN)]);
        let larger = |a: f32, b: f32| if a > b { a } else { b };
        let best = larger(larger(a, b), larger(c, d));
        if best == f32::NEG_INFINITY { 0.0 } else { best }
    }
}
