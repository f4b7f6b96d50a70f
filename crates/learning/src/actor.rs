//! An actor: one game of self-play after another, each learning as it goes.

use afterstate_game::{Board, GameRng, Rules, State, game_rng};
use afterstate_network::{GameResult, GreedyGame, Isa, Network, Values, View};
use serde::{Deserialize, Serialize};

use crate::{
    EpsilonGreedy, TargetSpec, TrainingSettings,
    learner::Learner,
    start::{Memory, MemoryState, Starts},
    target::{Reached, Target, Trace},
};

/// A game of self-play with its target's trace, in cache lines of its own to avoid false sharing.
#[repr(align(128))]
pub(crate) struct Actor<const N: usize> {
    game: GreedyGame<N>,
    trace: Trace,
    memory: Memory<N>,
    /// What the network's values describe.
    values: Values,
    /// The reward of the last move.
    earned: u32,
    /// The value of the last afterstate if it belongs to a solved endgame: the episode ends there.
    taught: Option<f32>,
    /// Whether a game is in progress; none is once the budget has no more episodes.
    pub(crate) playing: bool,
}

/// The source of new game numbers: `None` if there are no more.
pub(crate) trait GameNumbers {
    fn next(&mut self) -> Option<u64>;
}

impl<const N: usize> Actor<N> {
    pub(crate) fn new(
        network: &Network,
        rules: &Rules,
        target: TargetSpec,
        seed: u64,
        starts: &Starts<N>,
        game: Option<u64>,
    ) -> Self {
        let mut actor = Actor {
            game: GreedyGame::new(network, rules, seed, 0),
            trace: Trace::new(target.horizon(), network),
            memory: Memory::new(),
            values: network.spec().values,
            earned: 0,
            taught: None,
            playing: true,
        };
        actor.begin(rules, seed, starts, game);
        actor
    }

    /// Starts the episode with this number, if there is one.
    fn begin(&mut self, rules: &Rules, seed: u64, starts: &Starts<N>, game: Option<u64>) {
        self.playing = game.is_some();
        let Some(game) = game else { return self.memory.clear() };
        let mut rng = game_rng(seed, game);
        let state = starts.next(&mut self.memory, &mut rng);
        let state = state.unwrap_or_else(|| rules.initial_state(&mut rng));
        starts.begin(&mut self.memory, state);
        self.game.restart_at(game, rng, state);
        self.earned = 0;
    }

    /// Looks up the weights of the current state's moves.
    #[inline(always)]
    pub(crate) fn look_up<I: Isa>(&mut self, isa: I, view: &View<'_>) {
        self.game.look_up(isa, view);
    }

    /// Makes a move: evaluates all moves, learns from the best one, and advances to the next state.
    #[inline(always)]
    pub(crate) fn turn<I: Isa>(&mut self, isa: I, settings: &TrainingSettings, learner: &Learner<'_>) {
        self.game.evaluate(isa, &learner.view, &settings.rules);
        let (best, made) = self.decide(isa, settings, &learner.view);
        let mut reached = reached(&self.game, self.values, self.earned, best, made);
        if let Some(teacher) = &settings.teacher {
            self.taught = teacher.value(&reached.board);
            reached.value = self.taught.unwrap_or(reached.value);
        }
        settings.target.step(isa, &mut self.trace, learner, reached);
        learner.prefetch(reached.features);
        self.earned = self.game.reward(made);
        self.game.advance(&settings.rules, made);
    }

    /// The best of the evaluated moves and the move to make.
    #[inline(always)]
    fn decide<I: Isa>(&mut self, isa: I, settings: &TrainingSettings, view: &View<'_>) -> (usize, usize) {
        let mut returns = self.game.returns();
        if let Some(downgrade) = settings.downgrade
            && let Some(downgraded) = downgrade.returns(isa, view, self.game.state)
        {
            returns = downgraded;
        }
        let best = self.game.best_by(&returns);
        if settings.policy == EpsilonGreedy::GREEDY {
            return (best, best);
        }
        let made = settings.policy.choose(self.game.legal(), &returns, &mut self.game.rng);
        (best, made.map_or(best, |a| a as usize & 3))
    }

    /// Whether the episode has just ended: with its game, or where its start ends it.
    #[inline(always)]
    pub(crate) fn is_over(&self, starts: &Starts<N>) -> bool {
        self.game.is_over() || self.taught.is_some() || starts.has_left(&self.memory)
    }

    /// Whether the last evaluated moves have finite values; their weights include those updated last.
    pub(crate) fn is_finite(&self) -> bool {
        // Illegal moves have the return −∞.
        self.game.returns().iter().all(|value| value.is_finite() || *value == f32::NEG_INFINITY)
    }

    /// Reports the state that the game has reached to the starts.
    #[inline(always)]
    pub(crate) fn watch(&mut self, starts: &Starts<N>) {
        if !self.game.is_over() {
            starts.watch(&mut self.memory, self.game.state);
        }
    }

