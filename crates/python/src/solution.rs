//! Exact values on small boards.

use std::{
    path::PathBuf,
    sync::{Mutex, atomic::AtomicBool},
};

use afterstate_game::{Afterstate, Rules, State};
use afterstate_solver::{
    Boards as Asked, Evaluation, Objective, Solution as Solved, SolutionError, SolverSettings, Space,
    evaluate,
};
use numpy::PyArrayDyn;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    array::{self, Bad, Boards, output},
    error::{solution_error, value_error},
    interrupt::{abandonable, interruptible, unwind_if},
    number::thread_count,
    policy::Function,
    rules::mapped,
    side::check_four,
};

/// The approximate nanoseconds of a value lookup.
const VALUE: usize = 100;

enum Sided {
    Two(Solved<2>),
    Three(Solved<3>),
}

/// Evaluates an expression with the solution, whatever its side.
macro_rules! sided {
    ($solution:expr, $solved:ident => $body:expr) => {
        match $solution {
            Sided::Two($solved) => $body,
            Sided::Three($solved) => $body,
        }
    };
}

/// The exact values of a small board under optimal play.
#[pyclass(module = "afterstate_2048", frozen)]
pub(crate) struct Solution(Sided);

/// Solves a small board.
#[pyfunction]
#[pyo3(signature = (size=3, *, goal=None, four=0.1, threads=0))]
pub(crate) fn solve(
    py: Python<'_>,
    size: i64,
    goal: Option<i64>,
    four: f64,
    threads: i64,
) -> PyResult<Solution> {
    let objective = match goal {
        None => Objective::Score,
        Some(tile @ 4..=1024) if tile.count_ones() == 1 => Objective::Goal(tile.trailing_zeros() as u8),
        Some(tile) => return Err(value_error(format!("goal must be a tile from 4 to 1024, not {tile}"))),
    };
    let rules = Rules { four: check_four(four)?, ..Rules::default() };
    let threads = thread_count(threads)?;
    let solved = interruptible(py, |stop| match size {
        2 => Some(Sided::Two(Space::enumerate(&rules, threads, |_| unwind_if(stop)).solve(
            objective,
            threads,
            |_| unwind_if(stop),
        ))),
        3 => Some(Sided::Three(Space::enumerate(&rules, threads, |_| unwind_if(stop)).solve(
            objective,
            threads,
            |_| unwind_if(stop),
        ))),
        _ => None,
    })?;
    solved.map(Solution).ok_or_else(|| value_error(format!("size must be 2 or 3, not {size}")))
}

