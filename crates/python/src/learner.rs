//! A network for custom experiments: values of afterstates, and steps towards targets computed in Python.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use afterstate_game::Afterstate;
use afterstate_lab::model::{self, Kind};
use afterstate_learning::{StepSizeSpec, Updater};
use afterstate_network::{Network, NetworkError, NetworkSpec, TupleError, Tuples};
use numpy::{PyArray1, PyArrayDyn};
use pyo3::{exceptions::PyMemoryError, prelude::*};

use crate::{
    array::{self, Bad, Boards, boards, fill, output, part, part_mut},
    error::{file_error, model_error, value_error},
    interrupt::{abandonable, by_blocks, interruptible},
    model::{Model, values_of},
    model_files::{save, tables_of},
    number::Natural,
    side::{check_side, with_side},
};

/// The approximate nanoseconds of reading a board, and of learning from one.
const READ: usize = 5;
const UPDATE: usize = 500;

/// An n-tuple network that learns from targets.
#[pyclass(module = "afterstate_2048", frozen)]
pub(crate) struct Learner {
    model: Arc<model::Model>,
    /// The updaters of the rules used so far, with their state.
    updaters: Mutex<BTreeMap<String, Arc<Updater>>>,
    /// Held by the current update.
    updating: Mutex<()>,
}

/// The step sizes by name, with a rate of 1, which each update multiplies.
fn step_size(rule: &str) -> PyResult<StepSizeSpec> {
    match rule {
        "td" => Ok(StepSizeSpec::Fixed { alpha: 1.0 }),
        "tc" => Ok(StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 }),
        "autostep" => Ok(StepSizeSpec::Autostep { mu: 0.1, tau: 1e-4, alpha: 1.0 }),
        _ => Err(value_error(format!("rule must be one of \"td\", \"tc\", \"autostep\", not {rule:?}"))),
    }
}

/// A named set of tuples, or tuples as lists of cells.
fn tuples(text: &str) -> Result<Tuples, TupleError> {
    Tuples::named(text).or_else(|error| {
        let parsed = text.split_whitespace().map(str::parse).collect::<Result<Vec<_>, _>>();
        parsed.and_then(Tuples::new).map_err(|_| error)
    })
}

fn new_network(py: Python<'_>, spec: NetworkSpec) -> PyResult<Network> {
    abandonable(py, || Network::new(spec))?.map_err(|error| match error {
        NetworkError::Spec(error) => value_error(error),
        NetworkError::Memory(error) => PyMemoryError::new_err(error.to_string()),
    })
}

impl Learner {
    fn network(&self) -> PyResult<&Network> {
        self.model.network("a learner").map_err(model_error)
    }

    /// The updater of a rule, created on first use.
    fn updater(&self, py: Python<'_>, rule: &str, spec: StepSizeSpec) -> PyResult<Arc<Updater>> {
        let network = self.network()?;
        py.detach(|| {
            let mut updaters = self.updaters.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(updater) = updaters.get(rule) {
                return Ok(updater.clone());
            }
            let updater = Updater::new(network, spec);
            let updater = Arc::new(updater.map_err(|error| PyMemoryError::new_err(error.to_string()))?);
            updaters.insert(rule.to_owned(), updater.clone());
            Ok(updater)
        })
    }
}

#[pymethods]
impl Learner {
    #[new]
    #[pyo3(
        signature = (tuples="4x6", *, size=4, tile_values=Natural(16), symmetric=None, initial=0.0, model=None),
        text_signature = "(tuples='4x6', *, size=4, tile_values=16, symmetric=None, initial=0.0, model=None)"
    )]
    fn new(
        py: Python<'_>,
        tuples: &str,
        size: i64,
        tile_values: Natural,
        symmetric: Option<bool>,
        initial: f32,
        model: Option<PathBuf>,
    ) -> PyResult<Self> {
        let model = match model {
            Some(model) => {
                abandonable(py, move || model::Model::open_unfolded(Some(&model)))?.map_err(model_error)?
            }
            None => {
                let side = check_side(size)?;
                let set = self::tuples(tuples).map_err(value_error)?;
                let usual = Tuples::named_symmetric(tuples).unwrap_or(true);
                let spec = NetworkSpec {
                    side,
                    tuples: set,
                    tile_values: tile_values.0 as usize,
                    symmetric: symmetric.unwrap_or(usual),
                    initial: vec![initial],
                    ..NetworkSpec::default()
                };
                model::Model::new("learner".to_owned(), Kind::Network(new_network(py, spec)?))
            }
        };
        model.afterstates("a learner").map_err(model_error)?;
        Ok(Learner { model: Arc::new(model), updaters: Mutex::default(), updating: Mutex::default() })
    }

    /// V(s') of each afterstate.
    #[pyo3(signature = (afterstates, out=None, *, threads=1))]
    fn values<'py>(
        &self,
        py: Python<'py>,
        afterstates: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        threads: i64,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        values_of(py, &self.model, afterstates, out, threads)
    }

    /// Moves the value of each afterstate towards its target, one after the other; returns the errors before each step.
    #[pyo3(signature = (afterstates, targets, rule="tc", *, rate=1.0))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        afterstates: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        rule: &str,
        rate: f32,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let (network, spec) = (self.network()?, step_size(rule)?);
        let afterstates = Boards::of_side("afterstates", afterstates, network.spec().side)?;
        let targets = array::numbers::<f32>("targets", targets, "float32", &afterstates.lead)?;
        let targets = targets.as_slice()?;
        if !rate.is_finite() || targets.iter().any(|target| !target.is_finite()) {
            return Err(value_error("targets and rate must be finite"));
        }
        let errors = output::<f32>(py, None, "float32", &afterstates.lead)?;
        let (bytes, count) = (afterstates.bytes()?, afterstates.len());
        with_side!(network.spec().side, N => {
            // All boards are read first, so that nothing is learned from an array with an invalid board.
            let mut read = Vec::with_capacity(count);
            by_blocks(py, count, READ, |some| {
                for board in boards::<N>(part(bytes, &some, N * N)) {
                    read.push(Afterstate::new(board.map_err(|bad| bad.after(some.start))?));
                }
                Ok::<(), Bad>(())
            })?;
            let updater = self.updater(py, rule, spec)?;
            fill(&errors, |errors| {
                by_blocks(py, count, UPDATE, |some| -> PyResult<()> {
                    let (read, targets) = (part(&read, &some, 1), part(targets, &some, 1));
                    // Not held while signal handlers run, which may use this learner.
                    let _held = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
                    updater.update(network, read, targets, rate, part_mut(errors, &some, 1));
                    Ok(())
                })
            })?;
        });
        Ok(errors)
    }

    /// A model that plays by the current weights, including later updates.
    fn model(&self) -> PyResult<Model> {
        Ok(Model::new(None, self.model.name.clone(), self.model.clone()))
    }

    /// Copies of the tables, named as in files.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyArray1<f32>>)>> {
        tables_of(py, self.network()?)
    }

    /// Writes the network to a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let network = self.network()?;
        interruptible(py, |stop| save(network, &path, &BTreeMap::new(), stop))?.map_err(file_error)
    }

    #[getter]
    fn size(&self) -> PyResult<usize> {
        Ok(self.model.side())
    }

    /// The number of weights.
    #[getter]
    fn weights(&self) -> PyResult<u64> {
        Ok(self.network()?.spec().weights())
    }

    /// The metadata of the network.
    #[getter]
    fn spec(&self) -> PyResult<BTreeMap<String, String>> {
        Ok(afterstate_network::file::metadata(self.network()?.spec(), &BTreeMap::new()))
    }
}
