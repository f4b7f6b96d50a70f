//! A single environment: consecutive games, and its steps.

use afterstate_game::{GameRng, Moves, Rules, Slides, State, game_rng};
use serde::{Deserialize, Serialize};

/// What an illegal action does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Illegal {
    /// Nothing: no tile appears.
    Ignore,
    /// The episode ends.
    End,
    /// Raises an error, before any environment has moved.
    Error,
}

/// When an ended episode is followed by the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Autoreset {
    NextStep,
    SameStep,
    Disabled,
}

/// An environment.
#[derive(Clone)]
pub(super) struct One<const N: usize> {
    pub(super) state: State<N>,
    /// The slides of the state: they determine the legal moves and the next step.
    slides: Slides<N>,
    /// Whether the episode has ended.
    pub(super) over: bool,
    pub(super) score: u64,
    rng: GameRng,
    seed: u64,
    /// The number of the next game.
    next: u64,
}

/// The saved state of an environment.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) board: String,
    over: bool,
    score: u64,
    rng: GameRng,
    seed: u64,
    next: u64,
}

/// The result of a step.
#[derive(Clone, Copy, Default)]
pub(super) struct Stepped {
    /// The reward.
    pub(super) points: u32,
    pub(super) terminated: bool,
}

impl<const N: usize> One<N> {
    /// The first games of a seed.
    pub(super) fn new(seed: u64, rules: &Rules) -> Self {
        let mut rng = game_rng(seed, 0);
        let state: State<N> = rules.initial_state(&mut rng);
        One { state, slides: state.slides(), over: false, score: 0, rng, seed, next: 1 }
    }

    /// Starts the next episode, optionally with another seed, another number, or a given board.
    pub(super) fn reset(
        &mut self,
        rules: &Rules,
        seed: Option<u64>,
        number: Option<u64>,
        start: Option<State<N>>,
    ) {
        if let Some(seed) = seed {
            (self.seed, self.next) = (seed, 0);
        }
        let number = number.unwrap_or(self.next);
        self.rng = game_rng(self.seed, number);
        self.next = number.wrapping_add(1);
        self.state = start.unwrap_or_else(|| rules.initial_state(&mut self.rng));
        (self.slides, self.score, self.over) = (self.state.slides(), 0, false);
    }

    /// The legal moves.
    #[inline(always)]
    pub(super) fn legal(&self) -> Moves {
        self.slides.legal
    }

    /// Makes a move, given by number.
    #[inline(always)]
    pub(super) fn step(&mut self, rules: &Rules, illegal: Illegal, action: usize) -> Stepped {
        if self.legal().mask() >> action & 1 == 0 {
            self.over = illegal == Illegal::End;
            return Stepped { points: 0, terminated: self.over };
        }
        let points = self.slides.rewards[action];
        self.state = self.slides.afterstates[action].spawn(rules, &mut self.rng);
        self.slides = self.state.slides();
        self.score += u64::from(points);
        self.over = self.legal().is_empty();
        Stepped { points, terminated: self.over }
    }

    pub(super) fn save(&self) -> Saved {
        let One { state, over, score, ref rng, seed, next, .. } = *self;
        Saved { board: state.to_string(), over, score, rng: rng.clone(), seed, next }
    }

    /// `None` if the board is invalid.
    pub(super) fn restore(saved: Saved) -> Option<Self> {
        let Saved { board, over, score, rng, seed, next } = saved;
        let state: State<N> = board.parse().ok()?;
        Some(One { state, slides: state.slides(), over, score, rng, seed, next })
    }
}
