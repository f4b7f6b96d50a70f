//! What an episode remembers for its target: the last afterstates, each with one number. Where the values are
//! of states or actions, these are meant.

use afterstate_network::{Features, Level, Network, Positions};

/// The afterstates of an episode: the last few with the positions of their weights, or, for targets
/// that need the whole episode, all of them as boards.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Boards and numbers, a ring when the horizon is bounded.
    entries: Vec<Entry>,
    /// The positions of the entries' weights; empty when the horizon is unbounded.
    positions: Vec<Positions>,
    lookups: usize,
    capacity: usize,
    /// The number of afterstates so far.
    len: usize,
}

/// An afterstate and its number; a cache line of its own, so that no two threads write to one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Entry {
    board: [u8; 16],
    set: usize,
    number: f32,
}

impl Trace {
    /// An empty trace that holds this many afterstates, or all.
    pub fn new(horizon: Option<usize>, network: &Network) -> Self {
        let lookups = network.layout().lookups().len();
        // A power of two, so that the ring needs no division.
        let capacity = horizon.map_or(0, usize::next_power_of_two);
        Trace {
            entries: vec![Entry { board: [0; 16], set: 0, number: 0.0 }; capacity],
            positions: vec![Positions::default(); capacity * lookups],
            lookups,
            capacity,
            len: 0,
        }
    }

    /// The number of afterstates so far in the episode.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no afterstate has been reached.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets the episode.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
        if self.capacity == 0 {
            self.entries.clear();
        }
    }

    /// Remembers an afterstate.
    #[inline(always)]
    pub fn push(&mut self, board: [u8; 16], features: Features<'_>, number: f32) {
        let Features { set, positions } = features;
        if self.capacity == 0 {
            self.entries.push(Entry { board, set, number });
        } else {
            let slot = self.slot(0, 1);
            self.entries[slot] = Entry { board, set, number };
            // A loop, because a call to copy a few vectors costs more than they do.
            for (kept, new) in self.positions[slot * self.lookups..][..self.lookups].iter_mut().zip(positions)
            {
                *kept = *new;
            }
        }
        self.len += 1;
    }

    /// The place of the entry `back` steps before the last one (of `ahead` more entries).
    #[inline(always)]
    fn slot(&self, back: usize, ahead: usize) -> usize {
        let index = self.len + ahead - 1 - back;
        if self.capacity == 0 { index } else { index & (self.capacity - 1) }
    }

    /// The weights of the afterstate `back` steps before the last one, inside the horizon.
    #[inline(always)]
    pub fn features(&self, back: usize) -> Features<'_> {
        let slot = self.slot(back, 0);
        let positions = &self.positions[slot * self.lookups..][..self.lookups];
        Features { set: self.entries[slot].set, positions }
    }

    /// The board of the afterstate `back` steps before the last one.
    #[inline(always)]
    pub fn board(&self, back: usize) -> &[u8; 16] {
        &self.entries[self.slot(back, 0)].board
    }

    /// The set of tables of the afterstate `back` steps before the last one.
    #[inline(always)]
    pub fn set(&self, back: usize) -> usize {
        self.entries[self.slot(back, 0)].set
    }

    /// The number kept with the afterstate `back` steps before the last one.
    #[inline(always)]
    pub fn number(&self, back: usize) -> f32 {
        self.entries[self.slot(back, 0)].number
    }

    /// Changes the number kept with the last afterstate.
    #[inline(always)]
    pub fn set_last_number(&mut self, number: f32) {
        let slot = self.slot(0, 0);
        self.entries[slot].number = number;
    }

    /// Everything that is remembered, the oldest first: boards, sets of tables and numbers; and the number of
    /// afterstates so far.
    pub fn entries(&self) -> (Vec<([u8; 16], usize, f32)>, usize) {
        let held = if self.capacity == 0 { self.len } else { self.len.min(self.capacity) };
        let entry = |back| (*self.board(back), self.set(back), self.number(back));
        ((0..held).rev().map(entry).collect(), self.len)
    }

    /// A trace that remembers what [`Self::entries`] gave.
    pub fn restore(
        horizon: Option<usize>,
        network: &Network,
        entries: &[([u8; 16], usize, f32)],
        len: usize,
    ) -> Self {
        let mut trace = Trace::new(horizon, network);
        trace.len = len - entries.len();
        for &(board, set, number) in entries {
            let (positions, _) = network.view().positions_at(Level::Portable, &board);
            trace.push(board, Features { set, positions: &positions }, number);
        }
        trace
    }
}
