//! Models: values, advice, games.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use afterstate_dcnn::{ValuePlayer, Work};
use afterstate_game::{Afterstate, Board};
use afterstate_lab::{
    deal::Deck,
    evaluate::{Games, PlayOutcome, SEED},
    model::{self, BUILT_IN, Kind, Search},
    run::Directory,
    stats::{EvalReport, Summary},
};
use afterstate_network::Values;
use afterstate_search::Limit;
use numpy::{IntoPyArray, PyArrayDyn};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::{
    advice::{BlockPlan, advise, in_blocks},
    array::{Boards, boards, fill, output, released},
    error::{model_error, value_error},
    interrupt::{abandonable, interruptible},
    model_files::{export_file, export_network},
    number::{Natural, thread_count},
    side::with_side,
};

/// The number of boards read at a time: they stay in a second-level cache until their values are known, and few blocks
/// have to fill and drain the prefetches of a batch.
const BLOCK: usize = 4096;

/// With fewer boards than this, starting a thread takes longer than the work.
const WORTH_A_THREAD: usize = 1 << 14;

/// The same for a DCNN, which takes a thousand times as long.
const DCNN_BLOCK: usize = 64;

/// The approximate nanoseconds of a value of an n-tuple network, if few are computed, and of a small DCNN.
const VALUE: usize = 300;
const DCNN_VALUE: usize = 100_000;

/// A model that plays: an n-tuple network or a DCNN.
#[pyclass(module = "afterstate_2048", frozen)]
pub(crate) struct Model {
    path: Option<PathBuf>,
    name: String,
    inner: Mutex<Option<Arc<model::Model>>>,
}

/// Loads a model: a file, the directory of a run, or `built-in`.
#[pyfunction]
#[pyo3(signature = (model=PathBuf::from(BUILT_IN)), text_signature = "(model='built-in')")]
pub(crate) fn load(py: Python<'_>, model: PathBuf) -> PyResult<Model> {
    let path = model.clone();
    let loaded = abandonable(py, move || model::Model::open(Some(&path)))?.map_err(model_error)?;
    let is_built_in = model == Path::new(BUILT_IN) && !model.exists();
    let file = if model.is_dir() { Directory::new(&model).model() } else { model.clone() };
    let path = (!is_built_in).then_some(file);
    Ok(Model::new(path, model.to_string_lossy().into_owned(), Arc::new(loaded)))
}

/// Parses a search for a model; greedy by default.
fn search_of(model: &model::Model, search: Option<&str>) -> PyResult<Search> {
    let search = model.search(search, Limit::Plies(1)).map_err(model_error)?;
    if search.spec().is_some_and(|spec| !spec.is_greedy() && spec.search.is_some()) {
        model.afterstates("a search").map_err(model_error)?;
    }
    Ok(search)
}

/// Rejects models without values of afterstates or states.
fn check_values(model: &model::Model) -> PyResult<()> {
    match &model.kind {
        Kind::Network(network) if network.spec().values == Values::Actions => {
            Err(value_error(format!("{} has values of actions, not of afterstates", model.name)))
        }
        Kind::Dcnn(..) if model.is_policy() => Err(value_error(format!(
            "{} is a policy: it has no values, but advise() says what it would play",
            model.name
        ))),
        Kind::Exact(_) => {
            Err(value_error(format!("{} is a solution: advise() gives its values of moves", model.name)))
        }
        _ => Ok(()),
    }
}

/// The values of afterstates, or of states if the network has those.
fn evaluate<const N: usize>(model: &model::Model, afterstates: &[Afterstate<N>], to: &mut [f32]) {
    match &model.kind {
        Kind::Network(network) => network.values(afterstates, to),
        Kind::Dcnn(dcnn, _) => {
            // The network is for 4×4 boards, which was checked.
            let board =
                |afterstate: &Afterstate<N>| Board::<4>::from_exponents(&afterstate.board().bytes()).ok();
            let boards: Vec<_> = afterstates.iter().filter_map(board).collect();
            let outputs = dcnn.forward(&boards, &mut Work::default()).to_vec();
            to.iter_mut().zip(outputs).for_each(|(to, output)| *to = ValuePlayer::UNIT * output);
        }
        Kind::Exact(_) => to.fill(f32::NAN),
    }
}

impl Model {
    pub(crate) fn new(path: Option<PathBuf>, name: String, inner: Arc<model::Model>) -> Self {
        Model { path, name, inner: Mutex::new(Some(inner)) }
    }

