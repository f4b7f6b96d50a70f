//! Observations.

use afterstate_game::{LARGEST_EXPONENT, State};
use numpy::{Element, PyArrayDyn};
use pyo3::{prelude::*, types::PyDict};
use serde::{Deserialize, Serialize};

use super::many::LOOK;
use crate::{
    array::{fill, output, released, write},
    rules::write_slides,
};

/// The number of values of a cell, including the empty one.
pub(super) const TILES: usize = LARGEST_EXPONENT as usize + 1;

/// The kinds of observations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Observation {
    /// Exponents, uint8.
    Exponents,
    /// A plane for each exponent, uint8, along the last axis.
    OneHot,
    /// Face values, int32.
    Faces,
    /// The four afterstates and the rewards.
    Afterstates,
}

impl Observation {
    /// The observations of states, with these leading axes.
    pub(super) fn of<'py, const N: usize>(
        self,
        py: Python<'py>,
        lead: &[usize],
        states: impl Iterator<Item = State<N>> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let count = lead.iter().product();
        let shape = |inner: &[usize]| [lead, inner].concat();
        match self {
            Observation::Exponents => {
                let array = output::<u8>(py, None, "", &shape(&[N, N]))?;
                let run = |to: &mut [u8]| each(to, N * N, states, |state, to| write(&state.board(), to));
                fill_released(&array, count, run)?;
                Ok(array.into_any())
            }
            Observation::OneHot => {
                let array = output::<u8>(py, None, "", &shape(&[N, N, TILES]))?;
                let run = |to: &mut [u8]| each(to, N * N * TILES, states, one_hot);
                fill_released(&array, count, run)?;
                Ok(array.into_any())
            }
            Observation::Faces => {
                let array = output::<i32>(py, None, "", &shape(&[N, N]))?;
                let run = |to: &mut [i32]| each(to, N * N, states, faces);
                fill_released(&array, count, run)?;
                Ok(array.into_any())
            }
            Observation::Afterstates => afterstates(py, lead, states),
        }
    }
}

/// Fills an array for this many states.
fn fill_released<T: Element>(
    array: &Bound<'_, PyArrayDyn<T>>,
    count: usize,
    run: impl FnOnce(&mut [T]) + Send,
) -> PyResult<()> {
    fill(array, |to| {
        released(array.py(), count, LOOK, || run(to));
        Ok(())
    })
}

#[inline(always)]
fn each<T, S>(to: &mut [T], len: usize, states: impl Iterator<Item = S>, write: impl Fn(S, &mut [T])) {
    to.chunks_exact_mut(len).zip(states).for_each(|(to, state)| write(state, to));
}

/// Expects an array of zeros.
fn one_hot<const N: usize>(state: State<N>, to: &mut [u8]) {
    let board = state.board();
    to.chunks_exact_mut(TILES).zip(board.exponents()).for_each(|(to, e)| to[usize::from(e) % TILES] = 1);
}

fn faces<const N: usize>(state: State<N>, to: &mut [i32]) {
    let board = state.board();
    to.iter_mut().zip(board.exponents()).for_each(|(to, e)| *to = (1 << e) & !1);
}

fn afterstates<'py, const N: usize>(
    py: Python<'py>,
    lead: &[usize],
    states: impl Iterator<Item = State<N>> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let boards = PyArrayDyn::<u8>::zeros(py, [lead, &[4, N, N]].concat(), false);
    let rewards = PyArrayDyn::<i32>::zeros(py, [lead, &[4]].concat(), false);
    fill(&boards, |boards| {
        fill(&rewards, |rewards| {
            released(py, lead.iter().product(), 4 * LOOK, || {
                let to = boards.chunks_exact_mut(4 * N * N).zip(rewards.chunks_exact_mut(4));
                for ((boards, rewards), state) in to.zip(states) {
                    let slides = state.slides();
                    write_slides(&slides.afterstates, boards);
                    rewards.iter_mut().zip(slides.rewards).for_each(|(to, reward)| *to = reward as i32);
                }
            });
            Ok(())
        })
    })?;
    let observation = PyDict::new(py);
    observation.set_item("afterstates", boards)?;
    observation.set_item("rewards", rewards)?;
    Ok(observation.into_any())
}
