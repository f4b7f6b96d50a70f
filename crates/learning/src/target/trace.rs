//! What a target remembers of an episode: the last afterstates, each with one number. In networks of states
//! or actions, these take the place of afterstates.

use afterstate_network::{FeatureSlots, Features, Isa, Level, Network, View};

/// The afterstates of an episode: the last few with their features, or, for targets that need the whole episode, all of
/// them as boards.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// Boards and numbers; a ring buffer if the horizon is bounded.
    entries: Vec<Entry>,
    /// The features of the entries; if the horizon is unbounded, those found last.
    features: FeatureSlots,
    /// 0 if the horizon is unbounded.
    capacity: usize,
    /// The number of afterstates so far.
    len: usize,
}

/// An afterstate and its number, in a cache line of its own to avoid false sharing.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Entry {
    board: [u8; 16],
    set: usize,
    number: f32,
}

impl Trace {
    /// An empty trace that holds this many afterstates, or all.
    pub(crate) fn new(horizon: Option<usize>, network: &Network) -> Self {
        // A power of two, so that the ring needs no division.
        let capacity = horizon.map_or(0, usize::next_power_of_two);
        Trace {
            entries: vec![Entry { board: [0; 16], set: 0, number: 0.0 }; capacity],
            features: FeatureSlots::new(network, capacity.max(1)),
            capacity,
            len: 0,
        }
    }

    /// The number of afterstates so far in the episode.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether no afterstate has been reached.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets the episode.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
        if self.capacity == 0 {
            self.entries.clear();
        }
    }

    /// Remembers an afterstate.
    #[inline(always)]
    pub(crate) fn push(&mut self, board: [u8; 16], features: Features<'_>, number: f32) {
        let entry = Entry { board, set: features.set(), number };
        if self.capacity == 0 {
            self.entries.push(entry);
        } else {
            let slot = self.slot(0, 1);
            self.entries[slot] = entry;
            self.features.put(slot, features);
        }
        self.len += 1;
    }

    /// The index of the entry `back` steps before the last one, given `ahead` more entries.
    #[inline(always)]
    fn slot(&self, back: usize, ahead: usize) -> usize {
        let index = self.len + ahead - 1 - back;
        if self.capacity == 0 { index } else { index & (self.capacity - 1) }
    }

    /// The weights of the afterstate `back` steps before the last one, inside the horizon.
    #[inline(always)]
    pub(crate) fn features(&self, back: usize) -> Features<'_> {
        self.features.get(self.slot(back, 0))
    }

    /// Finds the weights of the afterstate `back` steps before the last one, in a trace of the whole episode.
    #[inline(always)]
    pub(crate) fn find<I: Isa>(&mut self, isa: I, view: &View<'_>, back: usize) {
        let board = *self.board(back);
        view.find(isa, &board, &mut self.features, 0);
    }

    /// The features that [`Self::find`] found.
    #[inline(always)]
    pub(crate) fn found(&self, back: usize) -> Features<'_> {
        let first = self.features.get(0);
        first.of_action(self.set(back) - first.set())
    }

    /// The board of the afterstate `back` steps before the last one.
    #[inline(always)]
    pub(crate) fn board(&self, back: usize) -> &[u8; 16] {
        &self.entries[self.slot(back, 0)].board
    }

    /// The set of tables of the afterstate `back` steps before the last one.
    #[inline(always)]
    pub(crate) fn set(&self, back: usize) -> usize {
        self.entries[self.slot(back, 0)].set
    }

    /// The number stored with the afterstate `back` steps before the last one.
    #[inline(always)]
    pub(crate) fn number(&self, back: usize) -> f32 {
        self.entries[self.slot(back, 0)].number
    }

    /// Changes the number stored with the last afterstate.
    #[inline(always)]
    pub(crate) fn set_last_number(&mut self, number: f32) {
        let slot = self.slot(0, 0);
        self.entries[slot].number = number;
    }

    /// All entries, oldest first: boards, sets of tables and numbers; and the number of
    /// afterstates so far.
    pub(crate) fn entries(&self) -> (Vec<([u8; 16], usize, f32)>, usize) {
        let held = if self.capacity == 0 { self.len } else { self.len.min(self.capacity) };
        let entry = |back| (*self.board(back), self.set(back), self.number(back));
        ((0..held).rev().map(entry).collect(), self.len)
    }

    /// Restores a trace from what [`Self::entries`] returned.
    pub(crate) fn restore(
        horizon: Option<usize>,
        network: &Network,
        entries: &[([u8; 16], usize, f32)],
        len: usize,
    ) -> Self {
        let mut trace = Trace::new(horizon, network);
        trace.len = len - entries.len();
        let mut found = FeatureSlots::new(network, 1);
        for &(board, set, number) in entries {
            network.view().find_at(Level::Portable, &board, &mut found, 0);
            let first = found.get(0);
            trace.push(board, first.of_action(set - first.set()), number);
        }
        trace
    }
}
