//! `/api/v1/evaluations` and `/api/v1/evaluate`: the playing strength of models, alone or against each other.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use afterstate_lab::{
    deal::Deck,
    evaluate::{Games, Kept, KeptHeader, PlayOutcome, SEED},
    review::LARGEST_NUMBER,
    stats::{GameResult, Paired},
};
use axum::{
    extract::State,
    response::{Response, sse::Event},
};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    task::spawn_blocking,
};

use crate::{
    app::App,
    brain::Brain,
    error::{Answer, ApiError},
    events::{self, event},
    extract::Body,
    guard::{Peer, Trusted},
    results::{self, Evaluation},
    runs,
    searches::Asked,
    tail::Tail,
};

/// The default number of games of an evaluation.
const GAMES: u64 = 100;

/// The interval of progress reports.
const PROGRESS: Duration = Duration::from_millis(500);

/// All known results: of runs, stored in files, and since the server was started.
pub(crate) async fn evaluations(State(app): State<App>) -> Answer<axum::Json<Value>> {
    let collect = move || {
        let own = app.results.latest().into_iter();
        let mut found: Vec<Value> =
            own.map(|result| labelled(json!(result), &result.report.model, results::FILE)).collect();
        for run in runs::list(&app.runs) {
            let last = Tail::new(run.directory.evaluations()).read().pop();
            found.extend(last.map(|line| labelled(line, &run.name, "eval.jsonl")));
            found.extend(kept(run.directory.path(), &run.name));
        }
        found.extend(kept(&app.runs, ""));
        found.extend(kept(&app.model_files, ""));
        found
    };
    let evaluations = spawn_blocking(collect).await.map_err(ApiError::internal)?;
    Ok(axum::Json(json!({ "evaluations": evaluations })))
}

/// A result with the names of its model and file, without scores.
fn labelled(mut line: Value, model: &str, file: &str) -> Value {
    if let Some(fields) = line.as_object_mut() {
        fields.insert("model".into(), json!(model));
        fields.insert("file".into(), json!(file));
        fields.entry("scores").or_insert(json!([]));
    }
    line
}

/// The files of games in a directory, as written by `afterstate eval --out`.
fn kept(directory: &Path, run: &str) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let is_own =
        |path: &PathBuf| ["log.jsonl", "eval.jsonl", results::FILE].iter().any(|own| path.ends_with(own));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl") && !is_own(path));
    paths.sort();
    let report = |path: &PathBuf| {
        let kept = Kept::read(path)?;
        let file = path.file_name()?.to_string_lossy();
        let name = if run.is_empty() { kept.header.model.clone() } else { run.to_owned() };
        let KeptHeader { search, seed, .. } = &kept.header;
        let evaluation = Evaluation::new(&name, search, *seed, &kept.results, kept.seconds)?;
        Some(labelled(json!(evaluation), &name, &file))
    };
    paths.iter().filter_map(report).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    model: Option<String>,
    search: Option<String>,
    games: Option<u64>,
    seed: Option<u64>,
    /// Another player of the same games.
    against: Option<Against>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Against {
    model: Option<String>,
    search: Option<String>,
}

/// Lets a model, or two on the same games, play many games, and reports the progress.
pub(crate) async fn evaluate(
    State(app): State<App>,
    _: Trusted,
    Peer(peer): Peer,
    Body(wanted): Body<Wanted>,
) -> Answer<Response> {
    let (games, seed) = (wanted.games.unwrap_or(GAMES), wanted.seed.unwrap_or(SEED));
    let most = app.limits.max_games;
    if !(1..=most).contains(&games) {
        return Err(ApiError::bad(
            format!("{games} games cannot be played"),
            format!("from 1 to {most} games"),
        ));
    }
    if seed > LARGEST_NUMBER {
        return Err(ApiError::bad("the seed is too large", format!("at most {LARGEST_NUMBER}")));
    }
    let busy =
        |_| ApiError::conflict("another evaluation is running: one at a time", "wait for it, or cancel it");
    let permit = app.evaluating.clone().try_acquire_owned().map_err(busy)?;
    let mut brains = vec![contestant(&app, wanted.model, wanted.search.as_deref()).await?];
    if let Some(against) = wanted.against {
        brains.push(contestant(&app, against.model, against.search.as_deref()).await?);
    }
    let (sender, receiver) = mpsc::channel(4);
    let playing = Playing { app: app.clone(), games, seed, sender };
    spawn_blocking(move || playing.play(&brains, permit));
    let events = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    events::respond(&app, peer, events)
}

