//! Environments that are stepped together: the native half of the Gymnasium classes.
//!
//! An environment with seed s plays the games (s, 0), (s, 1), … one after the other. Its behaviour does not depend on
//! the others or on the number of threads.

mod many;
mod observe;
mod one;
mod threads;

use std::thread::available_parallelism;

use numpy::PyArrayDyn;
use pyo3::{prelude::*, types::PyBytes};
use serde::{Deserialize, Serialize};

use crate::{
    array::{self, Boards},
    error::value_error,
    number::{Natural, thread_count},
    side::{check_four, check_side, with_side},
};
use many::{Environment, EnvironmentSettings, Many, Reset};
use observe::Observation;
use one::{Autoreset, Illegal};

/// The minimum number of environments for each thread. On two idle cores a second thread gains an eighth at 16,384
/// environments and loses half at 1,024; on busy cores, waiting for a thread to wake loses far more.
const PER_THREAD: usize = 8192;

/// The parameters of environments, which suffice to create them again.
#[derive(Clone, Serialize, Deserialize)]
struct Config {
    count: usize,
    side: usize,
    four: f64,
    threads: usize,
    observation: Observation,
    illegal: Illegal,
    autoreset: Autoreset,
}

/// The pickled state.
#[derive(Serialize, Deserialize)]
struct Pickle {
    config: Config,
    environments: Vec<one::Saved>,
}

/// Environments that are stepped together.
#[pyclass(module = "afterstate_2048._native")]
pub(crate) struct Environments {
    config: Config,
    many: Box<dyn Environment>,
}

type Array<'py, T> = Bound<'py, PyArrayDyn<T>>;
/// Observations, points, whether each has ended, action masks, scores, and the final data of episodes that were reset.
type Stepped<'py> = (
    Bound<'py, PyAny>,
    Array<'py, f64>,
    Array<'py, bool>,
    Array<'py, i8>,
    Array<'py, i64>,
    Option<Finals<'py>>,
);
/// The same for one environment: observation, points, whether it has ended, mask and score.
type SteppedOne<'py> = (Bound<'py, PyAny>, u32, bool, Array<'py, i8>, u64);
/// For episodes that were reset: which environments, and their last observations, masks, scores and boards.
type Finals<'py> = (Array<'py, i64>, Bound<'py, PyAny>, Array<'py, i8>, Array<'py, i64>, Bound<'py, PyAny>);

impl Environments {
    fn make(config: Config) -> Self {
        let Config { count, side, four, threads, observation, illegal, autoreset } = config;
        let most = match threads {
            0 => available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let threads = most.min(count / PER_THREAD);
        let settings =
            EnvironmentSettings { four, threads: threads.clamp(1, count), observation, illegal, autoreset };
        let many: Box<dyn Environment> = with_side!(side, N => Box::new(Many::<N>::new(settings, count)));
        Environments { config, many }
    }
}

#[pymethods]
impl Environments {
    #[new]
    #[pyo3(signature = (count, *, size, four, observation, illegal, autoreset, threads))]
    #[allow(clippy::too_many_arguments, reason = "the options of the class")]
    fn new(
        py: Python<'_>,
        count: i64,
        size: i64,
        four: f64,
        observation: &str,
        illegal: &str,
        autoreset: &str,
        threads: i64,
    ) -> PyResult<Self> {
        if !(1..=1 << 24).contains(&count) {
            return Err(value_error(format!("num_envs must be from 1 to {}, not {count}", 1 << 24)));
        }
        let observation = choose(
            "observation",
            observation,
            &[
                ("exponents", Observation::Exponents),
                ("one-hot", Observation::OneHot),
                ("faces", Observation::Faces),
                ("afterstates", Observation::Afterstates),
            ],
        )?;
        let illegal = choose(
            "illegal",
            illegal,
            &[("ignore", Illegal::Ignore), ("end", Illegal::End), ("error", Illegal::Error)],
        )?;
        let autoreset = choose(
            "autoreset",
            autoreset,
            &[
                ("next-step", Autoreset::NextStep),
                ("same-step", Autoreset::SameStep),
                ("disabled", Autoreset::Disabled),
            ],
        )?;
        let (side, four) = (check_side(size)?, check_four(four)?);
        let threads = if threads == 0 { 0 } else { thread_count(threads)? };
        let count = count as usize;
        let config = Config { count, side, four, threads, observation, illegal, autoreset };
        Ok(py.detach(|| Environments::make(config)))
    }

