//! Starts: where the next episode begins.
//!
//! A start observes every new state of a game (`Starts::watch`), and provides the first state of the
//! next episode when one has ended. Scores of episodes that begin in the middle of a game say nothing
//! about the player, so these are counted, but not reported as finished games.

mod carousel;
mod restart;
mod stage_by_stage;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use afterstate_game::{GameRng, State};
use afterstate_network::{NetworkSpec, Stages, Values};
use serde::{Deserialize, Serialize};

pub use carousel::Carousel;
use carousel::{CarouselState, Wheel};
use rand_core::Rng;
pub use restart::Restart;
pub use stage_by_stage::StageByStage;
use stage_by_stage::{Entrances, EntrancesState};

/// The starts by name, with their parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StartSpec {
    /// Every episode is a whole game.
    #[default]
    Fresh,
    /// Carousel shaping: the stages in turn.
    Carousel(Carousel),
    /// Restart: from the middle of the episode just played.
    Restart(Restart),
    /// Stage by stage: the last stage learns, from its first states.
    StageByStage(StageByStage),
}

impl StartSpec {
    /// Why a network does not support these starts.
    pub fn refusal(&self, spec: &NetworkSpec) -> Option<&'static str> {
        let stages = spec.stages.count();
        match self {
            StartSpec::Carousel(_) if stages < 2 => Some("carousel shaping needs at least two stages"),
            StartSpec::Carousel(carousel) if carousel.first_stage >= stages => {
                Some("the stage in which the carousel begins does not exist")
            }
            StartSpec::Carousel(carousel) if carousel.is_left_in(carousel.first_stage) => {
                Some("the carousel would end in an earlier stage than it begins")
            }
            StartSpec::Carousel(carousel) if carousel.last_stage.is_some_and(|last| last >= stages) => {
                Some("the stage in which the carousel ends does not exist")
            }
            StartSpec::Carousel(carousel)
                if carousel.is_left_in(stages - 1) && spec.values != Values::Afterstates =>
            {
                Some("a carousel that ends before the last stage needs values of afterstates")
            }
            StartSpec::Carousel(carousel) if spec.promotion && carousel.first_stage > 1 => Some(
                "promotion would write to frozen stages: a carousel that begins in a later stage cannot use it",
            ),
            StartSpec::StageByStage(_) if stages < 2 => Some("training by stages needs at least two stages"),
            StartSpec::StageByStage(_) if spec.promotion && stages > 2 => {
                Some("promotion would write to frozen stages: with more than two stages it must be off")
            }
            _ => None,
        }
    }

    /// The number of sets of tables, beginning with the first, whose weights are frozen: those of all stages but the
    /// last one, or of those before the one in which a carousel begins.
    pub(crate) fn frozen(&self, spec: &NetworkSpec) -> usize {
        match self {
            StartSpec::StageByStage(_) => spec.sets() - spec.values.sets(),
            StartSpec::Carousel(carousel) => carousel.first_stage * spec.values.sets(),
            StartSpec::Fresh | StartSpec::Restart(_) => 0,
        }
    }
}

/// The starts of a trainer, shared by its games.
pub(crate) struct Starts<const N: usize> {
    stages: Stages,
    kind: Kind<N>,
}

/// Locks are taken when an episode ends and when it enters a stage, a few times a game.
enum Kind<const N: usize> {
    Fresh,
    Carousel(Carousel, Mutex<Wheel<N>>),
    Restart(Restart),
    /// With the restarts in the last stage.
    StageByStage(Restart, Mutex<Entrances<N>>),
}

/// What a start remembers of a game.
pub(crate) struct Memory<const N: usize> {
    /// Whether the episode is a whole game.
    pub(crate) fresh: bool,
    /// The stage of the current state.
    stage: usize,
    /// The last stage that the episode has reached without skipping one.
    passed: usize,
    /// The states of the episode so far, the current one last, if a restart can follow it.
    episode: Vec<State<N>>,
    /// The number of restarts since the last episode that was not one.
    restarts: u32,
}

