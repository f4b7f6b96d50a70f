//! Random streams: a game's randomness is a function of (seed, game number) and nothing else.

use rand_core::SeedableRng;
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The generator of a game: 256 bits of state, one stream for each game.
pub type GameRng = Xoshiro256PlusPlus;

/// The random stream of a game. Neighbouring seeds and games get unrelated streams: both pass through
/// SplitMix64 before they are combined.
///
/// ```
/// use afterstate_game::{Rules, game_rng};
/// let board = |seed, game| Rules::default().initial_state::<4>(&mut game_rng(seed, game));
/// assert_eq!(board(1, 7), board(1, 7));
/// assert_ne!(board(1, 7), board(2, 7));
/// ```
pub fn game_rng(seed: u64, game: u64) -> GameRng {
    let scatter = |x| rand_core::Rng::next_u64(&mut SplitMix64::seed_from_u64(x));
    GameRng::seed_from_u64(scatter(scatter(seed).wrapping_add(game)))
}
