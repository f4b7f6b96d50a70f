//! A game played greedily by a network, argmax over r + V(s'): the step that self-play, evaluation
//! and play have in common.
//!
//! The positions of the weights are computed as soon as the state is known, and their cache lines
//! asked for. Whoever interleaves a few games finds them there when the game's turn comes.

use afterstate_game::{Afterstate, GameRng, Rules, Slides, State, game_rng};

use crate::{Isa, Network, Positions, prefetch};

/// What a greedy move reaches.
#[derive(Clone, Copy, Debug)]
pub struct Reached<'a> {
    /// The sixteen bytes of the afterstate s'.
    pub board: [u8; 16],
    /// The positions of its weights.
    pub positions: &'a [Positions],
    /// r, the reward of the move.
    pub reward: f32,
    /// V(s').
    pub value: f32,
}

/// A finished game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finished {
    /// The number of the game.
    pub game: u64,
    /// The sum of its rewards.
    pub score: u64,
    /// The number of moves.
    pub moves: u64,
    /// The exponent of the largest tile at the end.
    pub max_exponent: u8,
}

/// A game in progress.
#[derive(Clone, Debug)]
pub struct GreedyGame<const N: usize> {
    /// The number of the game.
    pub game: u64,
    /// The stream of its tiles.
    pub rng: GameRng,
    /// The state to move on.
    pub state: State<N>,
    /// The sum of the rewards so far.
    pub score: u64,
    /// The number of moves so far.
    pub moves: u64,
    slides: Slides<N>,
    /// The positions of the four afterstates' weights, one after the other.
    positions: Box<[Positions]>,
}

impl<const N: usize> GreedyGame<N> {
    /// Starts the game with this number.
    pub fn new(network: &Network, rules: &Rules, seed: u64, game: u64) -> Self {
        let mut rng = game_rng(seed, game);
        let state = rules.initial_state(&mut rng);
        Self::from_parts(network, game, rng, state, 0, 0)
    }

    /// Takes up a game where it was.
    pub fn from_parts(
        network: &Network,
        game: u64,
        rng: GameRng,
        state: State<N>,
        score: u64,
        moves: u64,
    ) -> Self {
        assert_eq!(N, network.spec().side, "the board and the network differ in size");
        let positions = vec![Positions::default(); 4 * network.layout().lookups().len()].into();
        GreedyGame { game, rng, state, score, moves, slides: state.slides(), positions }
    }

    /// Starts another game in the same place.
    #[inline]
    pub fn restart(&mut self, rules: &Rules, seed: u64, game: u64) {
        self.rng = game_rng(seed, game);
        self.state = rules.initial_state(&mut self.rng);
        self.slides = self.state.slides();
        (self.game, self.score, self.moves) = (game, 0, 0);
    }

    /// Whether no move is left.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.slides.legal.is_empty()
    }

    /// The result of the game, once it is over.
    pub fn finished(&self) -> Finished {
        let max_exponent = self.state.board().max_exponent();
        Finished { game: self.game, score: self.score, moves: self.moves, max_exponent }
    }

    /// Computes the positions of the afterstates' weights and asks for their cache lines. To be
    /// called once for each new state, before [`Self::choose`].
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub unsafe fn prepare<I: Isa>(&mut self, network: &Network) {
        let lookups = network.layout().lookups().len();
        let weights = network.weights();
        for a in self.slides.legal {
            let positions = &mut self.positions[a as usize * lookups..][..lookups];
            let board = self.slides.afterstates[a as usize].board().bytes();
            // SAFETY: inside a kernel; the positions lie inside the weights.
            unsafe {
                network.positions::<I>(&board, positions);
                for positions in positions.iter() {
                    for &position in &positions.0 {
                        prefetch(weights.get_unchecked(position as usize));
                    }
                }
            }
        }
    }

    /// Chooses the best move, the first one of equals.
    ///
    /// # Safety
    /// Inside a kernel only, with the network that the game was prepared with.
    #[inline(always)]
    pub unsafe fn choose<I: Isa>(&self, network: &Network) -> (Afterstate<N>, u32, Reached<'_>) {
        let lookups = network.layout().lookups().len();
        let (mut best, mut best_return, mut best_value) = (0, f32::NEG_INFINITY, 0.0);
        for a in self.slides.legal {
            let a = a as usize;
            // SAFETY: inside a kernel; the positions are this network's.
            let value = unsafe { network.sum::<I>(&self.positions[a * lookups..][..lookups]) };
            let expected = self.slides.rewards[a] as f32 + value;
            if expected > best_return {
                (best, best_return, best_value) = (a, expected, value);
            }
        }
        let (afterstate, reward) = (self.slides.afterstates[best], self.slides.rewards[best]);
        let positions = &self.positions[best * lookups..][..lookups];
        let board = afterstate.board().bytes();
        (afterstate, reward, Reached { board, positions, reward: reward as f32, value: best_value })
    }

    /// Goes on to the next state.
    #[inline(always)]
    pub fn advance(&mut self, rules: &Rules, afterstate: Afterstate<N>, reward: u32) {
        self.state = afterstate.spawn(rules, &mut self.rng);
        self.slides = self.state.slides();
        self.score += u64::from(reward);
        self.moves += 1;
    }
}