impl<const N: usize> Memory<N> {
    pub(crate) fn new() -> Self {
        Memory { fresh: true, stage: 0, passed: 0, episode: Vec::new(), restarts: 0 }
    }

    /// Where the next episode begins within this one, if there is another restart.
    fn restart(&mut self, restart: &Restart) -> Option<State<N>> {
        let (state, restarts) = restart.next(&self.episode, self.restarts);
        self.restarts = restarts;
        state
    }

    /// Forgets the episode; there is no other.
    pub(crate) fn clear(&mut self) {
        self.episode.clear();
    }
}

impl<const N: usize> Starts<N> {
    /// Creates the starts with their given positions; `None` if one of these is not a state from which a game can
    /// continue.
    pub(crate) fn new(spec: StartSpec, stages: &Stages, positions: &[String]) -> Option<Self> {
        let kind = match spec {
            StartSpec::Fresh => Kind::Fresh,
            StartSpec::Carousel(carousel) => {
                let mut wheel = Wheel::new(carousel, stages.count());
                wheel.give(parsed(positions)?, stages);
                Kind::Carousel(carousel, Mutex::new(wheel))
            }
            StartSpec::Restart(restart) => Kind::Restart(restart),
            StartSpec::StageByStage(by_stage) => {
                Kind::StageByStage(by_stage.restart, Mutex::new(Entrances::new(by_stage)))
            }
        };
        Some(Starts { stages: stages.clone(), kind })
    }

    /// Where the next episode of a game begins: at the returned state, or with a new game.
    pub(crate) fn next(&self, memory: &mut Memory<N>, rng: &mut GameRng) -> Option<State<N>> {
        let state = match &self.kind {
            Kind::Fresh => None,
            Kind::Carousel(_, wheel) => locked(wheel).next(rng),
            Kind::Restart(restart) => memory.restart(restart),
            Kind::StageByStage(restart, entrances) => {
                memory.restart(restart).or_else(|| locked(entrances).next(rng))
            }
        };
        memory.fresh = state.is_none();
        state
    }

    /// Notes that an episode begins at this state.
    pub(crate) fn begin(&self, memory: &mut Memory<N>, state: State<N>) {
        memory.stage = self.stage_of(state);
        memory.passed = memory.stage;
        memory.episode.clear();
        if self.remembers(memory.fresh) {
            memory.episode.push(state);
        }
    }

    /// Whether to remember the states of an episode, given whether it is a whole game.
    fn remembers(&self, fresh: bool) -> bool {
        match &self.kind {
            Kind::Fresh | Kind::Carousel(..) => false,
            Kind::Restart(_) => true,
            Kind::StageByStage(restart, _) => restart.restarts > 0 && !fresh,
        }
    }

    /// Whether [`Self::watch`] must be called with the states of games.
    #[inline(always)]
    pub(crate) fn watches(&self) -> bool {
        !matches!(self.kind, Kind::Fresh)
    }

    /// Notes that an episode has reached this state and continues.
    pub(crate) fn watch(&self, memory: &mut Memory<N>, state: State<N>) {
        let (before, stage) = (memory.stage, self.stage_of(state));
        memory.stage = stage;
        if self.remembers(memory.fresh) {
            memory.episode.push(state);
        }
        match &self.kind {
            Kind::Fresh | Kind::Restart(_) => {}
            Kind::Carousel(_, wheel) => {
                if stage == memory.passed + 1 {
                    memory.passed = stage;
                    locked(wheel).enter(stage, state);
                }
            }
            Kind::StageByStage(_, entrances) => {
                if before < stage && stage + 1 == self.stages.count() {
                    locked(entrances).enter(state);
                }
            }
        }
    }

    /// Whether the episode has left the last stage in which episodes continue.
    #[inline(always)]
    pub(crate) fn has_left(&self, memory: &Memory<N>) -> bool {
        matches!(self.kind, Kind::Carousel(carousel, _) if carousel.is_left_in(memory.stage))
    }

