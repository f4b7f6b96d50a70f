//! Models: values, advice, games.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use afterstate_dcnn::{DcnnPlayer, Play, ValuePlayer, Work};
use afterstate_game::{Afterstate, Board, Rules};
use afterstate_lab::{
    evaluate::{Contest, Games, Outcome, SEED, evaluate_players},
    model::{BUILT_IN, Loaded, LoadedDcnn},
    run::Directory,
    stats::{EvalReport, Summary},
};
use afterstate_network::Values;
use afterstate_search::{Limit, PlayerSpec};
use numpy::{IntoPyArray, PyArrayDyn};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::{
    advice::{Plan, advise_by_net, advise_by_search, in_blocks},
    array::{Boards, FEW, boards, fill, output},
    error::{model_error, value_error},
    interrupt::interruptible,
    model_files::{export_file, export_network},
    number::{Natural, thread_count},
    side::with_side,
};

/// Boards that are read at a time: they stay in a first-level cache until their values are known.
const BLOCK: usize = 512;

/// Fewer boards take less time than a thread takes to start.
const WORTH_A_THREAD: usize = 1 << 14;

/// A model in memory.
pub(crate) enum Kind {
    Tuples(Box<Loaded>),
    Dcnn(Box<LoadedDcnn>),
}

/// How a model plays.
#[derive(Clone, Copy)]
enum Manner {
    Search(PlayerSpec),
    Vote(Play),
}

/// A model that plays: an n-tuple network or a DCNN.
#[pyclass(module = "afterstate_2048", frozen)]
pub(crate) struct Model {
    path: Option<PathBuf>,
    name: String,
    kind: Mutex<Option<Arc<Kind>>>,
}

/// Loads a model: a file, the directory of a run, or `built-in`.
#[pyfunction]
#[pyo3(signature = (model=PathBuf::from(BUILT_IN)), text_signature = "(model='built-in')")]
pub(crate) fn load(py: Python<'_>, model: PathBuf) -> PyResult<Model> {
    let loaded = interruptible(py, |_| open(&model))?.map_err(model_error)?;
    let is_built_in = model == Path::new(BUILT_IN) && !model.exists();
    let file = if model.is_dir() { Directory::new(&model).model() } else { model.clone() };
    let path = (!is_built_in).then_some(file);
    Ok(Model::new(path, model.to_string_lossy().into_owned(), Arc::new(loaded)))
}

fn open(model: &Path) -> Result<Kind, afterstate_lab::model::ModelError> {
    match LoadedDcnn::open(model)? {
        Some(net) => Ok(Kind::Dcnn(Box::new(net))),
        None => Loaded::open(Some(model)).map(|loaded| Kind::Tuples(Box::new(loaded))),
    }
}

impl Kind {
    fn side(&self) -> usize {
        match self {
            Kind::Tuples(loaded) => loaded.side(),
            Kind::Dcnn(_) => 4,
        }
    }

    fn rules(&self) -> Rules {
        match self {
            Kind::Tuples(loaded) => loaded.rules,
            Kind::Dcnn(_) => Rules::default(),
        }
    }

    /// How it plays when it is told to play so.
    fn manner(&self, search: Option<&str>) -> PyResult<Manner> {
        match self {
            Kind::Dcnn(net) => net.play(search).map(Manner::Vote).map_err(model_error),
            Kind::Tuples(loaded) => {
                let spec = search.map_or(Ok(PlayerSpec::new(Limit::Plies(1))), str::parse);
                let spec = loaded.search(spec.map_err(value_error)?);
                if !spec.is_greedy() && spec.search.is_some() {
                    loaded.check_afterstates("a search").map_err(model_error)?;
                }
                Ok(Manner::Search(spec))
            }
        }
    }

    fn manner_name(&self, manner: Manner) -> String {
        match (self, manner) {
            (Kind::Dcnn(net), Manner::Vote(play)) => net.play_name(play),
            (_, Manner::Search(spec)) => spec.to_string(),
            (Kind::Tuples(_), Manner::Vote(play)) => play.to_string(),
        }
    }

