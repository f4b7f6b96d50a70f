//! Trainings started from the page: child processes, so that their failures do not affect the
//! server. A child saves and stops when its standard input is closed, which also happens if the server dies.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Mutex,
    time::Duration,
};

use afterstate_lab::{
    recipe::{Recipe, shipped},
    run::{Directory, MemoryPlan},
};
use axum::http::StatusCode;
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, ChildStdin, Command},
    sync::watch,
    time::{sleep, timeout},
};

use crate::{
    error::{Answer, ApiError},
    extract::excerpt,
    models::{is_inside, lock},
    runs::Found,
};

/// How long to wait for a training to begin, or to save and stop, before answering anyway.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a training that has begun may take to discover that it cannot continue.
const MOMENT: Duration = Duration::from_millis(300);

/// The seconds between the checkpoints of small networks: the page plays against the latest model.
const CHECKPOINT_SECONDS: u64 = 20;

/// Large networks get one second for this many bytes, so that saving takes a small share of the time.
const CHECKPOINT_BYTES_PER_SECOND: u64 = 5 << 20;

/// The longest training that can be requested, in seconds.
const LONGEST: f64 = 30.0 * 86_400.0;

/// What to train.
pub(crate) struct Wanted {
    pub(crate) recipe: String,
    pub(crate) name: Option<String>,
    pub(crate) seconds: Option<f64>,
}

/// The running training, if any.
pub(crate) struct Trainings {
    program: Option<PathBuf>,
    runs: PathBuf,
    current: Mutex<Option<Training>>,
}

struct Training {
    name: String,
    stdin: Option<ChildStdin>,
    ended: watch::Receiver<Option<End>>,
}

/// How a child ended.
#[derive(Clone, Debug)]
struct End {
    status: Option<ExitStatus>,
    /// Its last output.
    words: String,
}

impl Trainings {
    /// Creates trainings with this program, in the directory of runs.
    pub(crate) fn new(program: Option<&Path>, runs: &Path) -> Self {
        Trainings { program: program.map(Path::to_owned), runs: runs.into(), current: Mutex::default() }
    }

    /// Whether there is a program to train with.
    pub(crate) fn are_possible(&self) -> bool {
        self.program.is_some()
    }

    /// The name of the running run.
    pub(crate) fn current(&self) -> Option<String> {
        let current = lock(&self.current);
        current
            .as_ref()
            .filter(|training| training.ended.borrow().is_none())
            .map(|training| training.name.clone())
    }

    /// Starts a training and waits until it has begun; returns the name of the run.
    pub(crate) async fn start(&self, wanted: &Wanted) -> Answer<String> {
        let overrides = overrides(wanted)?;
        let name = self.free_name(wanted)?;
        let directory = Directory::new(self.runs.join(&name));
        let mut arguments: Vec<String> =
            vec![wanted.recipe.clone(), "--out".into(), directory.path().to_string_lossy().into_owned()];
        arguments.extend(overrides.into_iter().flat_map(|change| ["--set".to_owned(), change]));
        let begun = self.begin(&name, &arguments, || directory.holds_run()).await;
        if begun.is_err() {
            self.sweep(&name, &directory);
        }
        begun.map(|()| name)
    }

    /// Resumes a run.
    pub(crate) async fn resume(&self, run: &Found) -> Answer<()> {
        let path = run.directory.path().to_string_lossy().into_owned();
        self.begin(&run.name, &[path, "--resume".into()], || run.directory.is_busy()).await
    }

    /// Removes what is left of a training that did not begin.
    fn sweep(&self, name: &str, directory: &Directory) {
        if directory.is_busy() || directory.log().exists() {
            return;
        }
        let _ = fs::remove_dir_all(directory.path());
        let above = Path::new(name).ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
        above.for_each(|part| _ = fs::remove_dir(self.runs.join(part)));
    }

    /// Starts the program and waits until it trains.
    async fn begin(
        &self,
        name: &str,
        arguments: &[String],
        has_begun: impl Fn() -> bool + Send + Sync,
    ) -> Answer<()> {
        let mut ended = self.spawn(name, arguments)?;
        let mut later = ended.clone();
        let begun = async {
            while !has_begun() {
                sleep(Duration::from_millis(50)).await;
            }
        };
        let ended_first = tokio::select! {
            end = ended.wait_for(Option::is_some) => match end.as_deref() {
                Ok(Some(End { status: Some(status), .. })) if status.success() => Some(Ok(())),
                Ok(Some(end)) => Some(Err(failed(end))),
                _ => Some(Err(ApiError::internal("the training was lost"))),
            },
            _ = timeout(PATIENCE, begun) => None,
        };
        match ended_first {
            Some(answer) => answer,
            None => settled(&mut later).await,
        }
    }

    /// Stops the training with this name and waits until it has saved; returns `false` if it is not one of ours.
    pub(crate) async fn stop(&self, name: &str) -> bool {
        let mut ended = {
            let mut current = lock(&self.current);
            let Some(training) = current.as_mut().filter(|training| training.name == name) else {
                return false;
            };
            training.stdin = None;
            training.ended.clone()
        };
        let _ = timeout(PATIENCE, ended.wait_for(Option::is_some)).await;
        true
    }