    /// Plays this many games of a seed.
    fn games(
        &self,
        py: Python<'_>,
        games: Natural,
        search: Option<&str>,
        seed: Natural,
        threads: i64,
    ) -> PyResult<(Arc<model::Model>, Search, PlayOutcome)> {
        let model = self.open()?;
        let search = search_of(&model, search)?;
        if games.0 == 0 {
            return Err(no_games());
        }
        let threads = thread_count(threads)?;
        let games = Games { rules: model.rules, seed: seed.0, dealer: &Deck::new(games.0) };
        let outcome =
            interruptible(py, |stop| model.play(search, games, threads, None, |_| !stop.load(Relaxed)))?;
        let outcome = outcome.map_err(model_error)?;
        let outcome = outcome.ok_or_else(|| PyRuntimeError::new_err("the games were not played"))?;
        Ok((model, search, outcome))
    }

    /// The model, unless it has been closed.
    pub(crate) fn open(&self) -> PyResult<Arc<model::Model>> {
        let model = self.inner.lock().unwrap_or_else(PoisonError::into_inner).clone();
        model.ok_or_else(|| value_error(format!("the model {} is closed", self.name)))
    }
}

fn no_games() -> PyErr {
    value_error("games must be at least 1")
}

/// The values of boards, in an array of their leading shape.
pub(crate) fn values_of<'py>(
    py: Python<'py>,
    model: &model::Model,
    afterstates: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: i64,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    check_values(model)?;
    let afterstates = Boards::of_side("afterstates", afterstates, model.side())?;
    let values = output::<f32>(py, out, "float32", &afterstates.lead)?;
    let (bytes, count) = (afterstates.bytes()?, afterstates.len());
    let (block, worth_a_thread, nanoseconds) = match model.kind {
        Kind::Dcnn(..) => (DCNN_BLOCK, DCNN_BLOCK, DCNN_VALUE),
        _ => (BLOCK, WORTH_A_THREAD, VALUE),
    };
    let threads = thread_count(threads)?.min(count.div_ceil(worth_a_thread)).max(1);
    fill(&values, |to| {
        let mut run = |stop: &AtomicBool| {
            let plan = BlockPlan { each: 1, block, threads };
            with_side!(model.side(), N => {
                let work = |afterstates: &[Afterstate<N>], to: &mut [f32]| evaluate(model, afterstates, to);
                in_blocks(bytes, to, plan, stop, Afterstate::<N>::new, work)
            })
        };
        // So few take at most some milliseconds, or tens of them with a DCNN.
        let found = match count <= worth_a_thread {
            true => released(py, count, nanoseconds, || run(&AtomicBool::new(false))),
            false => interruptible(py, run)?,
        };
        Ok(found?)
    })?;
    Ok(values)
}