    /// Values of afterstates, or of states where the network has those.
    fn check_values(&self) -> PyResult<()> {
        match self {
            Kind::Dcnn(net) if net.net.spec().outputs() != 1 => Err(value_error(format!(
                "{} is a policy: it has no values, but advise() says what it would play",
                net.name
            ))),
            Kind::Tuples(loaded) if loaded.network.spec().values == Values::Actions => {
                Err(value_error(format!("{} has values of actions: advise() gives them", loaded.name)))
            }
            _ => Ok(()),
        }
    }

    fn values_of<const N: usize>(&self, afterstates: &[Afterstate<N>], to: &mut [f32]) {
        match self {
            Kind::Tuples(loaded) => loaded.network.values(afterstates, to),
            Kind::Dcnn(net) => {
                // A network is of 4×4 boards, which was checked.
                let board =
                    |afterstate: &Afterstate<N>| Board::<4>::from_exponents(&afterstate.board().bytes()).ok();
                let boards: Vec<_> = afterstates.iter().filter_map(board).collect();
                let outputs = net.net.forward(&boards, &mut Work::default()).to_vec();
                to.iter_mut().zip(outputs).for_each(|(to, output)| *to = ValuePlayer::UNIT * output);
            }
        }
    }
}

impl Model {
    pub(crate) fn new(path: Option<PathBuf>, name: String, kind: Arc<Kind>) -> Self {
        Model { path, name, kind: Mutex::new(Some(kind)) }
    }

    /// Plays so many games of a seed.
    fn games(
        &self,
        py: Python<'_>,
        games: Natural,
        search: Option<&str>,
        seed: Natural,
        threads: i64,
    ) -> PyResult<(Arc<Kind>, Outcome)> {
        let kind = self.open()?;
        let manner = kind.manner(search)?;
        if games.0 == 0 {
            return Err(no_games());
        }
        let threads = thread_count(threads)?;
        let games = Games { rules: kind.rules(), seed: seed.0, count: games.0 };
        let outcome = interruptible(py, |stop| play(&kind, manner, games, threads, stop))?;
        let outcome = outcome.ok_or_else(|| PyRuntimeError::new_err("the games were not played"))?;
        Ok((kind, outcome))
    }

    /// The model, unless it is closed.
    pub(crate) fn open(&self) -> PyResult<Arc<Kind>> {
        let kind = self.kind.lock().unwrap_or_else(PoisonError::into_inner).clone();
        kind.ok_or_else(|| value_error(format!("the model {} is closed", self.name)))
    }
}

fn no_games() -> PyErr {
    value_error("games must be at least 1")
}

