//! Carousel shaping: jaskowski-2016, V.E.1, Algorithm 5.
//!
//! The last 1000 initial states of every stage are kept. Episodes begin in one stage after the other, each
//! at a random one of its initial states, and with a new game after the last stage, or where a stage has not
//! been reached yet.
//!
//! Differences from the paper:
//! 1. What is kept and started from is the state that follows the first afterstate of a stage: the paper's
//!    s'ₜ with its random tile.
//! 2. Games are played in parallel: they share the states, and the order of the stages is that in which
//!    episodes begin.
//! 3. An initial state of a stage is the first state of an episode in it, once the episode has been in the stage before. The
//!    paper asks that the afterstate just before be in that stage; the author's program does as we do. By the paper's words
//!    stage 8 of 2⁴ stages would never be started from: two 16384-tiles, which merge to begin it, are stage 4, or 6 where
//!    stages are [carried](afterstate_network::Stages).
//! 4. A number of episodes can follow each other in each stage; the author's program has 200, the paper 1.
//! 5. The carousel can begin in a later stage than the first one, which is carousel shaping and training [stage by
//!    stage](super::StageByStage) in one. Whole games are then played only until enough initial
//!    states of that stage are kept, and the stages before it, which come from a trained model, do not learn.
//! 6. It can end in an earlier stage than the last one. An episode that leaves that stage ends there, with the value of the
//!    afterstate that it has reached, which does not learn, instead of what would follow.
//! 7. Initial states can be given, such as those of a stronger player. Stages that have some keep them, and no others; a
//!    carousel that begins in a later stage plays no whole games.

use std::collections::VecDeque;

use afterstate_game::{GameRng, State};
use afterstate_network::Stages;
use serde::{Deserialize, Serialize};

use super::{choose, parsed, texts};

/// The parameters of carousel shaping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carousel {
    /// The number of episodes in a stage before the next one's turn.
    pub games_per_stage: u64,
    /// The number of initial states that are kept of each stage.
    pub kept: usize,
    /// The stage in which the carousel begins.
    pub first_stage: usize,
    /// The stage in which it ends; none for the last one.
    pub last_stage: Option<usize>,
    /// Whether it begins with initial states that are given (`TrainingSettings::positions`).
    pub given: bool,
}

impl Carousel {
    /// Whether a stage comes after the one in which the carousel ends.
    pub(super) fn is_left_in(&self, stage: usize) -> bool {
        self.last_stage.is_some_and(|last| stage > last)
    }
}

/// A carousel that turns.
pub(super) struct Wheel<const N: usize> {
    spec: Carousel,
    /// The stage whose turn it is, from 0.
    stage: usize,
    /// The episodes that have begun in it.
    games: u64,
    /// The last initial states of each stage, the latest one last; none for stage 0.
    initial_states: Vec<VecDeque<State<N>>>,
    /// Whether those of a stage were given.
    given: Vec<bool>,
}

impl<const N: usize> Wheel<N> {
    pub(super) fn new(spec: Carousel, stages: usize) -> Self {
        let initial_states = vec![VecDeque::new(); stages];
        Wheel { spec, stage: spec.first_stage, games: 0, initial_states, given: vec![false; stages] }
    }

    /// Keeps states that are given, but for those of stages in which no episode begins with one.
    pub(super) fn give(&mut self, states: Vec<State<N>>, stages: &Stages) {
        for state in states {
            let stage = stages.of(&state.board().bytes());
            if stage >= self.spec.first_stage.max(1) {
                self.enter(stage, state);
            }
        }
        self.given = self.initial_states.iter().map(|states| !states.is_empty()).collect();
    }

    /// Algorithm 5, lines 5–12: where the next episode begins; with a new game as long as states are missing.
    pub(super) fn next(&mut self, rng: &mut GameRng) -> Option<State<N>> {
        let first = self.spec.first_stage;
        let enough = if self.spec.given { 1 } else { self.spec.kept };
        if first > 0 && self.initial_states[first].len() < enough {
            return None;
        }
        if self.games >= self.spec.games_per_stage {
            (self.stage, self.games) = (self.stage + 1, 0);
            let states = self.initial_states.get(self.stage);
            if self.spec.is_left_in(self.stage) || states.is_none_or(VecDeque::is_empty) {
                self.stage = first;
            }
        }
        self.games += 1;
        let states = &self.initial_states[self.stage];
        if self.stage == 0 { None } else { choose(rng, states.len(), |i| states.get(i).copied()) }
    }

    /// Keeps an initial state of a stage that the carousel reaches.
    pub(super) fn enter(&mut self, stage: usize, state: State<N>) {
        if self.spec.is_left_in(stage) || self.given[stage] {
            return;
        }
        let states = &mut self.initial_states[stage];
        if states.len() >= self.spec.kept {
            states.pop_front();
        }
        states.push_back(state);
    }
}

/// A carousel, as a checkpoint keeps it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct CarouselState {
    stage: usize,
    games: u64,
    initial_states: Vec<Vec<String>>,
    #[serde(default)]
    given: Vec<bool>,
}

impl<const N: usize> Wheel<N> {
    pub(super) fn state(&self) -> CarouselState {
        let initial_states = self.initial_states.iter().map(texts).collect();
        CarouselState { stage: self.stage, games: self.games, initial_states, given: self.given.clone() }
    }

    /// Takes up where it was; `None` when the state makes no sense.
    pub(super) fn restore(&mut self, state: &CarouselState, stages: &Stages) -> Option<()> {
        let initial_states: Option<Vec<VecDeque<State<N>>>> =
            state.initial_states.iter().map(|texts| parsed(texts)).collect();
        let initial_states = initial_states.filter(|all| all.len() == self.initial_states.len())?;
        let mut given = state.given.clone();
        given.resize(initial_states.len(), false);
        let fits = |(stage, states): (usize, &VecDeque<State<N>>)| {
            let inside = |state: &State<N>| stages.of(&state.board().bytes()) == stage;
            states.len() <= self.spec.kept && states.iter().all(inside)
        };
        let (first, at) = (self.spec.first_stage, initial_states.get(state.stage));
        let has_states = state.stage == first || state.stage > first && at.is_some_and(|s| !s.is_empty());
        let all_fit = initial_states.iter().enumerate().all(fits) && initial_states[0].is_empty();
        if !all_fit || !has_states || state.games > self.spec.games_per_stage {
            return None;
        }
        (self.stage, self.games) = (state.stage, state.games);
        (self.initial_states, self.given) = (initial_states, given);
        Some(())
    }
}
