//! Environments of one side, stepped in blocks by threads.

use afterstate_game::{Rules, State};
use afterstate_network::{Isa, Kernel, Level, dispatch};
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

use super::{
    Array, Finals, Stepped, SteppedOne,
    observe::Observation,
    one::{Autoreset, Illegal, One, Saved},
    threads::Threads,
};
use crate::{
    array::{board, fill, released},
    error::value_error,
    rules,
};

/// The approximate nanoseconds of a step, a reset, and an observation.
const STEP: usize = 30;
const RESET: usize = 100;
pub(super) const LOOK: usize = 5;

/// The settings of environments.
#[derive(Clone, Copy)]
pub(super) struct EnvironmentSettings {
    pub(super) four: f64,
    pub(super) threads: usize,
    pub(super) observation: Observation,
    pub(super) illegal: Illegal,
    pub(super) autoreset: Autoreset,
}

/// Which environments are reset, and how.
pub(super) struct Reset<'a> {
    pub(super) mask: Option<&'a [bool]>,
    pub(super) seeds: Option<&'a [Option<u64>]>,
    pub(super) number: Option<u64>,
    pub(super) board: Option<&'a [u8]>,
}

/// Environments, independent of their side.
pub(super) trait Environment: Send + Sync {
    fn reset(&mut self, py: Python<'_>, reset: Reset<'_>) -> PyResult<()>;
    fn step<'py>(&mut self, py: Python<'py>, actions: &[i64]) -> PyResult<Stepped<'py>>;
    fn step_one<'py>(&mut self, py: Python<'py>, action: i64) -> PyResult<SteppedOne<'py>>;
    #[allow(clippy::type_complexity, reason = "what there is to see")]
    fn observe<'py>(&self, py: Python<'py>)
    -> PyResult<(Bound<'py, PyAny>, Array<'py, i8>, Array<'py, i64>)>;
    fn observe_one<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Array<'py, i8>, u64)>;
    fn boards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
    fn save(&self) -> Vec<Saved>;
    fn restore(&mut self, saved: Vec<Saved>) -> Option<()>;
}

/// Environments of one side.
pub(super) struct Many<const N: usize> {
    settings: EnvironmentSettings,
    rules: Rules,
    ones: Vec<One<N>>,
    threads: Threads,
}

/// A finished episode that has been replaced: the environment, its last state, its score.
type Final<const N: usize> = (usize, State<N>, u64);

/// The environments of a thread, and the outputs that it writes.
struct Piece<'a, const N: usize> {
    rules: &'a Rules,
    settings: &'a EnvironmentSettings,
    first: usize,
    ones: &'a mut [One<N>],
    actions: &'a [i64],
    points: &'a mut [f64],
    terminated: &'a mut [bool],
    masks: &'a mut [i8],
    scores: &'a mut [i64],
    finals: &'a mut Vec<Final<N>>,
}

/// Steps each of them.
impl<const N: usize> Kernel for Piece<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, _: I) {
        let Piece { rules, settings, first, ones, actions, points, terminated, masks, scores, finals } = self;
        let outs = points.iter_mut().zip(terminated).zip(masks.chunks_exact_mut(4)).zip(scores);
        for (i, ((one, &action), (((points, terminated), mask), score))) in
            ones.iter_mut().zip(actions).zip(outs).enumerate()
        {
            if one.over && settings.autoreset == Autoreset::NextStep {
                one.reset(rules, None, None, None);
                (*points, *terminated) = (0.0, false);
            } else {
                let stepped = one.step(rules, settings.illegal, action as usize & 3);
                (*points, *terminated) = (f64::from(stepped.points), stepped.terminated);
                if one.over && settings.autoreset == Autoreset::SameStep {
                    finals.push((first + i, one.state, one.score));
                    one.reset(rules, None, None, None);
                }
            }
            write_mask(one, mask);
            *score = one.score as i64;
        }
    }
}

#[inline(always)]
fn write_mask<const N: usize>(one: &One<N>, to: &mut [i8]) {
    let legal = one.legal().mask();
    to.iter_mut().enumerate().for_each(|(a, to)| *to = (legal >> a & 1) as i8);
}

