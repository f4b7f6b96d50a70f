//! Stage by stage: the multistage learning of Wu et al. 2014 and Yeh et al. 2017, as guei-2021, IV.C.2, uses it.
//!
//! All stages but the last one come from a trained model and are frozen. Whole games are played until
//! enough first states of the last stage have been collected; from then on every episode begins at a random one of
//! them. Only the last stage learns.
//!
//! Differences from the paper:
//! 1. guei-2021 does not say how many first states are collected; we collect, before the actual training,
//!    the number that the recipe requests.
//! 2. The last stage already learns from the games in which the states are collected.
//! 3. An episode that began at such a state can be followed by [restarts](super::Restart) in its middle.

use afterstate_game::{GameRng, State};
use afterstate_network::Stages;
use serde::{Deserialize, Serialize};

use super::{Restart, choose, parsed, texts};

/// The parameters of training by stages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StageByStage {
    /// The number of first states to collect.
    pub collected: usize,
    /// The restarts that follow an episode of the last stage.
    pub restart: Restart,
}

/// The first states of the last stage collected so far.
pub(super) struct Entrances<const N: usize> {
    spec: StageByStage,
    states: Vec<State<N>>,
}

impl<const N: usize> Entrances<N> {
    pub(super) fn new(spec: StageByStage) -> Self {
        Entrances { spec, states: Vec::new() }
    }

    /// Where the next episode begins: with a new game as long as states are being collected.
    pub(super) fn next(&self, rng: &mut GameRng) -> Option<State<N>> {
        let states = &self.states;
        let enough = states.len() >= self.spec.collected;
        if enough { choose(rng, states.len(), |i| states.get(i).copied()) } else { None }
    }

    /// Keeps a first state, unless there are enough.
    pub(super) fn enter(&mut self, state: State<N>) {
        if self.states.len() < self.spec.collected {
            self.states.push(state);
        }
    }
}

/// The states, as stored in a checkpoint.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct EntrancesState {
    states: Vec<String>,
}

impl<const N: usize> Entrances<N> {
    pub(super) fn state(&self) -> EntrancesState {
        EntrancesState { states: texts(&self.states) }
    }

    /// Restores the states; `None` if the state is invalid.
    pub(super) fn restore(&mut self, state: &EntrancesState, stages: &Stages) -> Option<()> {
        let states: Vec<State<N>> = parsed(&state.states)?;
        let last = |state: &State<N>| stages.of(&state.board().bytes()) + 1 == stages.count();
        let fits = states.len() <= self.spec.collected && states.iter().all(last);
        fits.then(|| self.states = states)
    }
}
