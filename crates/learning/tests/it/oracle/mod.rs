//! Algorithms 1–4 of jaskowski-2016, n-step and backward TD, written as in the paper: V, E and A are
//! maps from (tuple, index) to a number, and an episode remembers all its afterstates.
//!
//! Algorithm 5 and the other starts are written in the same way.
//!
//! Two details follow the trainer, so that the results can be compared bit for bit: the order in which the
//! weights of a value are added ([`Naive::value`]), and that two games alternate in a thread.

mod starts;

use std::collections::HashMap;

use afterstate_game::{Afterstate, GameRng, State, Symmetry, game_rng};
use afterstate_learning::{
    Budget, StartSpec, StepSizeSpec, TargetSpec, Trainer, TrainingSettings,
    target::{Backward, DelayedTdLambda, NStep, TdLambda},
};
use afterstate_network::{Network, NetworkSpec};
use starts::Carousel;

/// A weight: the number of its table, counted stage by stage, and its index by Eq. 3.
pub(crate) type Feature = (usize, u64);

/// The games that alternate in a thread.
const GAMES: usize = 2;

/// A learner in its simplest form.
pub(crate) struct Naive<const N: usize> {
    spec: NetworkSpec,
    settings: TrainingSettings,
    pub(crate) v: HashMap<Feature, f32>,
    pub(crate) e: HashMap<Feature, f32>,
    pub(crate) a: HashMap<Feature, f32>,
    pub(crate) alpha: HashMap<Feature, f32>,
    episodes: Vec<Episode<N>>,
    carousel: Carousel<N>,
    next_game: u64,
    pub(crate) actions: u64,
    pub(crate) finished: u64,
    /// For every episode, whether it was a whole game, and its first state.
    pub(crate) starts: Vec<(bool, State<N>)>,
}

/// An episode so far: s'₁ … s'ₜ with the reward for reaching each, and the errors δ₁ … that are known.
struct Episode<const N: usize> {
    rng: GameRng,
    state: State<N>,
    /// All states in which a move was made, and the number of restarts that have led here.
    states: Vec<State<N>>,
    restarts: u32,
    /// Whether it is a whole game.
    fresh: bool,
    afterstates: Vec<Afterstate<N>>,
    rewards: Vec<f32>,
    deltas: Vec<f32>,
    over: bool,
}

impl<const N: usize> Naive<N> {
    pub(crate) fn new(spec: NetworkSpec, settings: TrainingSettings) -> Self {
        let (v, e, a, alpha) = Default::default();
        let (episodes, starts) = Default::default();
        let carousel = Carousel::new(&spec, &settings);
        let (next_game, actions, finished) = (0, 0, 0);
        let mut naive = Naive {
            spec,
            settings,
            v,
            e,
            a,
            alpha,
            episodes,
            carousel,
            next_game,
            actions,
            finished,
            starts,
        };
        naive.episodes = (0..GAMES).filter_map(|_| naive.episode(None)).collect();
        naive
    }

    /// Plays and learns until the budget is used up.
    pub(crate) fn run(&mut self) {
        let mut episodes = std::mem::take(&mut self.episodes);
        loop {
            let left = match self.settings.budget {
                Budget::Actions(actions) => actions - self.actions,
                _ => u64::MAX,
            };
            let round = episodes.len().min(left as usize);
            if round == 0 {
                break;
            }
            episodes[..round].iter_mut().for_each(|episode| self.step(episode));
            self.actions += round as u64;
            episodes.retain(|episode| !episode.over);
        }
    }

    /// One move; and if it ends the episode, the learning at its end, and the next episode, if there is one.
    fn step(&mut self, episode: &mut Episode<N>) {
        let (afterstate, reward, value) = self.choose(episode.state);
        episode.rewards.push(reward);
        if !episode.afterstates.is_empty() {
            self.learn(episode, reward + value);
        }
        episode.afterstates.push(afterstate);
        episode.state = afterstate.spawn(&self.settings.rules, &mut episode.rng);
        let terminal = episode.state.is_terminal();
        if !terminal {
            episode.states.push(episode.state);
            self.keep(&episode.states);
        }
        if terminal || self.has_left(afterstate) {
            let ahead = if terminal { 0.0 } else { self.value(afterstate) };
            self.finish(episode, ahead);
            self.finished += 1;
            episode.over = true;
            if let Some(next) = self.episode(Some(episode)) {
                *episode = next;
            }
        }
    }

