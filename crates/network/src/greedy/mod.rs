//! A game played greedily by a network, argmax over r + V(s'): the step that self-play, evaluation
//! and play have in common. Networks of states and of actions are played by their own values.
//!
//! The weights of the afterstates are looked up as soon as the state is known, and added when the game's turn comes.
//! Whoever lets two games take turns has the weights of one under way while the other computes.

mod actions;
mod states;

use afterstate_game::{GameRng, Move, Moves, Rules, Slides, State, game_rng};

use crate::{Features, Isa, Kernel, Level, Network, Positions, Values, View, simd::dispatch_unchecked};

/// What a move reaches and what learning makes of it: what came before moves towards `reward + value`, and then
/// it is the turn of `features`.
///
/// In a network of afterstates this is the afterstate s' that the move leaves. In networks of states and of
/// actions it is the state that the move is made on, and the reward is that of the move before.
#[derive(Clone, Copy, Debug)]
pub struct Reached<'a> {
    /// The sixteen bytes of the board.
    pub board: [u8; 16],
    /// Its weights; in a network of actions, those of the move that is made.
    pub features: Features<'a>,
    /// r, the reward that led here: of the best move, whether or not it is the one that is made.
    pub reward: f32,
    /// V(s') of the best move, V(s), or the largest Q(s, a).
    pub value: f32,
    /// The reward that was really earned: another one than `reward` after a move that explores.
    pub earned: f32,
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
    sets: [usize; 4],
    /// V of the four afterstates, and with the reward added; −∞ where the move is illegal.
    values: [f32; 4],
    returns: [f32; 4],
    /// What the values are of.
    kind: Values,
    /// The best move, by number.
    best: usize,
    /// The move to make where it is not the best one.
    exploring: Option<Move>,
    /// The reward of the last move.
    earned: u32,
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
            sets: [0; 4],
            values: [0.0; 4],
            returns: [0.0; 4],
            kind: network.spec().values,
            best: 0,
            exploring: None,
            earned: 0,
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
        (self.game, self.rng, self.state) = (game, rng, state);
        (self.score, self.moves, self.earned) = (0, 0, 0);
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

    /// The reward of the last move, for a game to be taken up again.
    pub fn earned(&self) -> u32 {
        self.earned
    }

    /// Sets the reward of the last move, in a game that is taken up again.
    pub fn set_earned(&mut self, reward: u32) {
        self.earned = reward;
    }

    /// What the last value moves towards when the game is over: nothing follows the last afterstate, but
    /// the last state or action still earned its reward.
    #[inline(always)]
    pub fn last_target(&self) -> f32 {
        if self.kind == Values::Afterstates { 0.0 } else { self.earned as f32 }
    }

    /// Evaluates the moves. To be called after [`Self::look_up`], before [`Self::decide`].
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub unsafe fn evaluate<I: Isa>(&mut self, view: &View<'_>, rules: &Rules) {
        // SAFETY: as the caller.
        unsafe {
            if self.kind == Values::Afterstates {
                self.evaluate_afterstates::<I>(view);
            } else {
                self.evaluate_others(I::LEVEL, view, rules);
            }
        }
    }

    /// Evaluates the moves by values of states or actions; out of line, so that the hot loops of others need not
    /// carry it.
    ///
    /// # Safety
    /// The processor must have this instruction set.
    #[inline(never)]
    unsafe fn evaluate_others(&mut self, level: Level, view: &View<'_>, rules: &Rules) {
        struct Evaluate<'a, 'b, const N: usize>(&'a mut GreedyGame<N>, &'a View<'b>, &'a Rules);
        impl<const N: usize> Kernel for Evaluate<'_, '_, N> {
            type Output = ();
            #[inline(always)]
            unsafe fn run<I: Isa>(self) {
                let Evaluate(game, view, rules) = self;
                // SAFETY: inside a kernel.
                unsafe {
                    match game.kind {
                        Values::Actions => game.evaluate_actions::<I>(view),
                        _ => game.evaluate_states::<I>(view, rules),
                    }
                }
            }
        }
        // SAFETY: as the caller.
        unsafe { dispatch_unchecked(level, Evaluate(self, view, rules)) };
    }

    /// Finds the weights of the afterstates and asks for them, so that they are there when the game's turn comes. To
    /// be called once for each new state, before [`Self::evaluate`].
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub unsafe fn look_up<I: Isa>(&mut self, view: &View<'_>) {
        if self.kind != Values::Afterstates {
            return;
        }
        let lookups = view.lookups.len();
        let mut legal = self.slides.legal.mask();
        while legal != 0 {
            let a = legal.trailing_zeros() as usize & 3;
            legal &= legal - 1;
            let positions = &mut self.positions[a * lookups..][..lookups];
            let board = self.slides.afterstates[a].board().bytes();
            // SAFETY: inside a kernel; the positions are this view's.
            self.sets[a] = unsafe { view.look_up::<I>(&board, positions) };
        }
    }

    #[inline(always)]
    unsafe fn evaluate_afterstates<I: Isa>(&mut self, view: &View<'_>) {
        let lookups = view.lookups.len();
        self.returns = [f32::NEG_INFINITY; 4];
        let mut legal = self.slides.legal.mask();
        while legal != 0 {
            let a = legal.trailing_zeros() as usize & 3;
            legal &= legal - 1;
            let features =
                Features { set: self.sets[a], positions: &self.positions[a * lookups..][..lookups] };
            // SAFETY: inside a kernel; the positions are this view's.
            self.values[a] = unsafe { view.sum::<I>(features) };
            self.returns[a] = self.slides.rewards[a] as f32 + self.values[a];
        }
    }

    /// Compares the evaluated moves by other returns than those of their own values: the best one is then the best by these.
    #[inline(always)]
    pub fn compare_by(&mut self, returns: [f32; 4]) {
        self.returns = returns;
    }

    /// Finds the best of the evaluated moves, the first one of equals. To be called before [`Self::choose`] and
    /// [`Self::advance`].
    #[inline(always)]
    pub fn decide(&mut self) {
        let better = |a: usize, b: usize| if self.returns[b] > self.returns[a] { b } else { a };
        let best = better(better(0, 1), better(2, 3));
        // Weights that are no numbers must not lead to an illegal move.
        let legal = self.slides.legal.mask();
        let best = if legal >> best & 1 == 1 { best } else { legal.trailing_zeros() as usize };
        self.best = best;
    }

    /// The legal moves and what they are worth, by number; −∞ where the move is illegal.
    pub fn worth(&self) -> (Moves, [f32; 4]) {
        (self.slides.legal, self.returns)
    }

    /// Makes another move than the best one, this once. It must be legal.
    pub fn explore(&mut self, a: Move) {
        debug_assert!(self.slides.legal.contains(a), "an illegal move: {a}");
        self.exploring = Some(a);
    }

    /// The move to make: the best one, or the one that explores.
    #[inline(always)]
    fn made(&self) -> usize {
        self.exploring.map_or(self.best, |a| a as usize) & 3
    }

    /// What the move reaches.
    #[inline(always)]
    pub fn choose(&self) -> Reached<'_> {
        let (best, made) = (self.best & 3, self.made());
        let lookups = self.positions.len() / 4;
        if self.kind != Values::Afterstates {
            return self.reached_state(best, made);
        }
        Reached {
            board: self.slides.afterstates[made].board().bytes(),
            features: Features {
                set: self.sets[made],
                positions: &self.positions[made * lookups..][..lookups],
            },
            reward: self.slides.rewards[best] as f32,
            value: self.values[best],
            earned: self.slides.rewards[made] as f32,
        }
    }

    /// The state, for networks whose values are not of afterstates.
    #[inline(always)]
    fn reached_state(&self, best: usize, made: usize) -> Reached<'_> {
        let positions = &self.positions[..self.positions.len() / 4];
        Reached {
            board: self.state.board().bytes(),
            features: Features { set: self.sets[made], positions },
            reward: self.earned as f32,
            value: self.values[best],
            earned: self.earned as f32,
        }
    }

    /// Makes the move and goes on to the next state.
    #[inline(always)]
    pub fn advance(&mut self, rules: &Rules) {
        let made = self.made();
        self.exploring = None;
        self.earned = self.slides.rewards[made];
        self.score += u64::from(self.earned);
        self.moves += 1;
        self.state = self.slides.afterstates[made].spawn(rules, &mut self.rng);
        self.slides = self.state.slides();
    }
}
