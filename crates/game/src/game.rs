//! A game in progress: state, score, and the random stream of its tiles.

use crate::{Afterstate, GameRng, Move, Rules, Slide, State, game_rng};

/// A numbered game: the same (seed, number) and the same moves give the same tiles.
///
/// ```
/// use afterstate_game::{Game, Rules};
/// let mut game = Game::<4>::new(Rules::default(), 1, 42);
/// while let Some(a) = game.state().legal_moves().next() {
///     game.play(a).expect("a legal move");
/// }
/// assert!(game.state().is_terminal() && game.score() > 0);
/// ```
#[derive(Clone, Debug)]
pub struct Game<const N: usize> {
    rules: Rules,
    rng: GameRng,
    state: State<N>,
    score: u64,
    moves: u64,
}

impl<const N: usize> Game<N> {
    /// Starts the game with this number.
    pub fn new(rules: Rules, seed: u64, number: u64) -> Self {
        let mut rng = game_rng(seed, number);
        let state = rules.initial_state(&mut rng);
        Game { rules, rng, state, score: 0, moves: 0 }
    }

    /// Continues from a state, with the tiles of the stream with this number.
    pub fn from_state(rules: Rules, seed: u64, number: u64, state: State<N>) -> Self {
        Game { rules, rng: game_rng(seed, number), state, score: 0, moves: 0 }
    }

    /// The state to move on.
    pub fn state(&self) -> State<N> {
        self.state
    }

    /// The sum of the rewards so far.
    pub fn score(&self) -> u64 {
        self.score
    }

    /// The number of moves so far.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Makes a move and spawns a tile. Returns `None`, and changes nothing, if the move is illegal.
    pub fn play(&mut self, a: Move) -> Option<Slide<N>> {
        let slide = self.state.slide(a)?;
        self.advance(slide.afterstate, slide.reward);
        Some(slide)
    }

    /// Continues from an afterstate of the current state that the caller has already computed.
    #[inline]
    pub fn advance(&mut self, afterstate: Afterstate<N>, reward: u32) {
        self.state = afterstate.spawn(&self.rules, &mut self.rng);
        self.score += u64::from(reward);
        self.moves += 1;
    }
}