/// Creates a player.
async fn contestant(app: &App, model: Option<String>, search: Option<&str>) -> Answer<Brain> {
    let search = match app.limits.search(search)? {
        Asked::Usual(_) => Asked::Usual(1),
        search => search,
    };
    if let Asked::Exact = search {
        let hint = "`afterstate solve` computes its exact value";
        return Err(ApiError::bad("exact play is not evaluated by games", hint));
    }
    let brain = Brain::load(app, model, search).await?;
    if brain.search.spec().is_some_and(|spec| !spec.is_greedy()) {
        brain.model.afterstates("a search")?;
    }
    Ok(brain)
}

/// A running evaluation.
struct Playing {
    app: App,
    games: u64,
    seed: u64,
    sender: mpsc::Sender<Event>,
}

impl Playing {
    /// Plays until all games are played, or the client disconnects. With two players, the result is the second one's,
    /// with its difference to the first one's in the same games.
    fn play(self, brains: &[Brain], permit: OwnedSemaphorePermit) {
        let mut played: Vec<(Evaluation, Vec<GameResult>)> = Vec::new();
        for (turn, brain) in brains.iter().enumerate() {
            let Some(one) = self.evaluate(brain, turn) else { return };
            played.push(one);
        }
        let paired = match &played[..] {
            [(_, first), (_, second)] => Paired::of(first, second),
            _ => None,
        };
        let mut told = Value::Null;
        for (evaluation, _) in played {
            let before = std::mem::replace(&mut told, json!(evaluation));
            if !before.is_null() {
                told["against"] = before;
            }
            if let Err(error) = self.app.results.add(evaluation) {
                told["warning"] =
                    json!(format!("the result could not be kept in {}: {error}", results::FILE));
            }
        }
        if let Some(paired) = paired {
            told["difference"] = json!(paired);
        }
        // A client with the result may request the next evaluation at once.
        drop(permit);
        let _ = self.sender.blocking_send(event("result", &told));
    }

    /// All games of one player; `None` if the client has disconnected.
    fn evaluate(&self, brain: &Brain, turn: usize) -> Option<(Evaluation, Vec<GameResult>)> {
        let (start, mut told, mut ended) = (Instant::now(), Instant::now(), Vec::new());
        let (model, search) = (&brain.model.name, brain.model.search_name(brain.search));
        let describe = |results: &[GameResult]| {
            Evaluation::new(model, &search, self.seed, results, start.elapsed().as_secs_f64())
        };
        let outcome = self.outcome(brain, |finished| {
            ended.extend_from_slice(&finished.results);
            if told.elapsed() >= PROGRESS {
                told = Instant::now();
                let report = describe(&ended).map(|report| {
                    let mut report = json!(report);
                    report["turn"] = json!(turn);
                    report
                });
                // A slow client misses some.
                report.map(|report| self.sender.try_send(event("progress", &report)));
            }
            !self.sender.is_closed()
        })?;
        Some((describe(&outcome.results)?, outcome.results))
    }

    fn outcome(&self, brain: &Brain, watch: impl FnMut(&PlayOutcome) -> bool) -> Option<PlayOutcome> {
        // Leaves a core for interactive requests.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (threads, deck) = ((cores - 1).max(1), Deck::new(self.games));
        let games = Games { rules: brain.model.rules, seed: self.seed, dealer: &deck };
        brain.model.play(brain.search, games, threads, None, watch).ok()?
    }
}