#[pymethods]
impl Solution {
    /// Opens a file of `afterstate solve -o FILE`, or of `save`.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let open = move || match Solved::<3>::open(&path) {
            Ok(solution) => Ok(Sided::Three(solution)),
            Err(SolutionError::Side { found: 2, .. }) => Solved::<2>::open(&path).map(Sided::Two),
            Err(error) => Err(error),
        };
        abandonable(py, open)?.map(Solution).map_err(solution_error)
    }

    /// Writes the solution to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let save =
            |stop: &AtomicBool| sided!(&self.0, solved => solved.save_watched(&path, || unwind_if(stop)));
        interruptible(py, save)?.map_err(solution_error)
    }

    #[getter]
    fn size(&self) -> usize {
        match self.0 {
            Sided::Two(_) => 2,
            Sided::Three(_) => 3,
        }
    }

    /// `score`, or the tile whose probability the values are.
    #[getter]
    fn objective(&self) -> String {
        match sided!(&self.0, solved => solved.objective()) {
            Objective::Score => "score".to_owned(),
            Objective::Goal(exponent) => (1u32 << exponent).to_string(),
        }
    }

    /// The probability of a 4.
    #[getter]
    fn four(&self) -> f64 {
        sided!(&self.0, solved => solved.rules().four)
    }

    /// The expected value at the random start.
    #[getter]
    fn expected(&self) -> f64 {
        sided!(&self.0, solved => solved.expected())
    }

    /// The number of reachable states, up to symmetry.
    #[getter]
    fn states(&self) -> u64 {
        sided!(&self.0, solved => solved.states())
    }

    /// The number of reachable afterstates, up to symmetry.
    #[getter]
    fn afterstates(&self) -> u64 {
        sided!(&self.0, solved => solved.afterstates())
    }

    fn __repr__(&self) -> String {
        let (size, expected) = (self.size(), self.expected());
        format!("Solution({size}×{size}, {}, expected={expected:.2})", self.objective())
    }

    /// The exact value of each afterstate; NaN if no game can reach it.
    #[pyo3(signature = (afterstates, out=None))]
    fn values<'py>(
        &self,
        py: Python<'py>,
        afterstates: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        fn all<const N: usize>(solved: &Solved<N>, bytes: &[u8], to: &mut [f64]) -> Result<(), Bad> {
            for (board, to) in array::boards::<N>(bytes).zip(to) {
                *to = solved.value(Afterstate::new(board?)).unwrap_or(f64::NAN);
            }
            Ok(())
        }
        let afterstates = Boards::of_side("afterstates", afterstates, self.size())?;
        let values = output::<f64>(py, out, "float64", &afterstates.lead)?;
        let bytes = afterstates.bytes()?;
        let run = |bytes: &[u8], to: &mut [f64]| sided!(&self.0, solved => all(solved, bytes, to));
        mapped(py, &afterstates, bytes, VALUE, &values, 1, run)?;
        Ok(values)
    }

    /// The return of each move of each board under optimal play after it; NaN if it is illegal, or no game reaches it.
    fn move_values<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        fn all<const N: usize>(solved: &Solved<N>, bytes: &[u8], to: &mut [f64]) -> Result<(), Bad> {
            for (board, to) in array::boards::<N>(bytes).zip(to.chunks_exact_mut(4)) {
                let values = solved.move_values(State::new(board?));
                to.iter_mut().zip(values).for_each(|(to, value)| *to = value.unwrap_or(f64::NAN));
            }
            Ok(())
        }
        let boards = Boards::of_side("boards", boards, self.size())?;
        let values = output::<f64>(py, None, "float64", &boards.shape(&[4]))?;
        let bytes = boards.bytes()?;
        let run = |bytes: &[u8], to: &mut [f64]| sided!(&self.0, solved => all(solved, bytes, to));
        mapped(py, &boards, bytes, 4 * VALUE, &values, 4, run)?;
        Ok(values)
    }

    /// The exact value of a policy, which is called for every board that it reaches.
    #[pyo3(signature = (policy, *, canonical=false))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        policy: Py<PyAny>,
        canonical: bool,
    ) -> PyResult<Bound<'py, PyDict>> {
        if !policy.bind(py).is_callable() {
            return Err(crate::error::type_error("policy must be a function from boards to actions"));
        }
        sided!(&self.0, solved => {
            let evaluation = evaluate_function(py, solved, &policy, canonical)?;
            as_dict(py, &evaluation)
        })
    }
}

fn evaluate_function<const N: usize>(
    py: Python<'_>,
    solved: &Solved<N>,
    function: &Py<PyAny>,
    canonical: bool,
) -> PyResult<Evaluation<N>> {
    let mut raised = None;
    let evaluated = interruptible(py, |stop| {
        let function = Function { function, error: Mutex::default(), stop };
        let settings = SolverSettings {
            rules: solved.rules(),
            boards: if canonical { Asked::Canonical } else { Asked::All },
            until: solved.objective(),
            optimum: Some(solved),
            // The interpreter runs one thread at a time.
            threads: 1,
        };
        let run = || evaluate(&function, &settings, |_| unwind_if(stop));
        let evaluation = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        raised = function.error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        evaluation.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    match raised {
        Some(error) => Err(error),
        None => evaluated,
    }
}

fn as_dict<'py, const N: usize>(py: Python<'py>, evaluation: &Evaluation<N>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("score", evaluation.expected_score)?;
    dict.set_item("sd", evaluation.sd)?;
    dict.set_item("moves", evaluation.expected_moves)?;
    dict.set_item("states", evaluation.states)?;
    let tiles = PyDict::new(py);
    for (exponent, probability) in (1u32..).zip(&evaluation.tiles) {
        tiles.set_item(1u32 << exponent, probability)?;
    }
    dict.set_item("tiles", tiles)?;
    if let Some(regret) = &evaluation.regret {
        dict.set_item("regret", regret.total)?;
        dict.set_item("mistakes", regret.mistakes)?;
        let worst = regret.worst.iter().map(|mistake| {
            let entry = PyDict::new(py);
            entry.set_item("board", mistake.state.to_string())?;
            entry.set_item("played", mistake.played as u8)?;
            entry.set_item("best", mistake.best as u8)?;
            entry.set_item("regret", mistake.regret)?;
            entry.set_item("probability", mistake.probability)?;
            entry.set_item("loss", mistake.loss)?;
            Ok(entry)
        });
        dict.set_item("worst", worst.collect::<PyResult<Vec<_>>>()?)?;
    }
    Ok(dict)
}