    /// Whether an afterstate belongs to a stage after a carousel's last one.
    fn has_left(&self, afterstate: Afterstate<N>) -> bool {
        let StartSpec::Carousel(carousel) = self.settings.start else { return false };
        carousel.last_stage.is_some_and(|last| self.stage(afterstate) > last)
    }

    /// Starts the episode of the next game, if there is one, after the last one of the same slot.
    fn episode(&mut self, last: Option<&Episode<N>>) -> Option<Episode<N>> {
        if matches!(self.settings.budget, Budget::Episodes(episodes) if self.next_game >= episodes) {
            return None;
        }
        let mut rng = game_rng(self.settings.seed, self.next_game);
        self.next_game += 1;
        let (start, restarts) = self.start(&mut rng, last);
        let state = start.unwrap_or_else(|| self.settings.rules.initial_state(&mut rng));
        let fresh = start.is_none();
        self.starts.push((fresh, state));
        let (afterstates, rewards, deltas) = Default::default();
        let states = vec![state];
        Some(Episode { rng, state, states, restarts, fresh, afterstates, rewards, deltas, over: false })
    }

    /// Algorithm 1, line 10: the afterstate, its reward and its value; the first one on ties. The best move is that of
    /// the downgraded state, if there is one.
    fn choose(&mut self, state: State<N>) -> (Afterstate<N>, f32, f32) {
        // All moves are evaluated, and so promoted, before they are compared.
        let values: Vec<_> = state.slides().iter().map(|(_, slide)| self.value(slide.afterstate)).collect();
        let seen = self.settings.downgrade.map_or(state, |downgrade| downgrade.apply(state));
        let returns: Vec<_> = match seen == state {
            true => values.iter().zip(state.slides().iter()).map(|(v, (_, s))| s.reward as f32 + v).collect(),
            false => seen.slides().iter().map(|(_, s)| s.reward as f32 + self.value(s.afterstate)).collect(),
        };
        let best = (0..returns.len()).rev().max_by(|&a, &b| returns[a].total_cmp(&returns[b]));
        let best = best.expect("a state with a move");
        let (_, slide) = state.slides().iter().nth(best).expect("the same moves as on the downgraded board");
        (slide.afterstate, slide.reward as f32, values[best])
    }