    /// Starts new episodes, in all environments or in those of the mask.
    #[pyo3(signature = (mask, seeds, number, board))]
    fn reset(
        &mut self,
        py: Python<'_>,
        mask: Option<&Bound<'_, PyAny>>,
        seeds: Option<Vec<Option<Natural>>>,
        number: Option<Natural>,
        board: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let count = self.config.count;
        let mask =
            mask.map(|mask| array::numbers::<bool>("reset_mask", mask, "bool", &[count])).transpose()?;
        let mask = mask.as_ref().map(|mask| mask.as_slice()).transpose()?;
        if seeds.as_ref().is_some_and(|seeds| seeds.len() != count) {
            return Err(value_error(format!("there must be a seed for each of the {count} environments")));
        }
        let board = match board {
            None => None,
            Some(board) => {
                let board = Boards::of_side("board", board, self.config.side)?;
                if !board.lead.is_empty() {
                    return Err(value_error("board must have the shape (N, N)"));
                }
                Some(board.bytes()?.to_vec())
            }
        };
        let seeds: Option<Vec<_>> =
            seeds.map(|seeds| seeds.iter().map(|seed| seed.map(|Natural(seed)| seed)).collect());
        let number = number.map(|Natural(number)| number);
        self.many.reset(py, Reset { mask, seeds: seeds.as_deref(), number, board: board.as_deref() })
    }

    /// Steps each environment.
    fn step<'py>(&mut self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Stepped<'py>> {
        let actions = array::actions(actions, &[self.config.count])?;
        self.many.step(py, actions.as_slice()?)
    }

    /// Steps the only environment: its observation, points, whether it has ended, mask and score.
    fn step_one<'py>(&mut self, py: Python<'py>, action: i64) -> PyResult<SteppedOne<'py>> {
        self.many.step_one(py, action)
    }

    /// The current observations, action masks and scores.
    fn observe<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Array<'py, i8>, Array<'py, i64>)> {
        self.many.observe(py)
    }

    /// The same for the only environment.
    fn observe_one<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Array<'py, i8>, u64)> {
        self.many.observe_one(py)
    }

    /// The boards as exponents.
    fn boards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.many.boards(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = py.detach(|| {
            let pickle = Pickle { config: self.config.clone(), environments: self.many.save() };
            serde_json::to_vec(&pickle).map_err(value_error)
        })?;
        Ok((py.get_type::<Environments>().getattr("restored")?, (PyBytes::new(py, &bytes),)))
    }

    /// Restores pickled environments.
    #[staticmethod]
    fn restored(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let damaged = || value_error("these are not pickled environments");
        py.detach(|| {
            let Pickle { config, environments } = serde_json::from_slice(bytes).map_err(|_| damaged())?;
            check_side(config.side as i64)?;
            check_four(config.four)?;
            if environments.len() != config.count || config.count == 0 {
                return Err(damaged());
            }
            let mut restored = Environments::make(config);
            restored.many.restore(environments).ok_or_else(damaged)?;
            Ok(restored)
        })
    }
}

/// Finds a choice by name.
fn choose<T: Copy>(what: &str, found: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let choice = choices.iter().find(|(name, _)| *name == found).map(|&(_, choice)| choice);
    choice.ok_or_else(|| {
        let names: Vec<_> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        value_error(format!("{what} must be one of {}, not {found:?}", names.join(", ")))
    })
}
