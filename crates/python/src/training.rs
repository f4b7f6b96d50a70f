//! Training in the background.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use afterstate_lab::{
    log::{EvalLine, LogLine},
    recipe::{Recipe, shipped},
    run::{Directory, Observer, Run, RunError, RunOutcome, Status},
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::{
    error::{run_error, value_error},
    interrupt::{interruptible, panic_error},
};

/// The interval at which a wait checks for Ctrl-C.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// The names of the shipped recipes.
#[pyfunction]
pub(crate) fn recipes() -> Vec<String> {
    shipped().map(|recipe| recipe.name).collect()
}

/// A training in a background thread.
#[pyclass(module = "afterstate_2048", frozen)]
pub(crate) struct Training {
    directory: PathBuf,
    recipe: String,
    shared: Arc<Shared>,
}

/// The state that the thread and its owner share.
#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The progress of training, as JSON.
    progress: Option<Value>,
    /// The result, once it has ended.
    result: Option<Result<Value, PyErr>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts or resumes a run. A recipe is a name, a file, or TOML text.
#[pyfunction]
#[pyo3(signature = (recipe, text, overrides, out, resume, callback))]
pub(crate) fn train(
    py: Python<'_>,
    recipe: String,
    text: Option<String>,
    overrides: Vec<String>,
    out: Option<PathBuf>,
    resume: bool,
    callback: Option<Py<PyAny>>,
) -> PyResult<Training> {
    let prepared = interruptible(py, |_| -> Result<Run, RunError> {
        let (directory, recipe) = resolve(&recipe, text.as_deref(), &overrides, out.as_deref(), resume)?;
        if resume { Run::resume(directory, recipe) } else { Run::start(directory, recipe) }
    })?;
    let run = prepared.map_err(run_error)?;
    let recipe = run.recipe().to_toml().map_err(value_error)?;
    let (directory, shared) = (run.directory().path().to_owned(), Arc::new(Shared::default()));
    let theirs = shared.clone();
    std::thread::spawn(move || {
        let mut reporter = Reporter { shared: &theirs, callback, error: None };
        let outcome = catch_unwind(AssertUnwindSafe(|| run.train(&theirs.stop, &mut reporter)));
        let result = match (reporter.error, outcome) {
            (Some(error), _) => Err(error),
            (None, Ok(outcome)) => outcome.map(|outcome| as_json(&outcome)).map_err(run_error),
            (None, Err(panic)) => Err(panic_error(&*panic)),
        };
        theirs.lock().result = Some(result);
        theirs.ended.notify_all();
    });
    Ok(Training { directory, recipe, shared })
}

/// The directory and the recipe of a run: those stored in the directory, if a run is resumed by it.
fn resolve(
    recipe: &str,
    text: Option<&str>,
    overrides: &[String],
    out: Option<&Path>,
    resume: bool,
) -> Result<(Directory, Recipe), RunError> {
    let named = Directory::new(recipe);
    if resume
        && out.is_none()
        && text.is_none()
        && let Some(stored) = Run::stored_recipe(&named, overrides)?
    {
        return Ok((named, stored));
    }
    let recipe = match text {
        Some(text) => Recipe::parse("python", recipe, text, overrides)?,
        None => Recipe::load(recipe, overrides)?,
    };
    let directory = match out {
        Some(path) => Directory::new(path),
        None => Directory::default_for(&recipe, Path::new("runs"))?,
    };
    Ok((directory, recipe))
}

fn as_json(outcome: &RunOutcome) -> Value {
    let progress = outcome.progress;
    json!({
        "finished": outcome.finished,
        "actions": progress.actions,
        "episodes": progress.episodes,
        "seconds": progress.seconds,
        "evaluation": outcome.evaluations.first(),
        "evaluations": outcome.evaluations,
    })
}

/// Stores the progress, and passes it to the callback.
struct Reporter<'a> {
    shared: &'a Shared,
    callback: Option<Py<PyAny>>,
    /// The exception that the callback raised.
    error: Option<PyErr>,
}

impl Reporter<'_> {
    /// Calls back with an event of this kind. An exception stops the training.
    fn tell(&mut self, kind: &str, mut event: Value) {
        let Some(callback) = self.callback.as_ref().filter(|_| self.error.is_none()) else { return };
        event["kind"] = kind.into();
        let told = Python::attach(|py| callback.call1(py, (to_python(py, &event)?,)).map(drop));
        if let Err(error) = told {
            self.error = Some(error);
            self.shared.stop.store(true, Relaxed);
        }
    }
}

impl Observer for Reporter<'_> {
    fn training(&mut self, status: &Status) {
        let progress = status.progress;
        let event = json!({
            "actions": progress.actions,
            "episodes": progress.episodes,
            "seconds": progress.seconds,
            "share": status.share,
            "seconds_left": status.seconds_left,
            "moves_per_second": status.moves_per_second,
            "mean_score": status.recent.mean_score(),
            "tiles": status.tiles,
        });
        self.shared.lock().progress = Some(event.clone());
        self.tell("progress", event);
    }

    fn logged(&mut self, line: &LogLine) {
        self.tell("log", serde_json::to_value(line).unwrap_or_default());
    }

    fn evaluated(&mut self, line: &EvalLine) {
        self.tell("evaluation", serde_json::to_value(line).unwrap_or_default());
    }

    fn warning(&mut self, error: &RunError) {
        self.tell("warning", json!({ "message": error.to_string() }));
    }
}

/// Converts a JSON value as Python's json module would.
fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

#[pymethods]
impl Training {
    /// The directory of the run.
    #[getter]
    fn directory(&self) -> &Path {
        &self.directory
    }

    /// The recipe with every default filled in, as TOML.
    #[getter]
    fn recipe(&self) -> &str {
        &self.recipe
    }

    /// Whether training has ended.
    #[getter]
    fn done(&self) -> bool {
        self.shared.lock().result.is_some()
    }

    /// The progress of training; None before the first report.
    #[getter]
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let progress = self.shared.lock().progress.clone();
        progress.map(|progress| to_python(py, &progress)).transpose()
    }

    /// Requests it to save and end.
    fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }

    /// Waits until it has ended, at most this many seconds; returns the result, or None on timeout.
    #[pyo3(signature = (timeout=None))]
    fn wait<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let timeout = timeout.map(|seconds| {
            Duration::try_from_secs_f64(seconds.max(0.0)).map_err(|_| value_error("timeout must be finite"))
        });
        let deadline = timeout.transpose()?.map(|timeout| Instant::now() + timeout);
        loop {
            match &self.shared.lock().result {
                Some(Ok(outcome)) => return to_python(py, outcome).map(Some),
                Some(Err(error)) => return Err(error.clone_ref(py)),
                None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => return Ok(None),
                None => {}
            }
            py.check_signals()?;
            py.detach(|| {
                let state = self.shared.lock();
                if state.result.is_none() {
                    drop(self.shared.ended.wait_timeout(state, HEARTBEAT));
                }
            });
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Stops, and waits until the run is saved.
    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        self.stop();
        self.wait(py, None).map(drop)
    }

    fn __repr__(&self) -> String {
        let state = if self.done() { "ended" } else { "training" };
        format!("Training({:?}, {state})", self.directory.display().to_string())
    }
}