    /// Eq. 3 for every tuple and image: the weights that an afterstate reads.
    fn features(&self, afterstate: Afterstate<N>) -> Vec<Feature> {
        let c = self.spec.tile_values as u64;
        let first = self.stage(afterstate) * self.spec.tables_per_set();
        let symmetries = if self.spec.symmetric { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
        let mut features = Vec::new();
        for (i, tuple) in self.spec.tuples.as_slice().iter().enumerate() {
            for &symmetry in symmetries {
                let image = tuple.image(symmetry, N);
                let digit = |&cell: &u8| u64::from(afterstate.board().exponent(cell.into())).min(c - 1);
                features.push((
                    first + i,
                    image.cells().iter().rev().fold(0, |index, cell| index * c + digit(cell)),
                ));
            }
        }
        features
    }

    fn stage(&self, afterstate: Afterstate<N>) -> usize {
        self.spec.stages.of(&afterstate.board().bytes())
    }

    /// V(s'): sixteen sums side by side, then the two halves, then ((0+4)+(2+6)) + ((1+5)+(3+7)), on top of
    /// the initial value. A weight of 0 is first promoted (V.D.2, lines 26 and 27).
    fn value(&mut self, afterstate: Afterstate<N>) -> f32 {
        let mut sums = [0.0f32; 16];
        for (i, (table, index)) in self.features(afterstate).into_iter().enumerate() {
            let v = self.v.get(&(table, index)).copied().unwrap_or(0.0);
            if self.spec.promotion && v == 0.0 && self.stage(afterstate) > 0 {
                let before = self.v.get(&(table - self.spec.tables_per_set(), index)).copied();
                self.v.insert((table, index), before.unwrap_or(0.0));
            }
            sums[i % 16] += self.v.get(&(table, index)).unwrap_or(&0.0);
        }
        let s: [f32; 8] = std::array::from_fn(|i| sums[i] + sums[i + 8]);
        self.spec.initial(self.stage(afterstate))
            + (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])))
    }

    /// Table 1 of Mahmood et al. 2012, in which a weight that occurs n times has the feature value n; h is stored in
    /// `e`, v in `a`.
    fn autostep(&mut self, features: &[Feature], mu: f32, tau: f32, alpha: f32, delta: f32) {
        let mut xs: Vec<(Feature, f32)> = Vec::new();
        for &feature in features {
            match xs.iter_mut().find(|(other, _)| *other == feature) {
                Some((_, x)) => *x += 1.0,
                None => xs.push((feature, 1.0)),
            }
        }
        let initial = alpha / features.len() as f32;
        let mut m = 0.0;
        for &(feature, x) in &xs {
            let (h, v) = (*self.e.entry(feature).or_default(), self.a.entry(feature).or_default());
            let alpha = self.alpha.entry(feature).or_insert(initial);
            let correlation = delta * x * h;
            *v = correlation.abs().max(*v + tau * *alpha * x * x * (correlation.abs() - *v));
            if *v != 0.0 {
                *alpha *= (mu * correlation / *v).exp();
            }
            m += *alpha * x * x;
        }
        for (feature, x) in xs {
            let alpha = self.alpha.get_mut(&feature).expect("just set");
            *alpha /= f32::max(m, 1.0);
            *self.v.entry(feature).or_default() += *alpha * delta * x;
            let h = self.e.get_mut(&feature).expect("just set");
            *h = *h * (1.0 - *alpha * x * x) + *alpha * delta * x;
        }
    }

    /// Algorithm 1, line 33; Algorithm 2, lines 5–8; Algorithm 4, lines 4–7.
    fn update(&mut self, afterstate: Afterstate<N>, step: f32, error: f32) {
        let frozen = match self.settings.start {
            StartSpec::StageByStage(_) => self.spec.stages.count() - 1,
            StartSpec::Carousel(carousel) => carousel.first_stage,
            StartSpec::Fresh | StartSpec::Restart(_) => 0,
        };
        if self.stage(afterstate) < frozen {
            return;
        }
        if let StepSizeSpec::Autostep { mu, tau, alpha } = self.settings.step_size {
            let [mu, tau, alpha] = [mu, tau, alpha].map(|rate| rate as f32);
            return self.autostep(&self.features(afterstate), mu, tau, alpha, step);
        }
        let step = self.settings.step_size.rate(0.0, 1.0) / self.spec.active_features() as f32 * step;
        for feature in self.features(afterstate) {
            let v = self.v.entry(feature).or_default();
            if matches!(self.settings.step_size, StepSizeSpec::Fixed { .. }) {
                *v += step;
                continue;
            }
            let (e, a) = (self.e.entry(feature).or_default(), self.a.entry(feature).or_default());
            let alpha = if *a != 0.0 { e.abs() / *a } else { 1.0 };
            *v += alpha * step;
            *e += error;
            *a += error.abs();
        }
    }

    /// s'ₜ is the last afterstate; `ahead` is rₜ₊₁ + V(s'ₜ₊₁).
    fn learn(&mut self, episode: &mut Episode<N>, ahead: f32) {
        let t = episode.afterstates.len();
        match self.settings.target {
            TargetSpec::TdLambda(method) => self.td_lambda(method, episode, ahead),
            TargetSpec::DelayedTdLambda(method) => {
                self.error(episode, ahead);
                if t > method.horizon {
                    self.delayed(method, episode, t - method.horizon);
                }
            }
            TargetSpec::NStep(NStep { n }) if t >= n => {
                // The reward for s'ₜ₊₁ is part of `ahead`.
                self.n_step(episode, t + 1 - n, ahead);
            }
            TargetSpec::NStep(_) | TargetSpec::Backward(_) => {}
        }
    }

    /// s'ₜ, the last afterstate, led to a terminal state, after which the return is 0; or the episode ends there with
    /// its value.
    fn finish(&mut self, episode: &mut Episode<N>, ahead: f32) {
        let t = episode.afterstates.len();
        match self.settings.target {
            TargetSpec::TdLambda(method) => self.td_lambda(method, episode, ahead),
            TargetSpec::DelayedTdLambda(method) => {
                self.learn(episode, ahead);
                for k in (t + 1).saturating_sub(method.horizon).max(1)..=t {
                    self.delayed(method, episode, k);
                }
            }
            TargetSpec::NStep(NStep { n }) => {
                for k in (t + 1).saturating_sub(n).max(1)..=t {
                    self.n_step(episode, k, ahead);
                }
            }
            TargetSpec::Backward(method) => self.backward(method, episode, ahead),
        }
    }

    /// Algorithm 1, lines 30–34, with δₜ = `ahead` − V(s'ₜ).
    fn td_lambda(&mut self, method: TdLambda, episode: &Episode<N>, ahead: f32) {
        let t = episode.afterstates.len();
        let delta = ahead - self.value(episode.afterstates[t - 1]);
        let mut step = delta;
        for k in (t.saturating_sub(method.horizon).max(1)..=t).rev() {
            self.update(episode.afterstates[k - 1], step, delta);
            step *= method.lambda;
        }
    }

    /// δₜ = `ahead` − V(s'ₜ).
    fn error(&mut self, episode: &mut Episode<N>, ahead: f32) {
        let last = *episode.afterstates.last().expect("an afterstate");
        episode.deltas.push(ahead - self.value(last));
    }

    /// Algorithm 3, lines 4–5: Δₖ = δₖ + λ·(δₖ₊₁ + λ·(…)) up to the last known error.
    fn delayed(&mut self, method: DelayedTdLambda, episode: &Episode<N>, k: usize) {
        let sum = |sum: f32, delta: &f32| delta + method.lambda * sum;
        let step = episode.deltas[k - 1..].iter().rev().fold(0.0, sum);
        self.update(episode.afterstates[k - 1], step, step);
    }

    /// s'ₖ moves towards rₖ₊₁ + … + rₜ + `ahead`.
    fn n_step(&mut self, episode: &Episode<N>, k: usize, ahead: f32) {
        let t = episode.afterstates.len();
        let rewards: f32 = episode.rewards[k..t].iter().rev().sum();
        let error = ahead + rewards - self.value(episode.afterstates[k - 1]);
        self.update(episode.afterstates[k - 1], error, error);
    }

    /// The λ-returns, from the end to the start.
    fn backward(&mut self, method: Backward, episode: &Episode<N>, ahead: f32) {
        let mut target = ahead;
        for (&afterstate, reward) in episode.afterstates.iter().zip(&episode.rewards).rev() {
            let error = target - self.value(afterstate);
            self.update(afterstate, error, error);
            let value = self.value(afterstate);
            target = reward + (1.0 - method.lambda) * value + method.lambda * target;
        }
    }
}

