//! Restart: Matsuzaki 2017, as terauchi-2025, 5.2, uses it with ten restarts.
//!
//! An episode that has ended is followed by one that begins in its middle, and that by one that begins in
//! the middle of this, so that learning closes in on the hard end of the game. After a number of restarts, or
//! when an episode was too short to have a middle worth going back to, a new game begins.
//!
//! Differences from the paper:
//! 1. terauchi-2025 gives the number of restarts, 10, and no more; that the middle is taken, and that short episodes
//!    are not restarted from, is what TDL2048+ documents of Matsuzaki's method.
//! 2. A restart begins with a state, its tile included; TDL2048+ begins with the afterstate and draws another tile.

use afterstate_game::State;

/// The parameters of the restart strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Restart {
    /// The number of restarts after a whole game, at most.
    pub restarts: u32,
    /// The number of moves that an episode must have for a restart.
    pub shortest: u64,
}

impl Restart {
    /// No restarts.
    pub const NONE: Restart = Restart { restarts: 0, shortest: 1 };

    /// Where to go back to in an episode, after so many restarts, and how many they are then.
    pub(super) fn next<const N: usize>(
        &self,
        episode: &[State<N>],
        restarts: u32,
    ) -> (Option<State<N>>, u32) {
        if restarts >= self.restarts || (episode.len() as u64) < self.shortest {
            return (None, 0);
        }
        episode.get(episode.len() / 2).map_or((None, 0), |&middle| (Some(middle), restarts + 1))
    }
}