    /// Stops the running training.
    pub(crate) async fn close(&self) {
        if let Some(name) = self.current() {
            self.stop(&name).await;
        }
    }

    fn spawn(&self, name: &str, arguments: &[String]) -> Answer<watch::Receiver<Option<End>>> {
        let Some(program) = &self.program else {
            return Err(ApiError::conflict("this server does not train", "use `afterstate train`"));
        };
        let mut current = lock(&self.current);
        if let Some(training) = current.as_ref().filter(|training| training.ended.borrow().is_none()) {
            let error = format!("`{}` is being trained: one at a time", training.name);
            return Err(ApiError::conflict(error, "wait for it, or stop it"));
        }
        let mut command = Command::new(program);
        command.arg("train").args(arguments).args(["--until-closed", "--json", "--runs"]).arg(&self.runs);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(ApiError::internal)?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let (sender, ended) = watch::channel(None);
        tokio::spawn(async move { sender.send_replace(Some(wait(child, stderr).await)) });
        *current = Some(Training { name: name.to_owned(), stdin, ended: ended.clone() });
        Ok(ended)
    }

    /// The requested name, if it is free; or one derived from the recipe's.
    fn free_name(&self, wanted: &Wanted) -> Answer<String> {
        let is_free = |name: &str| !self.runs.join(name).exists();
        let Some(name) = &wanted.name else {
            let numbered = (2..).map(|number| format!("{}-{number}", wanted.recipe));
            let mut names = std::iter::once(wanted.recipe.clone()).chain(numbered);
            return names.find(|name| is_free(name)).ok_or_else(|| ApiError::internal("no name is free"));
        };
        self.check_name(name).map(|()| name.clone())
    }

    /// Rejects a name that a run cannot have.
    pub(crate) fn check_name(&self, name: &str) -> Answer<()> {
        let is_inside_a_run = || {
            Path::new(name).ancestors().skip(1).any(|part| Directory::new(self.runs.join(part)).holds_run())
        };
        if !is_inside(name) || is_inside_a_run() {
            let error = format!("`{}` cannot be the name of a run", excerpt(name));
            return Err(ApiError::bad(error, "take letters, digits and hyphens"));
        }
        match self.runs.join(name).exists() {
            true => Err(ApiError::conflict(format!("there is a run `{name}`"), "take another name")),
            false => Ok(()),
        }
    }
}

/// The overridden keys of the recipe. Recipes are named, never read from files that a request names.
fn overrides(wanted: &Wanted) -> Answer<Vec<String>> {
    let unknown = || {
        let error = format!("there is no recipe `{}`", excerpt(&wanted.recipe));
        ApiError::not_found(error, "/api/v1/recipes lists the recipes")
    };
    let shipped = shipped().find(|shipped| shipped.name == wanted.recipe).ok_or_else(unknown)?;
    let mut overrides = Vec::new();
    if let Some(seconds) = wanted.seconds {
        if !(1.0..=LONGEST).contains(&seconds) {
            return Err(ApiError::bad(format!("{seconds} seconds"), format!("from 1 to {LONGEST}")));
        }
        overrides.push(format!("budget.seconds={seconds}"));
    }
    let resolve = |overrides: &[String]| -> Answer<Recipe> {
        shipped.recipe(overrides).map_err(|error| ApiError::bad(error, "leave `seconds` out"))
    };
    let plan = MemoryPlan::of(&resolve(&overrides)?).map_err(ApiError::internal)?;
    let seconds = CHECKPOINT_SECONDS.max(plan.bytes / CHECKPOINT_BYTES_PER_SECOND);
    overrides.push(format!("checkpoint.every_seconds={seconds}"));
    Ok(overrides)
}

/// Waits for a child while reading its output: otherwise it could block on a full pipe.
async fn wait(mut child: Child, stderr: Option<ChildStderr>) -> End {
    /// Longer than any message.
    const TAIL: usize = 4096;
    let (mut words, mut buffer) = (Vec::new(), [0; 1024]);
    if let Some(mut stderr) = stderr {
        while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
            words.extend_from_slice(&buffer[..length]);
            words.drain(..words.len().saturating_sub(TAIL));
        }
    }
    End { status: child.wait().await.ok(), words: String::from_utf8_lossy(&words).into_owned() }
}

/// A training that holds its directory may still find that it lacks memory or disk: gives it a moment to say so.
async fn settled(ended: &mut watch::Receiver<Option<End>>) -> Answer<()> {
    match timeout(MOMENT, ended.wait_for(Option::is_some)).await {
        Ok(Ok(end)) => match end.as_ref() {
            Some(End { status: Some(status), .. }) if status.success() => Ok(()),
            Some(end) => Err(failed(end)),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Reports why a training has not begun, in the child's own words: its last line is `error: …; hint: …`.
fn failed(end: &End) -> ApiError {
    let last =
        end.words.lines().rfind(|line| line.starts_with("error: ")).unwrap_or("error: it ended at once");
    let last = last.trim_start_matches("error: ");
    let (error, hint) = last.split_once("; hint: ").unwrap_or((last, "`afterstate train` may say more"));
    ApiError::new(StatusCode::CONFLICT, format!("the training has not begun: {error}"), hint)
}