    /// Ends the episode and starts the next one. Returns the result only if the episode was a whole game.
    #[inline(always)]
    pub(crate) fn finish<I: Isa>(
        &mut self,
        isa: I,
        settings: &TrainingSettings,
        learner: &Learner<'_>,
        starts: &Starts<N>,
        numbers: &mut impl GameNumbers,
    ) -> Option<GameResult> {
        let over = self.game.is_over();
        let last = match (over, self.values) {
            _ if self.taught.is_some() => self.taught.take().unwrap_or_default(),
            // In the middle of a game the last afterstate keeps its value, from which the others learn.
            (false, _) => learner.view.value(isa, self.trace.board(0)),
            // Nothing follows the last afterstate, but the last state or action still earned its reward.
            (true, Values::Afterstates) => 0.0,
            (true, _) => self.earned as f32,
        };
        settings.target.finish(isa, &mut self.trace, learner, last);
        let finished = (self.memory.fresh && over).then(|| self.game.result());
        self.begin(&settings.rules, settings.seed, starts, numbers.next());
        finished
    }
}

/// The target's view of a move, given the reward of the previous one.
#[inline(always)]
fn reached<const N: usize>(
    game: &GreedyGame<N>,
    values: Values,
    earned: u32,
    best: usize,
    made: usize,
) -> Reached<'_> {
    let (features, value) = (game.features(made), game.value(best));
    if values == Values::Afterstates {
        let (reward, earned) = (game.reward(best) as f32, game.reward(made) as f32);
        Reached { board: game.afterstate(made).board().bytes(), features, reward, value, earned }
    } else {
        let earned = earned as f32;
        Reached { board: game.state.board().bytes(), features, reward: earned, value, earned }
    }
}

/// An upper bound on all counters of a game.
const MOST: u64 = 1 << 40;

/// An actor between two moves, as stored in a checkpoint.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ActorState {
    game: u64,
    rng: GameRng,
    board: [u8; 16],
    score: u64,
    moves: u64,
    playing: bool,
    #[serde(default)]
    start: MemoryState,
    /// The trace: boards, and the bits of their numbers.
    trace: Vec<([u8; 16], u32)>,
    trace_len: usize,
    /// The actions of the trace, if actions have their own tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    actions: Vec<u8>,
    /// The reward of the last move.
    #[serde(default)]
    earned: u32,
}

impl<const N: usize> Actor<N> {
    pub(crate) fn state(&self) -> ActorState {
        let values = self.values;
        let (entries, trace_len) = self.trace.entries();
        let has_actions = values == Values::Actions;
        let actions = entries.iter().filter(|_| has_actions).map(|(_, set, _)| (set % values.sets()) as u8);
        ActorState {
            game: self.game.game,
            rng: self.game.rng.clone(),
            board: self.game.state.board().bytes(),
            score: self.game.score,
            moves: self.game.moves,
            playing: self.playing,
            start: self.memory.state(),
            actions: actions.collect(),
            trace: entries.iter().map(|&(board, _, number)| (board, number.to_bits())).collect(),
            trace_len,
            earned: self.earned,
        }
    }

    /// Resumes an actor; `None` if the state is invalid.
    pub(crate) fn restore(
        network: &Network,
        target: TargetSpec,
        starts: &Starts<N>,
        state: &ActorState,
    ) -> Option<Self> {
        let board = |bytes: &[u8; 16]| -> Option<Board<N>> {
            let outside = (0..16).any(|i| (i / 4 >= N || i % 4 >= N) && bytes[i] != 0);
            let cells: Vec<u8> = (0..N * N).map(|cell| bytes[cell / N * 4 + cell % N]).collect();
            if outside { None } else { Board::from_exponents(&cells).ok() }
        };
        let has_actions = network.spec().values == Values::Actions;
        if state.actions.len() != if has_actions { state.trace.len() } else { 0 } {
            return None;
        }
        let entry = |(i, &(b, number)): (usize, &([u8; 16], u32))| {
            let action = state.actions.get(i).copied().unwrap_or(0);
            (b, network.view().set_of(&b) + usize::from(action & 3), f32::from_bits(number))
        };
        let entries: Vec<_> = state.trace.iter().enumerate().map(entry).collect();
        let held = target.horizon().map_or(state.trace_len, |h| state.trace_len.min(h.next_power_of_two()));
        if entries.len() != held || entries.iter().any(|(b, _, _)| board(b).is_none()) {
            return None;
        }
        // Counters far beyond any game would overflow, and a finished game has no move to make.
        let counters = [state.score, state.moves, state.trace_len as u64];
        let position = State::new(board(&state.board)?);
        if counters.iter().any(|&counter| counter > MOST) || (state.playing && position.is_terminal()) {
            return None;
        }
        let present = state.playing.then_some(position);
        let memory = starts.restore_memory(&state.start, present, state.moves)?;
        let rng = state.rng.clone();
        let game = GreedyGame::from_parts(network, state.game, rng, position, state.score, state.moves);
        let trace = Trace::restore(target.horizon(), network, &entries, state.trace_len);
        let (values, earned) = (network.spec().values, state.earned);
        Some(Actor { game, trace, memory, values, earned, taught: None, playing: state.playing })
    }
}
