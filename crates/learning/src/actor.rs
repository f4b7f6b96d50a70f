//! An actor: one game of self-play after another, each learning as it goes.

use afterstate_game::{Board, GameRng, Rules, State};
use afterstate_network::{Finished, GreedyGame, Isa, Network, View};
use serde::{Deserialize, Serialize};

use crate::{
    Learner,
    step_size::StepSize,
    target::{Target, Trace},
};

/// A game in self-play and what its target remembers of it; in cache lines of its own, so that no two
/// threads write to one.
#[repr(align(128))]
pub(crate) struct Actor<const N: usize> {
    game: GreedyGame<N>,
    trace: Trace,
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
        game: Option<u64>,
    ) -> Self {
        Actor {
            game: GreedyGame::new(network, rules, seed, game.unwrap_or(0)),
            trace: target.trace(network),

            playing: game.is_some(),
        }
    }

    /// Evaluates the moves of the present state.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn evaluate<I: Isa>(&mut self, view: &View<'_>) {
        // SAFETY: inside a kernel, as the caller.
        unsafe { self.game.evaluate::<I>(view) };
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

    /// Whether the game has just ended.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.game.is_over()
    }

    /// Ends the episode and starts the next one.
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
        numbers: &mut impl Numbers,
    ) -> Finished {
        // SAFETY: inside a kernel, as the caller.
        unsafe { target.finish::<I, S>(&mut self.trace, learner) };
        let finished = self.game.finished();
        match numbers.next() {
            Some(game) => self.game.restart(rules, seed, game),
            None => self.playing = false,
        }
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
    /// The trace: boards, and the bits of their numbers.
    trace: Vec<([u8; 16], u32)>,
    trace_len: usize,
}

impl<const N: usize> Actor<N> {
    pub(crate) fn state(&self) -> ActorState {
        let (entries, trace_len) = self.trace.entries();
        ActorState {
            game: self.game.game,
            rng: self.game.rng.clone(),
            board: self.game.state.board().bytes(),
            score: self.game.score,
            moves: self.game.moves,
            playing: self.playing,
            trace: entries.into_iter().map(|(board, number)| (board, number.to_bits())).collect(),
            trace_len,
        }
    }

    /// Takes up an actor where it was; `None` when the state makes no sense.
    pub(crate) fn restore<T: Target>(network: &Network, target: T, state: &ActorState) -> Option<Self> {
        let board = |bytes: &[u8; 16]| -> Option<Board<N>> {
            let outside = (0..16).any(|i| (i / 4 >= N || i % 4 >= N) && bytes[i] != 0);
            let cells: Vec<u8> = (0..N * N).map(|cell| bytes[cell / N * 4 + cell % N]).collect();
            if outside { None } else { Board::from_exponents(&cells).ok() }
        };
        let entries: Vec<_> = state.trace.iter().map(|(b, number)| (*b, f32::from_bits(*number))).collect();
        let held = target.horizon().map_or(state.trace_len, |h| state.trace_len.min(h.next_power_of_two()));
        if entries.len() != held || entries.iter().any(|(b, _)| board(b).is_none()) {
            return None;
        }
        // Counters far beyond any game would overflow, and a game that is over has no move to make.
        let counters = [state.score, state.moves, state.trace_len as u64];
        let position = State::new(board(&state.board)?);
        if counters.iter().any(|&counter| counter > MOST) || (state.playing && position.is_terminal()) {
            return None;
        }
        let rng = state.rng.clone();
        let game = GreedyGame::from_parts(network, state.game, rng, position, state.score, state.moves);
        let trace = Trace::restore(target.horizon(), network, &entries, state.trace_len);
        Some(Actor { game, trace, playing: state.playing })
    }
}