impl<const N: usize> Many<N> {
    pub(super) fn new(settings: EnvironmentSettings, count: usize) -> Self {
        let rules = Rules { four: settings.four, ..Rules::default() };
        let ones = (0..count as u64).map(|seed| One::new(seed, &rules)).collect();
        Many { settings, rules, ones, threads: Threads::default() }
    }

    /// Rejects invalid actions before any environment changes.
    fn check(&self, actions: &[i64]) -> PyResult<()> {
        if let Some(index) = actions.iter().position(|action| !(0..4).contains(action)) {
            return rules::action(index, actions[index]).map(drop);
        }
        let EnvironmentSettings { illegal, autoreset, .. } = self.settings;
        if autoreset == Autoreset::Disabled
            && let Some(index) = self.ones.iter().position(|one| one.over)
        {
            return Err(value_error(format!("the episode of environment {index} is over: reset it first")));
        }
        let is_illegal = |(one, &a): (&One<N>, &i64)| !one.over && one.legal().mask() >> a & 1 == 0;
        if illegal == Illegal::Error
            && let Some(index) = self.ones.iter().zip(actions).position(is_illegal)
        {
            let a = rules::action(index, actions[index])?;
            return Err(value_error(format!("{a} is illegal in environment {index}: nothing would move")));
        }
        Ok(())
    }

    fn masks_of<'py>(&self, py: Python<'py>) -> PyResult<Array<'py, i8>> {
        let masks = PyArrayDyn::<i8>::zeros(py, [self.ones.len(), 4].as_slice(), false);
        fill(&masks, |to| {
            let each = self.ones.iter().zip(to.chunks_exact_mut(4));
            released(py, self.ones.len(), LOOK, || each.for_each(|(one, to)| write_mask(one, to)));
            Ok(())
        })?;
        Ok(masks)
    }

    fn states(&self) -> impl Iterator<Item = State<N>> + Send + '_ {
        self.ones.iter().map(|one| one.state)
    }

    /// The observation and mask of the only environment.
    fn see_one<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Array<'py, i8>)> {
        let one = &self.ones[0];
        let mask = PyArrayDyn::<i8>::zeros(py, [4].as_slice(), false);
        fill(&mask, |to| {
            write_mask(one, to);
            Ok(())
        })?;
        Ok((self.settings.observation.of(py, &[], std::iter::once(one.state))?, mask))
    }

    /// The final data of finished episodes: which environments, their observations, masks, scores and boards.
    fn finals<'py>(&self, py: Python<'py>, finals: Vec<Final<N>>) -> PyResult<Finals<'py>> {
        let count = finals.len();
        let (states, masks, index, scores) = released(py, count, STEP, || {
            let states: Vec<_> = finals.iter().map(|(_, state, _)| *state).collect();
            let masks = states.iter().flat_map(|state| {
                let legal = state.legal_moves().mask();
                (0..4).map(move |a| (legal >> a & 1) as i8)
            });
            let masks: Vec<_> = masks.collect();
            let index: Vec<_> = finals.iter().map(|&(index, ..)| index as i64).collect();
            let scores: Vec<_> = finals.iter().map(|&(_, _, score)| score as i64).collect();
            (states, masks, index, scores)
        });
        Ok((
            index.into_pyarray(py).to_dyn().clone(),
            self.settings.observation.of(py, &[count], states.iter().copied())?,
            masks.into_pyarray(py).reshape([count, 4])?.to_dyn().clone(),
            scores.into_pyarray(py).to_dyn().clone(),
            Observation::Exponents.of(py, &[count], states.into_iter())?,
        ))
    }

    /// Steps all environments, each thread a block of them, unless an action is invalid.
    fn step_all(
        &mut self,
        actions: &[i64],
        points: &mut [f64],
        terminated: &mut [bool],
        masks: &mut [i8],
        scores: &mut [i64],
    ) -> PyResult<Vec<Final<N>>> {
        self.check(actions)?;
        let Many { settings, rules, ones, threads } = self;
        let block = ones.len().div_ceil(settings.threads);
        let mut finals = vec![Vec::new(); settings.threads];
        let outs = points.chunks_mut(block).zip(terminated.chunks_mut(block));
        let outs = outs.zip(masks.chunks_mut(4 * block)).zip(scores.chunks_mut(block)).zip(&mut finals);
        let pieces = ones.chunks_mut(block).zip(actions.chunks(block)).zip(outs).enumerate().map(
            |(i, ((ones, actions), ((((points, terminated), masks), scores), finals)))| Piece {
                rules,
                settings,
                first: i * block,
                ones,
                actions,
                points,
                terminated,
                masks,
                scores,
                finals,
            },
        );
        let step = |piece: Piece<'_, N>| dispatch(Level::best(), piece);
        if settings.threads == 1 {
            pieces.for_each(step);
        } else {
            threads.helpers(settings.threads - 1)?.divide(pieces, step);
        }
        Ok(finals.concat())
    }
}