#[pymethods]
impl Model {
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The model file; None for the built-in model.
    #[getter]
    fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        Ok(match &self.open()?.kind {
            Kind::Network(_) => "n-tuple",
            Kind::Dcnn(..) => "dcnn",
            Kind::Exact(_) => "exact",
        })
    }

    #[getter]
    fn size(&self) -> PyResult<usize> {
        Ok(self.open()?.side())
    }

    /// The probability of a 4 under the rules that it was trained with.
    #[getter]
    fn four(&self) -> PyResult<f64> {
        Ok(self.open()?.rules.four)
    }

    #[getter]
    fn closed(&self) -> bool {
        self.open().is_err()
    }

    /// The metadata of the network: tuples, stages, and so on.
    #[getter]
    fn spec(&self) -> PyResult<std::collections::BTreeMap<String, String>> {
        Ok(match &self.open()?.kind {
            Kind::Network(network) => afterstate_network::file::metadata(network.spec(), &Default::default()),
            Kind::Exact(_) => Default::default(),
            Kind::Dcnn(dcnn, _) => {
                let spec = dcnn.spec();
                [
                    ("architecture", format!("{:?}", spec.architecture)),
                    ("weights", spec.weights().to_string()),
                ]
                .map(|(key, value)| (key.to_owned(), value))
                .into()
            }
        })
    }

    /// Frees its memory.
    fn close(&self, py: Python<'_>) {
        let model = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Unmapping gigabytes takes long.
        py.detach(|| drop(model));
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*args))]
    fn __exit__(&self, args: &Bound<'_, PyAny>) {
        self.close(args.py());
    }

    fn __repr__(&self) -> String {
        let closed = if self.closed() { ", closed" } else { "" };
        format!("Model({:?}{closed})", self.name)
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
        values_of(py, &*self.open()?, afterstates, out, threads)
    }

    /// The seconds that Rust alone needs for the values of these afterstates, in one call; a baseline for `values`.
    fn _batch_seconds(&self, py: Python<'_>, afterstates: &Bound<'_, PyAny>) -> PyResult<f64> {
        let model = self.open()?;
        let afterstates = Boards::of_side("afterstates", afterstates, model.side())?;
        let network = model.network("`_batch_seconds`").map_err(model_error)?;
        let bytes = afterstates.bytes()?;
        with_side!(model.side(), N => {
            let read: Result<Vec<_>, _> = boards::<N>(bytes).map(|board| board.map(Afterstate::new)).collect();
            let (read, mut values) = (read?, vec![0.0; afterstates.len()]);
            Ok(py.detach(|| {
                let start = Instant::now();
                network.values(&read, &mut values);
                start.elapsed().as_secs_f64()
            }))
        })
    }

    /// The values of the four moves of each board, NaN where a move is illegal.
    #[pyo3(signature = (boards, search=None, *, threads=0))]
    fn advise<'py>(
        &self,
        py: Python<'py>,
        boards: &Bound<'py, PyAny>,
        search: Option<&str>,
        threads: i64,
    ) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
        let model = self.open()?;
        let boards = Boards::of_side("boards", boards, model.side())?;
        let search = search_of(&model, search)?;
        let values = output::<f32>(py, None, "float32", &boards.shape(&[4]))?;
        let (bytes, threads) = (boards.bytes()?, thread_count(threads)?);
        fill(&values, |to| {
            let advise = |stop: &AtomicBool| with_side!(model.side(), N => advise::<N>(&model, search, bytes, to, threads, stop));
            interruptible(py, advise)?
        })?;
        Ok(values)
    }

    /// Plays numbered games, the same on any number of threads: `Results` of arrays.
    #[pyo3(
        signature = (games, search=None, seed=Natural(SEED), *, threads=0),
        text_signature = "($self, games, search=None, seed=2048, *, threads=0)"
    )]
    fn play<'py>(
        &self,
        py: Python<'py>,
        games: Natural,
        search: Option<&str>,
        seed: Natural,
        threads: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let results = self.games(py, games, search, seed, threads)?.2.results;
        let games: Vec<_> = results.iter().map(|result| result.game).collect();
        let scores: Vec<_> = results.iter().map(|result| result.score).collect();
        let tiles: Vec<_> = results.iter().map(|result| 1u32 << result.max_exponent).collect();
        let moves: Vec<_> = results.iter().map(|result| result.moves).collect();
        let arrays =
            (games.into_pyarray(py), scores.into_pyarray(py), tiles.into_pyarray(py), moves.into_pyarray(py));
        py.import("afterstate_2048.models")?.getattr("Results")?.call1(arrays)
    }

    /// The weights by tensor name.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.open()?;
        if self.path.is_none() && self.name != BUILT_IN {
            return Err(value_error("a learner's weights are in its tables()"));
        }
        py.import("afterstate_2048.models")?.getattr("weights")?.call1((self.path.as_deref(),))
    }

    /// Writes it as a .w file of TDL2048+.
    fn export(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let model = self.open()?;
        let Kind::Network(network) = &model.kind else {
            return Err(value_error(format!("{} is no n-tuple network: TDL2048+ cannot hold it", self.name)));
        };
        match &self.path {
            None if self.name != BUILT_IN => export_network(py, network, &path),
            file => export_file(py, file.as_deref().unwrap_or(Path::new(BUILT_IN)), &path),
        }
    }

    /// Plays numbered games: the object of `afterstate eval --json`, as text.
    #[pyo3(signature = (games, search, seed, threads))]
    fn evaluate_json(
        &self,
        py: Python<'_>,
        games: Natural,
        search: Option<&str>,
        seed: Natural,
        threads: i64,
    ) -> PyResult<String> {
        let start = Instant::now();
        let (model, search, outcome) = self.games(py, games, search, seed, threads)?;
        let seconds = start.elapsed().as_secs_f64();
        let summary = Summary::of(model.side(), &outcome.results).ok_or_else(no_games)?;
        let report = EvalReport::new(&self.name, &search.to_string(), seed.0, &summary, seconds);
        let report = EvalReport { move_ms: outcome.times.summary(), ..report };
        serde_json::to_string(&report).map_err(value_error)
    }
}
