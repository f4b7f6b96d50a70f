//! Restart: Matsuzaki 2017, as terauchi-2025, 5.2, uses it with ten restarts.
//!
//! An episode is followed by one that begins in its middle, and that one by another that begins in
//! its own middle, so that learning closes in on the hard end of the game. After a number of restarts, or
//! if an episode was too short for a useful middle, a new game begins.
//!
//! Differences from the paper:
//! 1. terauchi-2025 gives only the number of restarts, 10. Beginning in the middle, and not restarting from short
//!    episodes, is what TDL2048+ documents of Matsuzaki's method.
//! 2. A restart begins with a state, including its tile; TDL2048+ begins with the afterstate and draws another tile.

use afterstate_game::State;

/// The parameters of the restart strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Restart {
    /// The maximum number of restarts after a whole game.
    pub restarts: u32,
    /// The minimum number of moves of an episode for a restart.
    pub shortest: u64,
}

impl Restart {
    /// No restarts.
    pub const NONE: Restart = Restart { restarts: 0, shortest: 1 };

    /// Where to restart within an episode, after this many restarts, and the new number of restarts.
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
