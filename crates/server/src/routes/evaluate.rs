//! `/api/evaluations` and `/api/evaluate`: how well models play.

use std::{
    collections::HashSet,
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use afterstate_game::Rules;
use afterstate_lab::{
    evaluate::{Contest, Games, Kept, KeptHeader, Outcome, SEED, evaluate_players},
    stats::GameResult,
};
use afterstate_policy::NetPlayer;
use axum::{
    extract::{ConnectInfo, State},
    http::HeaderMap,
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
    brain::{Brain, Search},
    error::{Answer, ApiError},
    events::{self, event},
    extract::Parameters,
    guard::Trusted,
    results::{self, Evaluation},
    runs,
    stream::LARGEST,
    tail::Tail,
};

/// The games of an evaluation that does not say how many.
const GAMES: u64 = 100;

/// How often the games so far are told.
const PROGRESS: Duration = Duration::from_millis(500);

/// All results that are known: of runs, kept in files, and found since the server was started.
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

/// A result with the name of its model and of its file, and without scores.
fn labelled(mut line: Value, model: &str, file: &str) -> Value {
    if let Some(fields) = line.as_object_mut() {
        fields.insert("model".into(), json!(model));
        fields.insert("file".into(), json!(file));
        fields.entry("scores").or_insert(json!([]));
    }
    line
}

/// The files of games in a directory, as `afterstate eval --out` writes them.
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
    token: Option<String>,
}

/// Lets a model play many games, and tells how it goes.
pub(crate) async fn evaluate(
    State(app): State<App>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Response> {
    Trusted::check(&app, address, &headers, wanted.token.as_deref())?;
    let search = match app.limits.search(wanted.search.as_deref())? {
        Search::Usual(_) => Search::Usual(1),
        search => search,
    };
    if let Search::Exact = search {
        let hint = "`afterstate solve` tells what it comes to";
        return Err(ApiError::bad("exact play is not evaluated by games", hint));
    }
    let (games, seed) = (wanted.games.unwrap_or(GAMES), wanted.seed.unwrap_or(SEED));
    let most = app.limits.max_games;
    if !(1..=most).contains(&games) || seed > LARGEST {
        return Err(ApiError::bad("so many games, or such a seed, cannot be", format!("1 to {most} games")));
    }
    let busy =
        |_| ApiError::conflict("another evaluation is under way: one at a time", "wait for it, or close it");
    let permit = app.evaluating.clone().try_acquire_owned().map_err(busy)?;
    let shared = app.clone();
    let load = move |_| {
        let brain = Brain::new(&shared, wanted.model.as_deref(), search)?;
        if let Brain::Network(model, search) = &brain
            && !search.is_greedy()
        {
            model.check_afterstates("a search")?;
        }
        Ok(brain)
    };
    let brain = app.searches.run(load).await?;
    let (sender, receiver) = mpsc::channel(4);
    let playing = Playing { app: app.clone(), brain, games, seed, sender };
    spawn_blocking(move || playing.play(permit));
    let events = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    events::respond(&app, events)
}

/// An evaluation under way.
struct Playing {
    app: App,
    brain: Brain,
    games: u64,
    seed: u64,
    sender: mpsc::Sender<Event>,
}

impl Playing {
    /// Plays until all games are played, or nobody listens.
    fn play(self, permit: OwnedSemaphorePermit) {
        let (start, mut told, mut ended) = (Instant::now(), Instant::now(), Vec::new());
        let (model, search) = (self.brain.model(), self.brain.search());
        let describe = |results: &[GameResult]| {
            Evaluation::new(model, &search, self.seed, results, start.elapsed().as_secs_f64())
        };
        let outcome = self.outcome(|finished| {
            ended.extend_from_slice(finished);
            if told.elapsed() >= PROGRESS {
                told = Instant::now();
                // A listener who is slow misses some.
                describe(&ended).map(|report| self.sender.try_send(event("progress", &report)));
            }
            !self.sender.is_closed()
        });
        if let Some(result) = outcome.and_then(|outcome| describe(&outcome.results)) {
            let mut told = json!(result);
            if let Err(error) = self.app.results.add(result) {
                told["warning"] =
                    json!(format!("the result could not be kept in {}: {error}", results::FILE));
            }
            // Whoever has the result may ask for the next one at once.
            drop(permit);
            let _ = self.sender.blocking_send(event("result", &told));
        }
    }

    fn outcome(&self, watch: impl FnMut(&[GameResult]) -> bool) -> Option<Outcome> {
        // A core is left for those who wait for an answer.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (threads, played) = ((cores - 1).max(1), &HashSet::new());
        let games = |rules| Games { rules, seed: self.seed, count: self.games };
        match &self.brain {
            Brain::Exact => None,
            Brain::Network(model, player) => {
                let (network, games) = (&model.network, games(model.rules));
                Contest { network, player: *player, games, played, threads, collect: None }.play(watch)
            }
            Brain::Net(model, play) => {
                let player = || NetPlayer::new(&model.net, *play);
                evaluate_players(games(Rules::default()), played, threads, player, watch)
            }
        }
    }
}
