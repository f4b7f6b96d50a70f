//! `/api/v1/runs`.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use afterstate_lab::chain::Standing;
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{Response, sse::Event},
};
use futures_util::{StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{task::spawn_blocking, time::sleep};

use crate::{
    app::App,
    error::{Answer, ApiError},
    events::{self, event},
    extract::{Body, Name, Parameters, excerpt},
    guard::{Peer, Trusted},
    models::lock,
    runs::{self, Found, RunState},
    tail::Tail,
    training::Wanted,
};

/// The maximum number of log lines in a response; longer logs are sampled at even distances.
const MOST_LINES: usize = 2000;

/// The polling interval for files.
const LOOK: Duration = Duration::from_millis(500);

/// The runs in the directory of runs.
pub(crate) async fn runs(State(app): State<App>) -> Answer<Json<Value>> {
    let list = move || runs::list(&app.runs).iter().map(Found::line).collect::<Vec<_>>();
    let runs = spawn_blocking(list).await.map_err(ApiError::internal)?;
    Ok(Json(json!({ "runs": runs })))
}

fn find(app: &App, name: &str) -> Answer<Found> {
    let unknown =
        || ApiError::not_found(format!("there is no run `{}`", excerpt(name)), "/api/v1/runs lists the runs");
    Found::named(&app.runs, name).ok_or_else(unknown)
}

/// Everything that a run has written.
pub(crate) async fn run(State(app): State<App>, Name(name): Name) -> Answer<Json<Value>> {
    let read = move || {
        let run = find(&app, &name)?;
        let recipe = fs::read_to_string(run.directory.recipe()).unwrap_or_default();
        let (mut log, mut evaluations) =
            (Tail::new(run.directory.log()), Tail::new(run.directory.evaluations()));
        Ok(Json(json!({
            "name": run.name,
            "recipe": recipe,
            "log": thinned(log.read()),
            "evaluations": thinned(evaluations.read()),
            "log_lines": log.lines,
            "evaluation_lines": evaluations.lines,
            "state": run.state(),
            "saving": run.saving(),
            "bytes": runs::size(run.directory.path()),
            "chain": Standing::read(&run.directory),
            "ours": app.trainings.current().as_ref() == Some(&run.name),
        })))
    };
    spawn_blocking(read).await.map_err(ApiError::internal)?
}

/// Lines at even distances, including the last one.
fn thinned(lines: Vec<Value>) -> Vec<Value> {
    let step = lines.len().div_ceil(MOST_LINES).max(1);
    let skip = lines.len().saturating_sub(1) % step;
    lines.into_iter().skip(skip).step_by(step).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct After {
    after: Option<u64>,
    after_evaluations: Option<u64>,
}

/// The live view of a run.
struct Live {
    run: Found,
    log: Tail,
    evaluations: Tail,
    /// The lines that the client already has.
    known: (u64, u64),
    state: Option<(RunState, Option<u64>, Option<Standing>)>,
}

/// Streams what a run writes.
pub(crate) async fn events(
    State(app): State<App>,
    Peer(peer): Peer,
    Name(name): Name,
    Parameters(after): Parameters<After>,
    headers: HeaderMap,
) -> Answer<Response> {
    let run = find(&app, &name)?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(numbers);
    let known =
        last.unwrap_or((after.after.unwrap_or_default(), after.after_evaluations.unwrap_or_default()));
    let (log, evaluations) = (Tail::new(run.directory.log()), Tail::new(run.directory.evaluations()));
    let live = Arc::new(Mutex::new(Live { run, log, evaluations, known, state: None }));
    let looks = stream::unfold((live, true), async |(live, first)| {
        if !first {
            sleep(LOOK).await;
        }
        let looking = live.clone();
        let news = spawn_blocking(move || lock(&looking).look()).await.unwrap_or_default();
        Some((stream::iter(news), (live, false)))
    });
    events::respond(&app, peer, looks.flatten())
}

/// Parses the numbers of an event's id.
fn numbers(id: &str) -> Option<(u64, u64)> {
    let (log, evaluations) = id.split_once('-')?;
    Some((log.parse().ok()?, evaluations.parse().ok()?))
}

impl Live {
    /// The new lines. An event's id says what the client has after it.
    fn look(&mut self) -> Vec<Event> {
        let mut news = Vec::new();
        let (log_before, evaluations_before) = (self.log.lines, self.evaluations.lines);
        for (number, line) in (log_before + 1..).zip(self.log.read()) {
            if number > self.known.0 {
                news.push(event("log", &line).id(format!("{number}-{evaluations_before}")));
            }
        }
        let log = self.log.lines;
        for (number, line) in (evaluations_before + 1..).zip(self.evaluations.read()) {
            if number > self.known.1 {
                news.push(event("evaluation", &line).id(format!("{log}-{number}")));
            }
        }
        let state = (self.run.state(), self.run.saving(), Standing::read(&self.run.directory));
        if self.state.as_ref() != Some(&state) {
            news.push(event("state", &json!({ "state": state.0, "saving": state.1, "chain": state.2 })));
            self.state = Some(state);
        }
        news
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRun {
    recipe: String,
    name: Option<String>,
    seconds: Option<f64>,
}

/// Starts a training.
pub(crate) async fn start(
    State(app): State<App>,
    _: Trusted,
    Body(NewRun { recipe, name, seconds }): Body<NewRun>,
) -> Answer<(StatusCode, Json<Value>)> {
    let name = app.trainings.start(&Wanted { recipe, name, seconds }).await?;
    Ok((StatusCode::CREATED, Json(json!({ "name": name }))))
}

/// Resumes a run that was stopped.
pub(crate) async fn resume(
    State(app): State<App>,
    _: Trusted,
    Name(name): Name,
) -> Answer<(StatusCode, Json<Value>)> {
    let run = find(&app, &name)?;
    match run.state() {
        RunState::Running => {
            Err(ApiError::conflict(format!("`{name}` is being trained"), "wait for it, or stop it"))
        }
        RunState::Finished => Err(ApiError::conflict(
            format!("`{name}` is finished"),
            "start another run, or give it a larger budget in the terminal",
        )),
        RunState::Stopped => {
            app.trainings.resume(&run).await?;
            Ok((StatusCode::CREATED, Json(json!({ "name": name }))))
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewName {
    name: String,
}

/// Renames a run.
pub(crate) async fn rename(
    State(app): State<App>,
    _: Trusted,
    Name(name): Name,
    Body(NewName { name: new }): Body<NewName>,
) -> Answer<Json<Value>> {
    let run = idle(&app, &name)?;
    app.trainings.check_name(&new)?;
    let target = app.runs.join(&new);
    let moved = target
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::rename(run.directory.path(), &target));
    moved.map_err(|error| {
        ApiError::conflict(format!("`{name}` cannot be renamed: {error}"), "choose another name")
    })?;
    remove_empty(&app.runs, &name);
    Ok(Json(json!({ "name": new })))
}

/// Removes a run; foreign files in its directory are kept.
pub(crate) async fn delete(State(app): State<App>, _: Trusted, Name(name): Name) -> Answer<Json<Value>> {
    let run = idle(&app, &name)?;
    let remove = move || {
        let before = runs::size(run.directory.path());
        run.directory.remove().map(|_| before.saturating_sub(runs::size(run.directory.path())))
    };
    let removed = spawn_blocking(remove).await.map_err(ApiError::internal)?;
    let bytes = removed.map_err(|error| {
        ApiError::conflict(format!("`{name}` cannot be removed: {error}"), "look at its directory")
    })?;
    remove_empty(&app.runs, &name);
    Ok(Json(json!({ "name": name, "bytes": bytes })))
}

/// A run that is not being trained.
fn idle(app: &App, name: &str) -> Answer<Found> {
    let run = find(app, name)?;
    match run.state() {
        RunState::Running => Err(ApiError::conflict(format!("`{name}` is being trained"), "stop it first")),
        _ => Ok(run),
    }
}

/// Removes the empty parent directories of a run.
fn remove_empty(runs: &Path, name: &str) {
    let above = Path::new(name).ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
    above.for_each(|part| _ = fs::remove_dir(runs.join(part)));
}

/// Stops a training after saving its progress.
pub(crate) async fn stop(State(app): State<App>, _: Trusted, Name(name): Name) -> Answer<Json<Value>> {
    if app.trainings.stop(&name).await {
        let state = Found::named(&app.runs, &name).map_or(RunState::Stopped, |run| run.state());
        return Ok(Json(json!({ "name": name, "state": state })));
    }
    let run = find(&app, &name)?;
    let error = match run.state() {
        RunState::Running => format!("`{}` was not started from here", run.name),
        _ => format!("`{}` is not being trained", run.name),
    };
    Err(ApiError::conflict(error, "a training that runs elsewhere is stopped there, with Ctrl-C"))
}
