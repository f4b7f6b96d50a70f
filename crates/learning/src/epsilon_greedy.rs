//! ε-greedy: ramesh-2018, Fig. 5. With probability ε a random move, otherwise a best one; ties are broken at random.
//! Or softmax (jaskowski-2016, IV.D): the probability of every move grows with its return.
//!
//! Differences from the paper:
//! 1. Random moves are drawn from the legal ones, as are best moves; the paper's loop covers all four. Illegal moves
//!    would only change the number of draws.
//! 2. The move is chosen before the previous value is updated, by the same evaluation that the update uses,
//!    as in jaskowski-2016, Algorithm 1. The paper updates first, and evaluates again.
//! 3. Without ε, random ties and a temperature nothing is drawn: the games are those of greedy play.
//! 4. jaskowski-2016 mentions softmax without a formula: ours is P(a) ∝ exp((r + V(s'))/T), with T in points.

use afterstate_game::{GameRng, Move, Moves};
use rand_core::Rng;
use serde::{Serialize, Serializer};

/// The policy of self-play.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct EpsilonGreedy {
    /// ε, the share of random moves.
    pub epsilon: f64,
    /// Whether ties between best moves are broken at random; otherwise the first one is taken.
    #[serde(rename = "ties", serialize_with = "first_or_random")]
    pub random_ties: bool,
    /// T, the temperature of softmax in points; 0 for none.
    pub temperature: f64,
}

fn first_or_random<S: Serializer>(random_ties: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *random_ties { "random" } else { "first" })
}

impl EpsilonGreedy {
    /// Always the best move, the first one on ties.
    pub const GREEDY: EpsilonGreedy = EpsilonGreedy { epsilon: 0.0, random_ties: false, temperature: 0.0 };

    /// The move to make, given the moves' returns; `None` for the first of the best moves.
    pub fn choose(&self, legal: Moves, worth: &[f32; 4], rng: &mut GameRng) -> Option<Move> {
        if self.temperature > 0.0 {
            return softmax(legal, worth, self.temperature, rng);
        }
        if self.epsilon > 0.0 && uniform(rng) < self.epsilon {
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

/// The upper 53 bits as a number in [0, 1).
fn uniform(rng: &mut GameRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A move with probability ∝ exp(return/temperature).
fn softmax(legal: Moves, worth: &[f32; 4], temperature: f64, rng: &mut GameRng) -> Option<Move> {
    let worth = |a: Move| f64::from(worth[a as usize]);
    let best = legal.map(worth).fold(f64::NEG_INFINITY, f64::max);
    // The best move has weight 1, so that nothing overflows.
    let weight = |a: Move| ((worth(a) - best) / temperature).exp();
    let mut left = uniform(rng) * legal.map(weight).sum::<f64>();
    let mut moves = legal;
    let drawn = moves.find(|&a| {
        left -= weight(a);
        left < 0.0
    });
    // Rounding may leave a remainder after the last one.
    drawn.or_else(|| legal.last())
}

/// A uniformly random one of these moves (to within 2⁻⁶²).
fn draw(moves: impl Iterator<Item = Move> + Clone, rng: &mut GameRng) -> Option<Move> {
    let count = moves.clone().count() as u128;
    let number = (u128::from(rng.next_u64()) * count) >> 64;
    moves.clone().nth(number as usize)
}
