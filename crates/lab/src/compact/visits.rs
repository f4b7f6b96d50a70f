//! Which weights play looks up, and how often.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use afterstate_game::Game;
use afterstate_network::{Features, Isa, Network, Positions, View};
use afterstate_search::{Limit, Player, PlayerSpec, ValueFunction};

use super::Settings;

/// Every so many moves, the lookups of a search are counted: those of the moves between are much the same.
const EVERY: u64 = 32;

/// Games are played with this search: nearly as strong as the one that is counted, and many times faster.
const PLAYED: u32 = 2;

/// Lookups are those of this search.
const COUNTED: u32 = 3;

/// Room for the positions of a board's weights, so that counting needs no heap.
const LOOKUPS: usize = 32;

/// The number of times that each weight was looked up.
pub(super) struct Visits {
    counts: Vec<AtomicU32>,
}

/// Values, with every lookup of them counted.
#[derive(Clone, Copy)]
struct Counting<'a> {
    view: View<'a>,
    visits: &'a Visits,
}

impl ValueFunction for Counting<'_> {
    #[inline(always)]
    unsafe fn value<I: Isa>(&self, board: &[u8; 16]) -> f32 {
        let mut positions = [Positions::default(); LOOKUPS];
        let positions = &mut positions[..self.view.lookups.len()];
        // SAFETY: as the caller.
        let found = unsafe { self.view.find::<I>(board, positions) };
        self.view.for_each_position(Features { set: found.set, positions }, |position| {
            self.visits.counts[position].fetch_add(1, Relaxed);
        });
        found.value
    }
}

impl Visits {
    /// The most lookups that a network can have.
    pub(super) const LOOKUPS: usize = LOOKUPS;

    /// No visits yet.
    pub(super) fn new(network: &Network) -> Self {
        Visits { counts: std::iter::repeat_with(AtomicU32::default).take(network.weights().len()).collect() }
    }

    /// How often the weight at a position was looked up.
    pub(super) fn get(&self, position: usize) -> u32 {
        self.counts[position].load(Relaxed)
    }

    /// Plays a game and counts.
    ///
    /// The counts of a game depend on its number and the seed alone: its players have tables of their own.
    pub(super) fn play<const N: usize>(&self, network: &Network, settings: Settings, number: u64) {
        let Settings { rules, seed, downgrade, .. } = settings;
        let search = |plies| PlayerSpec::new(Limit::Plies(plies)).or_downgraded(downgrade);
        let view = network.view();
        let mut player = search(PLAYED).player::<_, N>(view, rules, 1);
        let mut counted = search(COUNTED).player::<_, N>(Counting { view, visits: self }, rules, 1);
        let mut game = Game::<N>::new(rules, seed, number);
        loop {
            let is_counted = (number + game.moves()).is_multiple_of(EVERY);
            let player: &mut dyn Player<N> = if is_counted { &mut *counted } else { &mut *player };
            let Some(best) = player.advise(game.state()).best() else { return };
            game.play(best);
        }
    }
}
