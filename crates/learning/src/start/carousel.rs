//! Carousel shaping: jaskowski-2016, V.E.1, Algorithm 5.
//!
//! Keeps the last 1000 initial states of every stage. Episodes begin in one stage after the other, each
//! at a random initial state of the stage; with a new game after the last stage, or if a stage has not
//! been reached yet.
//!
//! Differences from the paper:
//! 1. States are kept and started from as they follow the first afterstate of a stage: the paper's s'ₜ with its random
//!    tile.
//! 2. Games are played in parallel: they share the states, and the order of the stages is that in which episodes begin.
//! 3. An initial state of a stage is the first state of an episode in it, provided the episode has been in the previous
//!    stage. The paper requires the immediately preceding afterstate to be in that stage; the author's program does as
//!    we do. By the paper's definition no episode would ever begin in stage 8 of 2⁴ stages: two 16384-tiles, which
//!    merge to begin it, are stage 4, or 6 if stages are [carried](afterstate_network::Stages).
//! 4. Several consecutive episodes can begin in each stage; the author's program uses 200, the paper 1.
//! 5. The carousel can begin in a later stage than the first, which combines carousel shaping with training [stage by
//!    stage](super::StageByStage). Whole games are then played only until enough initial states of that stage are kept,
//!    and the earlier stages, which come from a trained model, do not learn.
//! 6. It can end in an earlier stage than the last. An episode that leaves that stage ends there, with the value of the
//!    afterstate that it has reached, which does not learn, as its final target.
//! 7. Initial states can be given, such as those of a stronger player. Stages with given states keep exactly those; a
//!    carousel that begins in a later stage then plays no whole games.

use std::collections::VecDeque;

use afterstate_game::{GameRng, State};
use afterstate_network::Stages;
use serde::{Deserialize, Serialize};

use super::{choose, parsed, texts};

/// The parameters of carousel shaping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carousel {
    /// The number of consecutive episodes in a stage.
    pub games_per_stage: u64,
    /// The number of initial states kept for each stage.
    pub kept: usize,
    /// The first stage of the carousel.
    pub first_stage: usize,
    /// The last stage of the carousel; `None` for the network's last one.
    pub last_stage: Option<usize>,
    /// Whether it uses given initial states (`TrainingSettings::positions`).
    pub given: bool,
}

impl Carousel {
    /// Whether a stage comes after the carousel's last one.
    pub(super) fn is_left_in(&self, stage: usize) -> bool {
        self.last_stage.is_some_and(|last| stage > last)
    }
}

/// The state of a carousel.
pub(super) struct Wheel<const N: usize> {
    spec: Carousel,
    /// The current stage, from 0.
    stage: usize,
    /// The number of episodes that have begun in it.
    games: u64,
    /// The last initial states of each stage, newest last; none for stage 0.
    initial_states: Vec<VecDeque<State<N>>>,
    /// For each stage, whether its states were given.
    given: Vec<bool>,
}

impl<const N: usize> Wheel<N> {
    pub(super) fn new(spec: Carousel, stages: usize) -> Self {
        let initial_states = vec![VecDeque::new(); stages];
        Wheel { spec, stage: spec.first_stage, games: 0, initial_states, given: vec![false; stages] }
    }

    /// Adds given states, except those of stages in which no episode begins with one.
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

    /// Keeps an initial state of a stage.
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

/// A carousel, as stored in a checkpoint.
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

    /// Restores a carousel; `None` if the state is invalid.
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
