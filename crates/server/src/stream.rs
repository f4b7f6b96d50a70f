//! The source of a game's tiles, as a short text: `SEED-GAME-DRAWN`, the numbered game and the count of numbers drawn
//! from its random stream. The server keeps no games: clients send this along.

use std::{fmt, str::FromStr};

use afterstate_game::{Afterstate, GameRng, Rules, State, game_rng};
use afterstate_lab::review::LARGEST_NUMBER;
use rand_core::Rng;

use crate::{error::ApiError, extract::excerpt};

/// More tiles than any game has.
const MOST_DRAWN: u64 = 1_000_000;

/// A random stream, and its position.
#[derive(Clone)]
pub(crate) struct Stream {
    seed: u64,
    game: u64,
    drawn: u64,
    rng: GameRng,
}

impl Stream {
    /// A new game.
    pub(crate) fn start<const N: usize>(seed: u64, game: u64) -> (Self, State<N>) {
        let (mut rng, rules) = (game_rng(seed, game), Rules::default());
        let state = rules.initial_state(&mut rng);
        (Stream { seed, game, drawn: u64::from(rules.start_tiles), rng }, state)
    }

    /// The next tile.
    pub(crate) fn spawn<const N: usize>(&mut self, afterstate: Afterstate<N>) -> State<N> {
        self.drawn += 1;
        afterstate.spawn(&Rules::default(), &mut self.rng)
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.seed, self.game, self.drawn)
    }
}

impl FromStr for Stream {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self, ApiError> {
        let wrong = || {
            let error = format!("`{}` is not a random stream", excerpt(text));
            ApiError::bad(error, "send the `stream` of the previous answer, or SEED-GAME-0")
        };
        let numbers: Result<Vec<u64>, _> = text.split('-').map(str::parse).collect();
        let Ok([seed, game, drawn]) = numbers.as_deref() else { return Err(wrong()) };
        let (seed, game, drawn) = (*seed, *game, *drawn);
        if seed > LARGEST_NUMBER || game > LARGEST_NUMBER || drawn > MOST_DRAWN {
            return Err(wrong());
        }
        let mut rng = game_rng(seed, game);
        (0..drawn).for_each(|_| _ = rng.next_u64());
        Ok(Stream { seed, game, drawn, rng })
    }
}
