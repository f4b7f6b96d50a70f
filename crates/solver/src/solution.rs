//! A solved game: the values of all afterstates.

use std::ops::Range;

use afterstate_game::{Afterstate, Move, Rules, State};
use afterstate_network::file::Content;

use crate::{
    Objective,
    keys::{self, Index},
    space::Layer,
    word::{self, Word},
};

/// The number of bytes of a key, and of a value.
pub(crate) const WIDTH: usize = 4;

/// The values of all reachable afterstates under optimal play.
///
/// A lookup accepts any image of a board. The return of a move is its reward plus the value of its
/// afterstate; the values of states follow from these.
pub struct Solution<const N: usize> {
    pub(crate) header: Header,
    pub(crate) data: Data,
    tables: Vec<Table>,
}

/// The parameters of a solution; see `file` for the format.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Header {
    pub(crate) objective: Objective,
    pub(crate) rules: Rules,
    /// The expected value at the random start.
    pub(crate) expected: f64,
    pub(crate) states: u64,
    /// The sum of the tiles and the number of afterstates of each layer, the largest sum first.
    pub(crate) layers: Vec<(u32, u32)>,
}

/// For each layer of the header, its sorted keys followed by their values in units of the objective, all
/// little-endian u32.
pub(crate) enum Data {
    Owned(Vec<u8>),
    File { content: Content, range: Range<usize> },
}

/// The location of a layer.
struct Table {
    sum: u32,
    start: usize,
    len: usize,
    index: Index,
}

impl Data {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Data::Owned(bytes) => bytes,
            Data::File { content, range } => &content[range.clone()],
        }
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u32 {
        let bytes = &self.bytes()[at..at + WIDTH];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

impl<const N: usize> Solution<N> {
    /// Creates a solution from its parts; the data must have the length given by the header.
    pub(crate) fn new(header: Header, data: Data) -> Self {
        let mut start = 0;
        let mut tables = Vec::with_capacity(header.layers.len());
        for &(sum, len) in &header.layers {
            let len = len as usize;
            let keys = (0..len).map(|i| data.word(start + WIDTH * i));
            tables.push(Table { sum, start, len, index: Index::new(keys, len) });
            start += 2 * WIDTH * len;
        }
        Solution { header, data, tables }
    }

    /// The objective of the values.
    pub fn objective(&self) -> Objective {
        self.header.objective
    }

    /// The rules of the solved game.
    pub fn rules(&self) -> Rules {
        self.header.rules
    }

    /// The expected value at the random start.
    pub fn expected(&self) -> f64 {
        self.header.expected
    }

    /// The number of reachable states, up to symmetry.
    pub fn states(&self) -> u64 {
        self.header.states
    }

    /// The number of reachable afterstates, up to symmetry.
    pub fn afterstates(&self) -> u64 {
        self.header.layers.iter().map(|&(_, len)| u64::from(len)).sum()
    }

    /// The value of an afterstate; `None` if no game can reach it.
    pub fn value(&self, afterstate: Afterstate<N>) -> Option<f64> {
        let board = afterstate.board();
        if board.max_exponent() > word::LARGEST {
            return None;
        }
        let table = self.table(board.sum())?;
        let key = keys::key(Word::pack(&board).canonical());
        let at = |i: usize| table.start + WIDTH * i;
        let position = table.index.find(key, |i| self.data.word(at(i)))?;
        Some(f64::from(self.data.word(at(table.len + position))) * self.header.objective.unit())
    }

    /// Layers are in steps of 2 below the largest sum.
    fn table(&self, sum: u32) -> Option<&Table> {
        let largest = self.tables.first()?.sum;
        let table = self.tables.get((largest.checked_sub(sum)? / 2) as usize)?;
        (table.sum == sum).then_some(table)
    }

    /// The return of each legal move of a state; `None` for a move that is illegal, or whose
    /// afterstate no game can reach.
    pub fn move_values(&self, state: State<N>) -> [Option<f64>; 4] {
        let slides = state.slides();
        Move::ALL.map(|a| {
            let slide = slides.get(a)?;
            Some(self.header.objective.reward(slide.reward) + self.value(slide.afterstate)?)
        })
    }

    /// The best move, the first one on ties, and its return; `None` at the end of the game, and for
    /// states that no game can reach.
    pub fn best(&self, state: State<N>) -> Option<(Move, f64)> {
        best_of(&self.move_values(state))
    }
}

/// The best of the moves that have a value, the first one on ties.
pub(crate) fn best_of(values: &[Option<f64>; 4]) -> Option<(Move, f64)> {
    let valued = Move::ALL.into_iter().filter_map(|a| Some((a, values[a as usize]?)));
    valued.reduce(|best, other| if other.1 > best.1 { other } else { best })
}

/// A solution under construction.
pub(crate) struct Builder {
    header: Header,
    bytes: Vec<u8>,
}

impl Builder {
    pub(crate) fn new(objective: Objective, rules: Rules, layers: &[Layer]) -> Self {
        let states = layers.iter().map(|layer| layer.states.len() as u64).sum();
        let lens = layers.iter().rev().map(|layer| (layer.sum, layer.afterstates.len() as u32)).collect();
        let header = Header { objective, rules, expected: 0.0, states, layers: lens };
        let afterstates: usize = layers.iter().map(|layer| layer.afterstates.len()).sum();
        Builder { header, bytes: Vec::with_capacity(2 * WIDTH * afterstates) }
    }

    /// Adds a layer, the largest sum first.
    pub(crate) fn layer(&mut self, keys: &[u32], values: &[f64]) {
        self.bytes.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
        let unit = self.header.objective.unit();
        self.bytes.extend(values.iter().flat_map(|value| ((value / unit).round() as u32).to_le_bytes()));
    }

    pub(crate) fn finish<const N: usize>(mut self, expected: f64) -> Solution<N> {
        self.header.expected = expected;
        Solution::new(self.header, Data::Owned(self.bytes))
    }
}