/// The values of boards, in an array of their leading shape.
pub(crate) fn values_of<'py>(
    py: Python<'py>,
    kind: &Kind,
    afterstates: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: i64,
) -> PyResult<Bound<'py, PyArrayDyn<f32>>> {
    kind.check_values()?;
    let afterstates = Boards::of_side("afterstates", afterstates, kind.side())?;
    let values = output::<f32>(py, out, "float32", &afterstates.lead)?;
    let (bytes, count) = (afterstates.bytes()?, afterstates.len());
    let threads = thread_count(threads)?.min(count.div_ceil(WORTH_A_THREAD)).max(1);
    fill(&values, |to| {
        let mut run = |stop: &AtomicBool| {
            let plan = Plan { each: 1, block: BLOCK, threads };
            with_side!(kind.side(), N => {
                let work = |afterstates: &[Afterstate<N>], to: &mut [f32]| kind.values_of(afterstates, to);
                in_blocks(bytes, to, plan, stop, Afterstate::<N>::new, work)
            })
        };
        let found = match count {
            ..=FEW => run(&AtomicBool::new(false)),
            // Some milliseconds at most.
            _ if count <= WORTH_A_THREAD => py.detach(|| run(&AtomicBool::new(false))),
            _ => interruptible(py, run)?,
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
        Ok(match &*self.open()? {
            Kind::Tuples(_) => "n-tuple",
            Kind::Dcnn(_) => "dcnn",
        })
    }

    #[getter]
    fn size(&self) -> PyResult<usize> {
        Ok(self.open()?.side())
    }

    /// The probability of a 4 under the rules that it has learned.
    #[getter]
    fn four(&self) -> PyResult<f64> {
        Ok(self.open()?.rules().four)
    }

    #[getter]
    fn closed(&self) -> bool {
        self.open().is_err()
    }

    /// The metadata of the network: tuples, stages, and so on.
    #[getter]
    fn spec(&self) -> PyResult<std::collections::BTreeMap<String, String>> {
        Ok(match &*self.open()? {
            Kind::Tuples(loaded) => {
                afterstate_network::file::metadata(loaded.network.spec(), &Default::default())
            }
            Kind::Dcnn(net) => {
                let spec = net.net.spec();
                [
                    ("architecture", format!("{:?}", spec.architecture)),
                    ("weights", spec.weights().to_string()),
                ]
                .map(|(key, value)| (key.to_owned(), value))
                .into()
            }
        })
    }

    /// Gives its memory back.
    fn close(&self) {
        self.kind.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyAny>) {
        self.close();
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

    /// The seconds that Rust alone takes for the values of these afterstates, in one call: what `values` is compared with.
    fn _batch_seconds(&self, py: Python<'_>, afterstates: &Bound<'_, PyAny>) -> PyResult<f64> {
        let kind = self.open()?;
        let afterstates = Boards::of_side("afterstates", afterstates, kind.side())?;
        let Kind::Tuples(loaded) = &*kind else { return Err(value_error("no n-tuple network")) };
        let bytes = afterstates.bytes()?;
        with_side!(kind.side(), N => {
            let read: Result<Vec<_>, _> = boards::<N>(bytes).map(|board| board.map(Afterstate::new)).collect();
            let (read, mut values) = (read?, vec![0.0; afterstates.len()]);
            Ok(py.detach(|| {
                let start = Instant::now();
                loaded.network.values(&read, &mut values);
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
        let kind = self.open()?;
        let boards = Boards::of_side("boards", boards, kind.side())?;
        let manner = kind.manner(search)?;
        let values = output::<f32>(py, None, "float32", &boards.shape(&[4]))?;
        let (bytes, threads) = (boards.bytes()?, thread_count(threads)?);
        fill(&values, |to| {
            let advise = |stop: &AtomicBool| match (&*kind, manner) {
                (Kind::Dcnn(net), Manner::Vote(play)) => advise_by_net(net, play, bytes, to, threads, stop),
                (Kind::Tuples(loaded), Manner::Search(spec)) => {
                    with_side!(kind.side(), N => advise_by_search::<N>(loaded, spec, bytes, to, threads, stop))
                }
                _ => Ok(()),
            };
            Ok(interruptible(py, advise)??)
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
        let results = self.games(py, games, search, seed, threads)?.1.results;
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
        let kind = self.open()?;
        let Kind::Tuples(loaded) = &*kind else {
            return Err(value_error(format!("{} is no n-tuple network: TDL2048+ cannot hold it", self.name)));
        };
        match &self.path {
            None if self.name != BUILT_IN => export_network(py, &loaded.network, &path),
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
        let (kind, outcome) = self.games(py, games, search, seed, threads)?;
        let seconds = start.elapsed().as_secs_f64();
        let summary = Summary::of(kind.side(), &outcome.results).ok_or_else(no_games)?;
        let manner = kind.manner(search)?;
        let report = EvalReport::new(&self.name, &kind.manner_name(manner), seed.0, &summary, seconds);
        let report = EvalReport { move_ms: outcome.times.summary(), ..report };
        serde_json::to_string(&report).map_err(value_error)
    }
}

fn play(kind: &Kind, manner: Manner, games: Games, threads: usize, stop: &AtomicBool) -> Option<Outcome> {
    let played = &HashSet::new();
    let watch = |_: &[_]| !stop.load(Relaxed);
    match (kind, manner) {
        (Kind::Tuples(loaded), Manner::Search(player)) => {
            let network = &loaded.network;
            Contest { network, player, games, played, threads, collect: None, endgames: None }.play(watch)
        }
        (Kind::Dcnn(net), Manner::Vote(play)) => {
            evaluate_players(games, played, threads, || DcnnPlayer::new(&net.net, play), watch)
        }
        _ => None,
    }
}
