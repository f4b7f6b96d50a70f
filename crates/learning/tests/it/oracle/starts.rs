//! Where episodes begin: Algorithm 5 of jaskowski-2016, restart, and training by stages.

use std::collections::HashMap;

use afterstate_game::{GameRng, State};
use afterstate_learning::{StartSpec, TrainingSettings, start::StageByStage};
use afterstate_network::NetworkSpec;
use rand_core::Rng;

use super::{Episode, Naive};

/// Algorithm 5: the next stage, the number of episodes that have begun in it, and *initstates*.
pub(super) struct Carousel<const N: usize> {
    stage: usize,
    games: u64,
    initstates: HashMap<usize, Vec<State<N>>>,
    given: Vec<usize>,
}

impl<const N: usize> Carousel<N> {
    pub(super) fn new(spec: &NetworkSpec, settings: &TrainingSettings) -> Self {
        let StartSpec::Carousel(carousel) = settings.start else {
            return Carousel { stage: 1, games: 0, initstates: HashMap::new(), given: vec![] };
        };
        let mut initstates: HashMap<usize, Vec<State<N>>> = HashMap::new();
        for text in &settings.positions {
            let state: State<N> = text.parse().expect("a position");
            let states = initstates.entry(1 + spec.stages.of(&state.board().bytes())).or_default();
            states.push(state);
            states.drain(..states.len().saturating_sub(carousel.kept));
        }
        initstates.retain(|&stage, _| stage > carousel.first_stage);
        let given = initstates.keys().copied().collect();
        Carousel { stage: carousel.first_stage + 1, games: 0, initstates, given }
    }
}

impl<const N: usize> Naive<N> {
    /// Keeps the last state of an episode if it is the first of a stage.
    pub(super) fn keep(&mut self, states: &[State<N>]) {
        let stage = |state: &State<N>| 1 + self.spec.stages.of(&state.board().bytes());
        let [earlier @ .., state] = states else { return };
        let Some((first, before)) = earlier.first().zip(earlier.last()) else { return };
        // The consecutive stages that the episode has been in, as in the author's program.
        let in_turn = |passed: usize, state| if stage(state) == passed + 1 { passed + 1 } else { passed };
        let passed = earlier.iter().fold(stage(first), in_turn);
        let (before, stage, state) = (stage(before), stage(state), *state);
        if self.carousel.given.contains(&stage) {
            return;
        }
        let states = self.carousel.initstates.entry(stage).or_default();
        match self.settings.start {
            StartSpec::Carousel(carousel) if passed + 1 == stage => {
                states.push(state);
                states.drain(..states.len().saturating_sub(carousel.kept));
            }
            StartSpec::StageByStage(by_stage) if before < stage && stage == self.spec.stages.count() => {
                states.push(state);
                states.truncate(by_stage.collected);
            }
            _ => {}
        }
    }

    /// Algorithm 5, lines 5–12, and the other starts: where the next episode begins, after how many restarts.
    pub(super) fn start(&mut self, rng: &mut GameRng, last: Option<&Episode<N>>) -> (Option<State<N>>, u32) {
        let initstates = &self.carousel.initstates;
        let mut random_choice = |stage: usize| {
            let states = &initstates[&stage];
            states[(((rng.next_u64() >> 32) * states.len() as u64) >> 32) as usize]
        };
        let stages = self.spec.stages.count();
        match self.settings.start {
            StartSpec::Fresh => (None, 0),
            StartSpec::Carousel(carousel) => {
                let mut stage = self.carousel.stage;
                let first = carousel.first_stage + 1;
                let kept = initstates.get(&first).map_or(0, Vec::len);
                if first > 1 && !carousel.given && kept < carousel.kept {
                    return (None, 0);
                }
                if self.carousel.games == carousel.games_per_stage {
                    (stage, self.carousel.games) = (stage + 1, 0);
                    let last = carousel.last_stage.map_or(stages, |last| last + 1);
                    if stage > last || initstates.get(&stage).is_none_or(Vec::is_empty) {
                        stage = first;
                    }
                }
                self.carousel.stage = stage;
                self.carousel.games += 1;
                (if stage == 1 { None } else { Some(random_choice(stage)) }, 0)
            }
            StartSpec::Restart(restart) => match last {
                Some(last)
                    if last.restarts < restart.restarts && last.states.len() as u64 >= restart.shortest =>
                {
                    (Some(last.states[last.states.len() / 2]), last.restarts + 1)
                }
                _ => (None, 0),
            },
            StartSpec::StageByStage(by_stage) => {
                let StageByStage { restart, .. } = by_stage;
                let has_middle = |last: &&Episode<N>| {
                    !last.fresh
                        && last.restarts < restart.restarts
                        && last.states.len() as u64 >= restart.shortest
                };
                if let Some(last) = last.filter(has_middle) {
                    return (Some(last.states[last.states.len() / 2]), last.restarts + 1);
                }
                let enough = initstates.get(&stages).is_some_and(|states| states.len() == by_stage.collected);
                (enough.then(|| random_choice(stages)), 0)
            }
        }
    }
}