    fn stage_of(&self, state: State<N>) -> usize {
        self.stages.of(&state.board().bytes())
    }
}

/// A panic elsewhere leaves the locked data consistent: every change is a single push or step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A random one of these states, if there are any.
fn choose<const N: usize>(
    rng: &mut GameRng,
    len: usize,
    get: impl FnOnce(usize) -> Option<State<N>>,
) -> Option<State<N>> {
    get((((rng.next_u64() >> 32) * len as u64) >> 32) as usize)
}

/// The shared state of a trainer's starts, as stored in a checkpoint.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum StartsState {
    /// Nothing.
    #[default]
    None,
    Carousel(CarouselState),
    StageByStage(EntrancesState),
}

/// What a start remembers of a game, as stored in a checkpoint.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct MemoryState {
    fresh: bool,
    /// The last stage that the episode has reached without skipping one.
    #[serde(default)]
    passed: usize,
    /// The states as text.
    episode: Vec<String>,
    restarts: u32,
}

impl Default for MemoryState {
    fn default() -> Self {
        MemoryState { fresh: true, passed: 0, episode: Vec::new(), restarts: 0 }
    }
}

impl<const N: usize> Memory<N> {
    pub(crate) fn state(&self) -> MemoryState {
        let (fresh, passed, restarts) = (self.fresh, self.passed, self.restarts);
        MemoryState { fresh, passed, episode: texts(&self.episode), restarts }
    }
}

impl<const N: usize> Starts<N> {
    pub(crate) fn state(&self) -> StartsState {
        match &self.kind {
            Kind::Fresh | Kind::Restart(_) => StartsState::None,
            Kind::Carousel(_, wheel) => StartsState::Carousel(locked(wheel).state()),
            Kind::StageByStage(_, entrances) => StartsState::StageByStage(locked(entrances).state()),
        }
    }

    /// Restores the shared state; `None` if it is invalid.
    pub(crate) fn restore(&mut self, state: &StartsState) -> Option<()> {
        match (&mut self.kind, state) {
            (Kind::Fresh | Kind::Restart(_), StartsState::None) => Some(()),
            (Kind::Carousel(_, wheel), StartsState::Carousel(state)) => {
                locked(wheel).restore(state, &self.stages)
            }
            (Kind::StageByStage(_, entrances), StartsState::StageByStage(state)) => {
                locked(entrances).restore(state, &self.stages)
            }
            _ => None,
        }
    }

    /// Restores what was remembered of a game that is now at `state`, after this many moves of its episode; `state`
    /// is `None` if the game has ended without a successor.
    pub(crate) fn restore_memory(
        &self,
        state: &MemoryState,
        present: Option<State<N>>,
        moves: u64,
    ) -> Option<Memory<N>> {
        let episode: Vec<State<N>> = parsed(&state.episode)?;
        let most_restarts = match &self.kind {
            Kind::Restart(restart) | Kind::StageByStage(restart, _) => restart.restarts,
            Kind::Fresh | Kind::Carousel(..) => 0,
        };
        let recorded = if self.remembers(state.fresh) && present.is_some() { moves + 1 } else { 0 };
        let fits =
            episode.len() as u64 == recorded && episode.last().is_none_or(|&last| Some(last) == present);
        if !fits || state.restarts > most_restarts || state.passed >= self.stages.count() {
            return None;
        }
        let stage = present.map_or(0, |state| self.stage_of(state));
        Some(Memory { fresh: state.fresh, stage, passed: state.passed, episode, restarts: state.restarts })
    }
}

fn texts<'a, const N: usize>(states: impl IntoIterator<Item = &'a State<N>>) -> Vec<String> {
    states.into_iter().map(State::to_string).collect()
}

/// Parses states; `None` if a text is not a state, or is a terminal one, where nothing can start.
fn parsed<const N: usize, C: FromIterator<State<N>>>(texts: &[String]) -> Option<C> {
    let state = |text: &String| text.parse().ok().filter(|state: &State<N>| !state.is_terminal());
    texts.iter().map(state).collect()
}
