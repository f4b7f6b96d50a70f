//! How far a search by time or nodes goes: what it may spend, where it spends more, and what it leaves out.

use std::time::Instant;

use afterstate_game::Board;

/// What a search may spend.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Effort {
    /// Whatever it takes.
    Any,
    /// Time.
    Until(Instant),
    /// Evaluated afterstates, counted over the life of the player.
    Evaluated(u64),
}

impl Effort {
    /// Whether a search of about so many nodes is worth beginning. One that is given up is lost.
    pub(crate) fn allows(self, evaluated: u64, nodes: u64) -> bool {
        match self {
            Effort::Any | Effort::Until(_) => true,
            Effort::Evaluated(most) => evaluated + nodes <= most,
        }
    }
}

/// The nodes of the next ply by those of the last two: they grow by about the same factor from ply to ply, which is at
/// least 4 and at most 16.
pub(crate) fn next_nodes([before, last]: [u64; 2]) -> u64 {
    last.saturating_mul((last / before.max(1)).clamp(4, 16))
}

/// The 4-tiles that a branch of so many plies may have: 1.65 standard deviations above their mean number, rounded up. With
/// the usual odds about one path in a hundred has more. It bounds what tiles add to the sum of the board.
pub(crate) fn probable_fours(plies: u32) -> u32 {
    const FOUR: f64 = 0.1;
    const DEVIATIONS: f64 = 1.65;
    // In the last chance layer nothing is left out.
    let layers = f64::from(plies.saturating_sub(2));
    (layers * FOUR + DEVIATIONS * (layers * FOUR * (1.0 - FOUR)).sqrt()).ceil() as u32
}

/// How much more than on average a state deserves.
pub(crate) fn urgency<const N: usize>(board: Board<N>) -> f64 {
    match board.empty_count() {
        0..=2 => 2.0,
        3..=4 => 1.0,
        5..=6 => 0.5,
        _ => 0.2,
    }
}