/// Trains both ways, and compares V, E and A of every weight.
pub(crate) fn check<const N: usize>(spec: &NetworkSpec, settings: &TrainingSettings) {
    let network = Network::new(spec.clone()).expect("a small network");
    let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
    trainer.run(|_, _| true);
    let mut naive = Naive::<N>::new(spec.clone(), settings.clone());
    naive.run();

    let progress = trainer.progress();
    assert_eq!((progress.actions, progress.episodes), (naive.actions, naive.finished), "{settings:?}");
    assert!(naive.actions > 1_000, "enough moves to tell methods apart: {}", naive.actions);
    let numbers = trainer.numbers();
    let untouched = match settings.step_size {
        StepSizeSpec::Autostep { alpha, .. } => alpha as f32 / spec.active_features() as f32,
        _ => 0.0,
    };
    for i in 0..spec.tables() {
        for (index, (weight_index, v)) in network.indices(i).zip(network.table(i)).enumerate() {
            let feature = (i, index as u64);
            let of = |map: &HashMap<_, f32>| map.get(&feature).copied().unwrap_or(0.0);
            assert_eq!(v.to_bits(), of(&naive.v).to_bits(), "V of {feature:?}: {v}, {settings:?}");
            for numbers in &numbers {
                let expected = match numbers.name {
                    "E" | "h" => of(&naive.e),
                    "A" | "v" => of(&naive.a),
                    _ => naive.alpha.get(&feature).copied().unwrap_or(untouched),
                };
                let (name, found) = (numbers.name, numbers.get(weight_index));
                assert_eq!(
                    found.to_bits(),
                    expected.to_bits(),
                    "{name} of {feature:?}: {found}, {settings:?}"
                );
            }
        }
    }
}
