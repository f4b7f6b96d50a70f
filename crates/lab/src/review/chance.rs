//! The chance of the next large tile, derived from a network's values.
//!
//! A network predicts the score still to come if it plays on. That alone tells a player little: an early board is worth
//! 250,000 points to a strong network whatever one does. Its value of a position, relative to its value of a new game,
//! was calibrated on the outcomes of recorded games of players of very different strengths
//! (`crates/lab/examples/calibrate_review`; docs/review.md has the figures). The chances are therefore those of games
//! like the recorded ones that reached a position of this value, not those of perfect play.

use std::collections::BTreeMap;

use afterstate_game::{Move, Rules, State, game_rng};
use afterstate_network::Network;
use afterstate_search::Advice;
use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::judge::Lost;

/// A network's expectation for a new game, the reference for its values of other positions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reference(f64);

impl Reference {
    /// A network that expects this many points of a new game.
    pub fn new(points: f64) -> Reference {
        Reference(points.max(1.0))
    }

    /// The points that it expects.
    pub fn points(self) -> f64 {
        self.0
    }

    /// The mean over the first boards of some games, on 4×4.
    pub fn of(network: &Network) -> Reference {
        const BOARDS: u64 = 32;
        let value = |number| {
            let state = Rules::default().initial_state::<4>(&mut game_rng(0, number));
            let values = state.slides();
            let best = values.iter().map(|(_, slide)| slide.reward as f32 + network.value(slide.afterstate));
            f64::from(best.fold(f32::MIN, f32::max))
        };
        Reference::new((0..BOARDS).map(value).sum::<f64>() / BOARDS as f64)
    }
}

/// The chance of reaching a tile in this game, for each of the moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Chance {
    /// The next large tile: twice the largest one on the board, and no less than 512.
    pub tile: u32,
    /// The chance with each move by number; `None` if the move is illegal.
    pub moves: [Option<f64>; 4],
}

/// Smaller tiles are nobody's goal.
pub const SMALLEST: u8 = 9;

/// Larger tiles are reached too rarely to know their chances; they get that of this one.
pub const LARGEST: u8 = 15;

/// The parts whose sum is the log-odds of a tile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fit {
    /// For all positions.
    pub constant: f64,
    /// Per unit of the logarithm of the value, in units of the reference.
    pub value: f64,
    /// For the sum of the tiles, in units of the tile.
    pub progress: f64,
}

impl Fit {
    /// The chance of a position with these features.
    pub fn chance(&self, [value, progress]: [f64; 2]) -> f64 {
        logistic(self.constant + self.value * value + self.progress * progress)
    }
}

/// Games of players of different strengths, equally weighted. A loss of value has the same weight for all tiles.
const PLAYERS: [Fit; (LARGEST - SMALLEST + 1) as usize] = [
    Fit { constant: -0.695, value: 7.691, progress: 3.454 },
    Fit { constant: -2.601, value: 7.691, progress: 7.589 },
    Fit { constant: -2.317, value: 7.691, progress: 7.380 },
    Fit { constant: -2.283, value: 7.691, progress: 6.619 },
    Fit { constant: -2.573, value: 7.691, progress: 8.919 },
    Fit { constant: -1.963, value: 7.691, progress: 7.095 },
    Fit { constant: -2.960, value: 7.691, progress: 3.951 },
];

/// Games that the built-in model continues greedily from positions of all these players' games.
const MODEL: [Fit; (LARGEST - SMALLEST + 1) as usize] = [
    Fit { constant: 5.826, value: 5.356, progress: 2.558 },
    Fit { constant: 6.288, value: 3.946, progress: -0.451 },
    Fit { constant: 5.258, value: 2.972, progress: -0.968 },
    Fit { constant: 3.881, value: 2.422, progress: -0.363 },
    Fit { constant: 2.662, value: 1.955, progress: 0.156 },
    Fit { constant: 0.893, value: 1.055, progress: 0.800 },
    Fit { constant: -2.763, value: 0.710, progress: 0.985 },
];

fn fit(fits: &[Fit], goal: u8) -> &Fit {
    &fits[usize::from(goal.clamp(SMALLEST, LARGEST) - SMALLEST)]
}

