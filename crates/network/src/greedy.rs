//! A game played greedily by a network, argmax over r + V(s'): the step that self-play, evaluation
//! and play have in common.
//!
//! The afterstates are evaluated as soon as the state is known, and the values used when the game's
//! turn comes again. Whoever interleaves a few games has the loads of one under way while the others
//! compute.

use afterstate_game::{GameRng, Rules, Slides, State, game_rng};

use crate::{Features, Found, Isa, Network, Positions, View};

/// What a greedy move reaches.
#[derive(Clone, Copy, Debug)]
pub struct Reached<'a> {
    /// The sixteen bytes of the afterstate s'.
    pub board: [u8; 16],
    /// Its weights.
    pub features: Features<'a>,
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
    stages: [usize; 4],
    /// V of the four afterstates, and with the reward added; −∞ where the move is illegal.
    values: [f32; 4],
    returns: [f32; 4],
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
        GreedyGame {
            game,
            rng,
            state,
            score,
            moves,
            slides: state.slides(),
            positions,
            stages: [0; 4],
            values: [0.0; 4],
            returns: [0.0; 4],
        }
    }

    /// Starts another game in the same place.
    #[inline]
    pub fn restart(&mut self, rules: &Rules, seed: u64, game: u64) {
        let mut rng = game_rng(seed, game);
        let state = rules.initial_state(&mut rng);
        self.restart_at(game, rng, state);
    }

    /// Starts another game in the same place, at a state that is not the end.
    #[inline]
    pub fn restart_at(&mut self, game: u64, rng: GameRng, state: State<N>) {
        self.slides = state.slides();
        (self.game, self.rng, self.state, self.score, self.moves) = (game, rng, state, 0, 0);
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

    /// Evaluates the afterstates. To be called once for each new state, before [`Self::choose`].
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub unsafe fn evaluate<I: Isa>(&mut self, view: &View<'_>) {
        let lookups = view.lookups.len();
        self.returns = [f32::NEG_INFINITY; 4];
        let mut legal = self.slides.legal.mask();
        while legal != 0 {
            let a = legal.trailing_zeros() as usize & 3;
            legal &= legal - 1;
            let positions = &mut self.positions[a * lookups..][..lookups];
            let board = self.slides.afterstates[a].board().bytes();
            // SAFETY: inside a kernel; the positions are this view's.
            let Found { stage, value } = unsafe { view.find::<I>(&board, positions) };
            (self.stages[a], self.values[a]) = (stage, value);
            self.returns[a] = self.slides.rewards[a] as f32 + value;
        }
    }

    /// The best move by [`Self::evaluate`], the first one of equals.
    #[inline(always)]
    fn best(&self) -> usize {
        // From a legal move on, so that weights that are no numbers cannot lead to an illegal one.
        let mut best = self.slides.legal.mask().trailing_zeros() as usize & 3;
        for a in 0..4 {
            best = if self.returns[a] > self.returns[best] { a } else { best };
        }
        best
    }

    /// What the best move reaches.
    #[inline(always)]
    pub fn choose(&self) -> Reached<'_> {
        let best = self.best();
        let lookups = self.positions.len() / 4;
        Reached {
            board: self.slides.afterstates[best].board().bytes(),
            features: Features {
                stage: self.stages[best],
                positions: &self.positions[best * lookups..][..lookups],
            },
            reward: self.slides.rewards[best] as f32,
            value: self.values[best],
        }
    }

    /// Makes the best move and goes on to the next state.
    #[inline(always)]
    pub fn advance(&mut self, rules: &Rules) {
        let best = self.best();
        self.score += u64::from(self.slides.rewards[best]);
        self.moves += 1;
        self.state = self.slides.afterstates[best].spawn(rules, &mut self.rng);
        self.slides = self.state.slides();
    }
}
