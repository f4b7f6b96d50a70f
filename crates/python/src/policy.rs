//! A Python function as a policy of the solver.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_game::{Move, State};
use afterstate_solver::Policy;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

use crate::{
    array::{self, fill, write},
    error::value_error,
    rules,
};

/// A function from boards (n, N, N) to actions (n,).
pub(crate) struct Function<'a> {
    pub(crate) function: &'a Py<PyAny>,
    /// The exception that it raised or caused.
    pub(crate) error: Mutex<Option<PyErr>>,
    /// Set if there is an error.
    pub(crate) stop: &'a AtomicBool,
}

impl Function<'_> {
    fn ask<const N: usize>(&self, states: &[State<N>]) -> PyResult<Vec<Move>> {
        Python::attach(|py| {
            let boards = PyArrayDyn::<u8>::zeros(py, [states.len(), N, N].as_slice(), false);
            fill(&boards, |to| {
                let each = to.chunks_exact_mut(N * N).zip(states);
                each.for_each(|(to, state)| write(&state.board(), to));
                Ok(())
            })?;
            let found = self.function.bind(py).call1((boards,))?;
            let actions = array::actions(&found, &[states.len()])?;
            let moves = actions.as_slice()?.iter().zip(states).enumerate();
            moves.map(|(index, (&number, state))| checked(index, number, *state)).collect()
        })
    }
}

/// The move with this number, if it is legal.
fn checked<const N: usize>(index: usize, number: i64, state: State<N>) -> PyResult<Move> {
    let a = rules::action(index, number)?;
    match state.legal_moves().contains(a) {
        true => Ok(a),
        false => Err(value_error(format!("the policy plays {a} on {state}, where nothing would move"))),
    }
}

impl<const N: usize> Policy<N> for Function<'_> {
    fn choose(&self, states: &[State<N>], moves: &mut Vec<Move>) {
        let asked = if self.stop.load(Relaxed) { None } else { Some(self.ask(states)) };
        match asked {
            Some(Ok(made)) => return moves.extend(made),
            Some(Err(error)) => {
                self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                self.stop.store(true, Relaxed);
            }
            None => {}
        }
        // The solver needs some moves until it notices that it is stopped.
        moves.extend(states.iter().filter_map(|state| state.legal_moves().next()));
    }
}
