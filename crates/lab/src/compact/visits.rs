//! Counts how often play looks up each weight.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU32, Ordering::Relaxed},
};

use afterstate_game::Game;
use afterstate_network::{FeatureSlots, Level, Network};
use afterstate_search::{Limit, Player, PlayerSpec, Visitor};

use super::CompactSettings;

/// The lookups of a search are counted only once in this many moves: those in between are much the same.
const EVERY: u64 = 32;

/// The search that plays the games: nearly as strong as the counted one, and many times faster.
const PLAYED: u32 = 2;

/// The search whose lookups are counted.
const COUNTED: u32 = 3;

/// The number of times that each weight was looked up.
pub(super) struct Visits {
    counts: Vec<AtomicU32>,
}

/// Counts the weights of the boards that are visited.
struct Counting<'a> {
    network: &'a Network,
    visits: &'a Visits,
    level: Level,
    slots: Mutex<FeatureSlots>,
}

impl Visitor for Counting<'_> {
    fn visit(&self, board: &[u8; 16]) {
        let (view, mut slots) =
            (self.network.view(), self.slots.lock().unwrap_or_else(PoisonError::into_inner));
        view.find_at(self.level, board, &mut slots, 0);
        view.for_each_index(slots.get(0), |index| {
            self.visits.counts[index].fetch_add(1, Relaxed);
        });
    }
}

impl Visits {
    /// No visits yet.
    pub(super) fn new(network: &Network) -> Self {
        Visits { counts: std::iter::repeat_with(AtomicU32::default).take(network.weights().len()).collect() }
    }

    /// How often the weight at an index was looked up.
    pub(super) fn get(&self, index: usize) -> u32 {
        self.counts[index].load(Relaxed)
    }

    /// Plays a game and counts.
    ///
    /// The counts of a game depend only on its number and the seed: its players have their own transposition tables.
    pub(super) fn play<const N: usize>(&self, network: &Network, settings: CompactSettings, number: u64) {
        let CompactSettings { rules, seed, downgrade, .. } = settings;
        let search = |plies| PlayerSpec::new(Limit::Plies(plies)).or_downgraded(downgrade);
        let slots = Mutex::new(FeatureSlots::new(network, 1));
        let counting = Counting { network, visits: self, level: Level::best(), slots };
        let mut player = search(PLAYED).player::<N>(network.view(), rules, 1);
        let mut counted = search(COUNTED)
            .player_with::<N>(network.view(), rules, 1, |search| search.with_visitor(&counting));
        let mut game = Game::<N>::new(rules, seed, number);
        loop {
            let is_counted = (number + game.moves()).is_multiple_of(EVERY);
            let player: &mut dyn Player<N> = if is_counted { &mut *counted } else { &mut *player };
            let Some(best) = player.advise(game.state()).best() else { return };
            game.play(best);
        }
    }
}
