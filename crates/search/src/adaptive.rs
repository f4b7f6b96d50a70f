//! The budget of a search by time or nodes: what it may spend, which states get more, and which branches it skips.

use std::time::Instant;

use afterstate_game::Board;

/// The budget of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Effort {
    /// Unlimited.
    Any,
    /// Until this instant.
    Until(Instant),
    /// Up to this number of evaluated afterstates, counted over the lifetime of the player.
    Evaluated(u64),
}

impl Effort {
    /// Whether to start a search of about `nodes` nodes. An aborted search is wasted.
    pub(crate) fn allows(self, evaluated: u64, nodes: u64) -> bool {
        match self {
            Effort::Any | Effort::Until(_) => true,
            Effort::Evaluated(most) => evaluated + nodes <= most,
        }
    }
}

/// Predicts the nodes of the next ply from those of the last two: the growth factor is about constant, and clamped to
/// 4–16.
pub(crate) fn next_nodes([before, last]: [u64; 2]) -> u64 {
    last.saturating_mul((last / before.max(1)).clamp(4, 16))
}

/// The maximum number of 4-tiles in a branch of this many plies: 1.65 standard deviations above their mean, rounded up.
/// With the usual odds about one path in a hundred has more. It bounds what tiles add to the sum of the board.
pub(crate) fn probable_fours(plies: u32) -> u32 {
    const FOUR: f64 = 0.1;
    const DEVIATIONS: f64 = 1.65;
    // The last chance layer is complete.
    let layers = f64::from(plies.saturating_sub(2));
    (layers * FOUR + DEVIATIONS * (layers * FOUR * (1.0 - FOUR)).sqrt()).ceil() as u32
}

/// The factor on the average budget that a state gets.
pub(crate) fn urgency<const N: usize>(board: Board<N>) -> f64 {
    match board.empty_count() {
        0..=2 => 2.0,
        3..=4 => 1.0,
        5..=6 => 0.5,
        _ => 0.2,
    }
}
