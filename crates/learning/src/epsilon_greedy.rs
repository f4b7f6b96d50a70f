//! ε-greedy: ramesh-2018, Fig. 5. With probability ε a random move, otherwise a best one; among several that are
//! equally good, a random one.
//!
//! Differences from the paper:
//! 1. Random moves are drawn from the legal ones: an illegal one would change nothing but the number of draws.
//! 2. The move is chosen before the value of the last one is updated, by the same evaluation that the update uses,
//!    as in jaskowski-2016, Algorithm 1. The paper updates first, and evaluates again.
//! 3. Without ε and random ties nothing is drawn: the games are those of greedy play.

use afterstate_game::{GameRng, Move, Moves};
use rand_core::Rng;

/// Which moves are made in self-play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EpsilonGreedy {
    /// ε, the share of random moves.
    pub epsilon: f64,
    /// Whether a best move is drawn at random where there are several: otherwise the first one is taken.
    pub random_ties: bool,
}

impl EpsilonGreedy {
    /// Always the best move, the first one of equals.
    pub const GREEDY: EpsilonGreedy = EpsilonGreedy { epsilon: 0.0, random_ties: false };

    /// The move to make by what the moves are worth; `None` for the first one of the best.
    pub fn choose(&self, legal: Moves, worth: &[f32; 4], rng: &mut GameRng) -> Option<Move> {
        // The upper 53 bits as a number from 0 to 1.
        if self.epsilon > 0.0 && ((rng.next_u64() >> 11) as f64) < self.epsilon * (1u64 << 53) as f64 {
            return draw(legal, rng);
        }
        if !self.random_ties {
            return None;
        }
        let best = worth.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let ties = legal.filter(|&a| worth[a as usize] == best);
        if ties.clone().count() > 1 { draw(ties, rng) } else { None }
    }
}

/// One of these moves, each with the same probability (to within 2⁻⁶²).
fn draw(moves: impl Iterator<Item = Move> + Clone, rng: &mut GameRng) -> Option<Move> {
    let count = moves.clone().count() as u128;
    let number = (u128::from(rng.next_u64()) * count) >> 64;
    moves.clone().nth(number as usize)
}
