//! A game played greedily by a network, argmax over r + V(s'): the step that self-play, evaluation
//! and play share. Networks of states and of actions are played by their own values.
//!
//! The weights of the afterstates are prefetched as soon as the state is known, and summed when it is the game's turn.
//! A caller that alternates between two games thereby prefetches the weights of one while the other computes.

mod actions;
mod states;

use afterstate_game::{Afterstate, GameRng, Moves, Rules, Slides, State, game_rng};

use serde::{Deserialize, Serialize};

use crate::{FeatureSlots, Features, Isa, Kernel, Network, Values, View};

/// The result of one game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GameResult {
    /// The number of the game; with the seed it determines its tiles.
    pub game: u64,
    /// The sum of its rewards.
    pub score: u64,
    /// The exponent of its largest tile: 11 for 2048.
    pub max_exponent: u8,
    /// The number of its moves.
    pub moves: u64,
}

/// A game in progress.
#[derive(Clone, Debug)]
pub struct GreedyGame<const N: usize> {
    /// The number of the game.
    pub game: u64,
    /// The stream of its tiles.
    pub rng: GameRng,
    /// The current state.
    pub state: State<N>,
    /// The sum of the rewards so far.
    pub score: u64,
    /// The number of moves so far.
    pub moves: u64,
    slides: Slides<N>,
    /// The features of the four afterstates; in networks of states and of actions, the first slot holds those of the state.
    features: FeatureSlots,
    /// What the network's values describe.
    kind: Values,
    /// V of the four afterstates, and the same plus the reward; −∞ where the move is illegal.
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

    /// Resumes a game.
    pub fn from_parts(
        network: &Network,
        game: u64,
        rng: GameRng,
        state: State<N>,
        score: u64,
        moves: u64,
    ) -> Self {
        assert_eq!(N, network.spec().side, "the board and the network differ in size");
        GreedyGame {
            game,
            rng,
            state,
            score,
            moves,
            slides: state.slides(),
            features: FeatureSlots::new(network, 4),
            kind: network.spec().values,
            values: [0.0; 4],
            returns: [0.0; 4],
        }
    }

    /// Starts another game in the same buffers.
    #[inline]
    pub fn restart(&mut self, rules: &Rules, seed: u64, game: u64) {
        let mut rng = game_rng(seed, game);
        let state = rules.initial_state(&mut rng);
        self.restart_at(game, rng, state);
    }

    /// Starts another game in the same buffers, from a state that is not terminal.
    #[inline]
    pub fn restart_at(&mut self, game: u64, rng: GameRng, state: State<N>) {
        self.slides = state.slides();
        (self.game, self.rng, self.state) = (game, rng, state);
        (self.score, self.moves) = (0, 0);
    }

    /// Whether no move is left.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.slides.legal.is_empty()
    }

    /// The result of the game, if it is over.
    pub fn result(&self) -> GameResult {
        let max_exponent = self.state.board().max_exponent();
        GameResult { game: self.game, score: self.score, max_exponent, moves: self.moves }
    }

    /// Finds the weights of the afterstates and prefetches them for the game's next turn. Must be called once for each new
    /// state, before [`Self::evaluate`].
    #[inline(always)]
    pub fn look_up<I: Isa>(&mut self, isa: I, view: &View<'_>) {
        if self.kind != Values::Afterstates {
            return;
        }
        let mut legal = self.slides.legal.mask();
        while legal != 0 {
            let a = legal.trailing_zeros() as usize & 3;
            legal &= legal - 1;
            view.look_up(isa, &self.slides.afterstates[a].board().bytes(), &mut self.features, a);
        }
    }

    /// Evaluates the moves. Must be called after [`Self::look_up`].
    #[inline(always)]
    pub fn evaluate<I: Isa>(&mut self, isa: I, view: &View<'_>, rules: &Rules) {
        if self.kind != Values::Afterstates {
            return isa.run_apart(EvaluateState(self, view, rules));
        }
        self.returns = [f32::NEG_INFINITY; 4];
        let mut legal = self.slides.legal.mask();
        while legal != 0 {
            let a = legal.trailing_zeros() as usize & 3;
            legal &= legal - 1;
            self.values[a] = view.sum(isa, self.features.get(a));
            self.returns[a] = self.slides.rewards[a] as f32 + self.values[a];
        }
    }

    /// The legal moves.
    #[inline(always)]
    pub fn legal(&self) -> Moves {
        self.slides.legal
    }

    /// The returns of the evaluated moves, by number: reward plus value; −∞ where the move is illegal.
    #[inline(always)]
    pub fn returns(&self) -> [f32; 4] {
        self.returns
    }

    /// The number of the best move, the first one on ties.
    #[inline(always)]
    pub fn best(&self) -> usize {
        self.best_by(&self.returns)
    }

    /// The number of the best move by these returns, the first one on ties.
    #[inline(always)]
    pub fn best_by(&self, returns: &[f32; 4]) -> usize {
        let better = |a: usize, b: usize| if returns[b] > returns[a] { b } else { a };
        let best = better(better(0, 1), better(2, 3));
        // NaN weights must not lead to an illegal move.
        let legal = self.slides.legal.mask();
        (if legal >> best & 1 == 1 { best } else { legal.trailing_zeros() as usize }) & 3
    }

    /// The reward of a move, by number.
    #[inline(always)]
    pub fn reward(&self, a: usize) -> u32 {
        self.slides.rewards[a]
    }

    /// V of a move's afterstate; in other networks V of the state, or Q of the state and the move.
    #[inline(always)]
    pub fn value(&self, a: usize) -> f32 {
        self.values[a]
    }

    /// The afterstate of a move.
    #[inline(always)]
    pub fn afterstate(&self, a: usize) -> Afterstate<N> {
        self.slides.afterstates[a]
    }

    /// The weights that make up [`Self::value`].
    #[inline(always)]
    pub fn features(&self, a: usize) -> Features<'_> {
        match self.kind {
            Values::Afterstates => self.features.get(a),
            Values::States => self.features.get(0),
            Values::Actions => self.features.get(0).of_action(a),
        }
    }

    /// Makes a move, which must be legal, and continues with the next state.
    #[inline(always)]
    pub fn advance(&mut self, rules: &Rules, a: usize) {
        self.score += u64::from(self.slides.rewards[a]);
        self.moves += 1;
        self.state = self.slides.afterstates[a].spawn(rules, &mut self.rng);
        self.slides = self.state.slides();
    }
}

/// Evaluates the moves by values of states or actions. Out of line, to keep it out of the hot loops of other networks.
struct EvaluateState<'a, 'b, const N: usize>(&'a mut GreedyGame<N>, &'a View<'b>, &'a Rules);

impl<const N: usize> Kernel for EvaluateState<'_, '_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let EvaluateState(game, view, rules) = self;
        match game.kind {
            Values::Actions => game.evaluate_actions(isa, view),
            _ => game.evaluate_states(isa, view, rules),
        }
    }
}
