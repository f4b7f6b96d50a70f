//! The parameters of a game: the probability of a 4 and the number of tiles at the start.

use crate::{Afterstate, Board, GameRng, State};

/// The parameters of the rules; the default is the game as published.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// The probability that a new tile is a 4 rather than a 2.
    pub four: f64,
    /// The number of tiles on the board at the start.
    pub start_tiles: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { four: 0.1, start_tiles: 2 }
    }
}

impl Rules {
    /// A random initial state.
    pub fn initial_state<const N: usize>(&self, rng: &mut GameRng) -> State<N> {
        let mut state = State::new(Board::EMPTY);
        for _ in 0..self.start_tiles {
            state = Afterstate::new(state.board()).spawn(self, rng);
        }
        state
    }

    /// The probability of a 4 as a threshold on 32 random bits.
    #[inline]
    pub(crate) fn four_threshold(&self) -> u64 {
        (self.four * (1u64 << 32) as f64) as u64
    }
}