impl<const N: usize> Environment for Many<N> {
    fn reset(&mut self, py: Python<'_>, reset: Reset<'_>) -> PyResult<()> {
        let start = reset.board.map(|exponents| board::<N>(0, exponents)).transpose()?.map(State::new);
        if start.is_some_and(|state| state.is_terminal()) {
            return Err(value_error("no move is possible on the start board"));
        }
        released(py, self.ones.len(), RESET, || {
            for (i, one) in self.ones.iter_mut().enumerate() {
                if reset.mask.is_none_or(|mask| mask[i]) {
                    one.reset(&self.rules, reset.seeds.and_then(|seeds| seeds[i]), reset.number, start);
                }
            }
        });
        Ok(())
    }

    fn step<'py>(&mut self, py: Python<'py>, actions: &[i64]) -> PyResult<Stepped<'py>> {
        let count = self.ones.len();
        let points = PyArrayDyn::<f64>::zeros(py, [count].as_slice(), false);
        let terminated = PyArrayDyn::<bool>::zeros(py, [count].as_slice(), false);
        let masks = PyArrayDyn::<i8>::zeros(py, [count, 4].as_slice(), false);
        let scores = PyArrayDyn::<i64>::zeros(py, [count].as_slice(), false);
        let finals = fill(&points, |points| {
            fill(&terminated, |terminated| {
                fill(&masks, |masks| {
                    fill(&scores, |scores| {
                        let run = || self.step_all(actions, points, terminated, masks, scores);
                        released(py, count, STEP, run)
                    })
                })
            })
        })?;
        let observations = self.settings.observation.of(py, &[count], self.states())?;
        let finals = if finals.is_empty() { None } else { Some(self.finals(py, finals)?) };
        Ok((observations, points, terminated, masks, scores, finals))
    }

    fn step_one<'py>(&mut self, py: Python<'py>, action: i64) -> PyResult<SteppedOne<'py>> {
        self.check(&[action])?;
        let stepped = self.ones[0].step(&self.rules, self.settings.illegal, action as usize & 3);
        let (observation, mask) = self.see_one(py)?;
        Ok((observation, stepped.points, stepped.terminated, mask, self.ones[0].score))
    }

    fn observe<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Array<'py, i8>, Array<'py, i64>)> {
        let scores = || self.ones.iter().map(|one| one.score as i64).collect::<Vec<_>>();
        let scores = released(py, self.ones.len(), LOOK, scores);
        let observations = self.settings.observation.of(py, &[self.ones.len()], self.states())?;
        Ok((observations, self.masks_of(py)?, scores.into_pyarray(py).to_dyn().clone()))
    }

    fn observe_one<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Array<'py, i8>, u64)> {
        let (observation, mask) = self.see_one(py)?;
        Ok((observation, mask, self.ones[0].score))
    }

    fn boards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Observation::Exponents.of(py, &[self.ones.len()], self.states())
    }

    fn save(&self) -> Vec<Saved> {
        self.ones.iter().map(One::save).collect()
    }

    fn restore(&mut self, saved: Vec<Saved>) -> Option<()> {
        self.ones = saved.into_iter().map(One::restore).collect::<Option<_>>()?;
        Some(())
    }
}
