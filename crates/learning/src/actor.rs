//! An actor: one game of self-play after another, each learning as it goes.

use afterstate_game::{Board, GameRng, Rules, State, game_rng};
use afterstate_network::{Finished, GreedyGame, Isa, Level, Network, Values, View};
use afterstate_search::Downgrade;
use serde::{Deserialize, Serialize};

use crate::{
    EpsilonGreedy, Learner, downgraded_play,
    start::{Memory, MemoryState, Starts},
    step_size::StepSize,
    target::{Target, Trace},
};

/// A game in self-play and what its target remembers of it; in cache lines of its own, so that no two
/// threads write to one.
#[repr(align(128))]
pub(crate) struct Actor<const N: usize> {
    game: GreedyGame<N>,
    trace: Trace,
    memory: Memory<N>,
    /// Whether there is a game to play; there is none once the budget has no more episodes.
    pub(crate) playing: bool,
}

/// Where the numbers of new games come from: `None` when there are no more.
pub(crate) trait Numbers {
    fn next(&mut self) -> Option<u64>;
}

impl<const N: usize> Actor<N> {
    pub(crate) fn new<T: Target>(
        network: &Network,
        rules: &Rules,
        target: T,
        seed: u64,
        starts: &Starts<N>,
        game: Option<u64>,
    ) -> Self {
        let mut actor = Actor {
            game: GreedyGame::new(network, rules, seed, 0),
            trace: target.trace(network),
            memory: Memory::new(),
            playing: true,
        };
        actor.begin(rules, seed, starts, game);
        actor
    }

    /// Begins the episode with this number, if there is one.
    fn begin(&mut self, rules: &Rules, seed: u64, starts: &Starts<N>, game: Option<u64>) {
        self.playing = game.is_some();
        let Some(game) = game else { return self.memory.clear() };
        let mut rng = game_rng(seed, game);
        let state = starts.next(&mut self.memory, &mut rng);
        let state = state.unwrap_or_else(|| rules.initial_state(&mut rng));
        starts.begin(&mut self.memory, state);
        self.game.restart_at(game, rng, state);
    }

    /// Finds the weights of the present state's moves.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn look_up<I: Isa>(&mut self, view: &View<'_>) {
        // SAFETY: inside a kernel, as the caller.
        unsafe { self.game.look_up::<I>(view) };
    }

    /// Evaluates the moves of the present state.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn evaluate<I: Isa>(&mut self, view: &View<'_>, rules: &Rules) {
        // SAFETY: inside a kernel, as the caller.
        unsafe { self.game.evaluate::<I>(view, rules) };
    }

    /// Compares the evaluated moves by what they are worth on the downgraded board, if it is one to downgrade.
    pub(crate) fn downgrade(&mut self, level: Level, view: &View<'_>, downgrade: Downgrade) {
        if let Some(returns) = downgraded_play::returns(level, view, self.game.state, downgrade) {
            self.game.compare_by(returns);
        }
    }

    /// Decides whether the move to make is another one than the best.
    pub(crate) fn explore(&mut self, policy: &EpsilonGreedy) {
        let (legal, returns) = self.game.worth();
        if let Some(a) = policy.choose(legal, &returns, &mut self.game.rng) {
            self.game.explore(a);
        }
    }

    /// Learns from the best of the evaluated moves.
    ///
    /// # Safety
    /// Inside a kernel only, after [`Self::evaluate`].
    #[inline(always)]
    pub(crate) unsafe fn learn<I: Isa, T: Target, S: StepSize>(
        &mut self,
        target: &T,
        learner: &Learner<'_, S>,
    ) {
        self.game.decide();
        let reached = self.game.choose();
        // SAFETY: inside a kernel, as the caller.
        unsafe {
            target.step::<I, S>(&mut self.trace, learner, reached);
            learner.prefetch(reached.features);
        }
    }

    /// Makes the best of the evaluated moves.
    #[inline(always)]
    pub(crate) fn advance(&mut self, rules: &Rules) {
        self.game.advance(rules);
    }

    /// Whether the episode has just ended: with its game, or where the starts say.
    #[inline(always)]
    pub(crate) fn is_over(&self, starts: &Starts<N>) -> bool {
        self.game.is_over() || starts.has_left(&self.memory)
    }

    /// Shows the state that the game has come to.
    #[inline(always)]
    pub(crate) fn watch(&mut self, starts: &Starts<N>) {
        if !self.game.is_over() {
            starts.watch(&mut self.memory, self.game.state);
        }
    }

    /// Ends the episode and starts the next one; what has ended is given only if it was a whole game.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn finish<I: Isa, T: Target, S: StepSize>(
        &mut self,
        rules: &Rules,
        seed: u64,
        target: &T,
        learner: &Learner<'_, S>,
        starts: &Starts<N>,
        numbers: &mut impl Numbers,
    ) -> Option<Finished> {
        let over = self.game.is_over();
        // SAFETY: inside a kernel, as the caller.
        unsafe {
            // In the middle of a game the last afterstate keeps its value: it is what the others learn from.
            let last = match over {
                true => self.game.last_target(),
                false => learner.view.value::<I>(self.trace.board(0)),
            };
            target.finish::<I, S>(&mut self.trace, learner, last);
        }
        let finished = (self.memory.fresh && over).then(|| self.game.finished());
        self.begin(rules, seed, starts, numbers.next());
        finished
    }
}

/// No counter of a game gets as far.
const MOST: u64 = 1 << 40;

/// An actor between two moves, as a checkpoint keeps it.
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
    /// The actions of the trace, where they have tables of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    actions: Vec<u8>,
    /// The reward of the last move.
    #[serde(default)]
    earned: u32,
}

impl<const N: usize> Actor<N> {
    pub(crate) fn state(&self, values: Values) -> ActorState {
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
            earned: self.game.earned(),
        }
    }

    /// Takes up an actor where it was; `None` when the state makes no sense.
    pub(crate) fn restore<T: Target>(
        network: &Network,
        target: T,
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
        // Counters far beyond any game would overflow, and a game that is over has no move to make.
        let counters = [state.score, state.moves, state.trace_len as u64];
        let position = State::new(board(&state.board)?);
        if counters.iter().any(|&counter| counter > MOST) || (state.playing && position.is_terminal()) {
            return None;
        }
        let present = state.playing.then_some(position);
        let memory = starts.restore_memory(&state.start, present, state.moves)?;
        let rng = state.rng.clone();
        let mut game = GreedyGame::from_parts(network, state.game, rng, position, state.score, state.moves);
        game.set_earned(state.earned);
        let trace = Trace::restore(target.horizon(), network, &entries, state.trace_len);
        Some(Actor { game, trace, memory, playing: state.playing })
    }
}