/// The features behind the chance of a tile: the value of the position relative to that of a new game, and the progress
/// towards the tile.
pub fn features<const N: usize>(state: State<N>, goal: u8, value: f64, reference: Reference) -> [f64; 2] {
    // A position without value is all but lost.
    let worth = (value / reference.0).max(1e-3);
    [worth.ln(), f64::from(state.board().sum()) / f64::from(1u32 << goal)]
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Chance {
    /// The chances in a position on 4×4 from the values of its moves; `None` on other boards, and if no larger tile
    /// is possible.
    pub fn of<const N: usize>(state: State<N>, advice: &Advice, reference: Reference) -> Option<Chance> {
        let largest = state.board().max_exponent();
        if N != 4 || largest > 16 {
            return None;
        }
        let goal = (largest + 1).max(SMALLEST);
        let chance = |value: f32| fit(&PLAYERS, goal).chance(features(state, goal, value.into(), reference));
        Some(Chance { tile: 1 << goal, moves: advice.values.map(|value| value.map(chance)) })
    }

    /// The share of the best chance that a move keeps.
    pub fn kept(&self, a: Move) -> Option<f64> {
        let best = self.moves.iter().flatten().copied().fold(0.0, f64::max);
        let chance = self.moves[a as usize]?;
        Some(if best > 0.0 { chance / best } else { 1.0 })
    }

    /// How much of the chance a move loses against the best one, and how much a random move loses on average.
    pub fn lost(&self, a: Move) -> Option<Lost> {
        let legal: Vec<f64> = self.moves.iter().flatten().copied().collect();
        let best = legal.iter().copied().fold(0.0, f64::max);
        let mean = legal.iter().sum::<f64>() / legal.len() as f64;
        Some(Lost { by_move: best - self.moves[a as usize]?, at_random: best - mean })
    }
}

impl Serialize for Chance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let moves: BTreeMap<_, _> =
            Move::ALL.into_iter().map(|a| (a.name(), self.moves[a as usize])).collect();
        let mut chance = serializer.serialize_struct("Chance", 2)?;
        chance.serialize_field("tile", &self.tile)?;
        chance.serialize_field("moves", &moves)?;
        chance.end()
    }
}

/// The chances of the next tiles on 4×4 if the built-in model played on, the smallest first, without those already on
/// the board.
pub fn tile_chances<const N: usize>(state: State<N>, value: f32, reference: Reference) -> Vec<(u32, f64)> {
    let next = (state.board().max_exponent() + 1).max(SMALLEST);
    if N != 4 {
        return Vec::new();
    }
    let mut before = 1.0;
    let chance = |goal: u8| {
        let chance = fit(&MODEL, goal).chance(features(state, goal, value.into(), reference));
        // Reaching a tile implies having reached the one before it.
        before = chance.min(before);
        (1 << goal, before)
    };
    (next..=LARGEST).map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_positions_have_better_chances() {
        let state: State<4> = "0123/1235/0146/0002".parse().expect("a board");
        let advice =
            |up, left| Advice { values: [Some(up), None, None, Some(left)], plies: 1, ..Advice::default() };
        let reference = Reference(250_000.0);
        let chance = Chance::of(state, &advice(250_000.0, 225_000.0), reference).expect("a chance");
        assert_eq!((chance.tile, chance.moves[1]), (512, None));
        let kept = chance.kept(Move::Left).expect("a move");
        assert!(chance.kept(Move::Up) == Some(1.0) && kept < 1.0 && kept > 0.3, "{chance:?}");
        assert_eq!((chance.kept(Move::Right), chance.lost(Move::Right)), (None, None));
        let lost = chance.lost(Move::Left).expect("a move");
        assert!(lost.by_move > 0.0 && (lost.at_random - lost.by_move / 2.0).abs() < 1e-12, "{lost:?}");
        let lost = Chance::of(state, &advice(-5.0, f32::MIN), reference).expect("a chance");
        assert!(lost.moves.iter().flatten().all(|chance| (0.0..=1.0).contains(chance)), "{lost:?}");
        let (rich, poor) =
            (tile_chances(state, 250_000.0, reference), tile_chances(state, 50_000.0, reference));
        assert!(rich.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{rich:?}");
        assert!(rich.iter().zip(&poor).all(|(rich, poor)| rich.1 >= poor.1), "{rich:?} {poor:?}");
    }
}
