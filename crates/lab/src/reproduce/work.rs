//! The trainings and evaluations of a plan, done once: what a directory holds is not done again.
//!
//! A training is in `DIR/ROW/seed-1` and so on, a run directory like any other, with two things more: `trained.json`,
//! which says that it is finished, and `games-SEARCH.jsonl`, the games of each evaluation.

use std::{
    collections::VecDeque,
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Sender, channel},
    },
    time::Instant,
};

use afterstate_network::{Network, file::atomic::write_atomically};
use afterstate_search::PlayerSpec;
use serde::{Deserialize, Serialize};

use super::{Plan, ReproduceError, Training};
use crate::{
    evaluate::{Contest, Games, KeptGames, KeptHeader, SEED, header_checksum},
    log::{JsonLines, LogLine},
    recipe::Recipe,
    run::{self, Directory, Observer, Run, RunError, Status},
    stats::GameResult,
};

/// A training with one seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// The training.
    pub training: usize,
    /// Its seed, from 1.
    pub seed: u64,
}

/// How a job goes.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// This share of the training is done.
    Training(f64),
    /// So many games of so many have been played with this search.
    Playing(PlayerSpec, u64, u64),
    /// It is done.
    Done(Trained),
    /// Something failed that the training survives.
    Warning(String),
}

/// What came of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct Trained {
    /// How the training went.
    pub record: Record,
    /// The games with each search, by number.
    pub games: Vec<(PlayerSpec, Vec<GameResult>)>,
}

/// How a training went: `trained.json`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The moves that it made.
    pub actions: u64,
    /// The episodes that it played.
    pub episodes: u64,
    /// The seconds that it took.
    pub seconds: f64,
    /// The highest score of its games.
    pub highest: Option<u64>,
}

impl Trained {
    /// The games with a search.
    pub fn games(&self, player: PlayerSpec) -> &[GameResult] {
        self.games.iter().find(|(other, _)| *other == player).map_or(&[], |(_, games)| games)
    }
}

/// Does what has not been done, as many trainings side by side as there are threads and memory for. Gives what came of
/// each training, seed by seed; `None` when `stop` was set: the same call goes on later.
///
/// # Errors
/// When the directory holds other trainings, or one cannot be carried out.
pub fn run(
    plan: &Plan,
    directory: &Path,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Job, Event),
) -> Result<Option<Vec<Vec<Trained>>>, ReproduceError> {
    let mut results: Vec<Vec<Option<Trained>>> =
        vec![vec![None; plan.seeds() as usize]; plan.trainings.len()];
    let depth = |mut training: usize| {
        let mut depth = 0;
        while let Some(before) = plan.trainings[training].after {
            (training, depth) = (before, depth + 1);
        }
        depth
    };
    for wave in 0.. {
        let members: Vec<usize> = (0..plan.trainings.len()).filter(|&i| depth(i) == wave).collect();
        if members.is_empty() {
            break;
        }
        for (job, trained) in run_wave(plan, &members, directory, stop, watch)? {
            results[job.training][job.seed as usize - 1] = Some(trained);
        }
        if stop.load(Relaxed) {
            return Ok(None);
        }
    }
    Ok(results.into_iter().map(|seeds| seeds.into_iter().collect()).collect())
}

/// Does all jobs of some trainings that need nothing of one another.
fn run_wave(
    plan: &Plan,
    trainings: &[usize],
    directory: &Path,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Job, Event),
) -> Result<Vec<(Job, Trained)>, ReproduceError> {
    let jobs =
        (1..=plan.seeds()).flat_map(|seed| trainings.iter().map(move |&training| Job { training, seed }));
    let jobs = Mutex::new(jobs.collect::<VecDeque<_>>());
    let largest = trainings.iter().map(|&i| &plan.trainings[i].recipe).map(lanes_of(plan.options.threads));
    let lanes = largest.min().unwrap_or(1);
    let threads = (plan.options.threads / lanes).max(1);
    let (sender, events) = channel();
    let mut done = Vec::new();
    let mut failure = None;
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            let (sender, jobs) = (sender.clone(), &jobs);
            scope.spawn(move || {
                while let Some(job) = next(jobs).filter(|_| !stop.load(Relaxed)) {
                    let worker = Worker { plan, directory, threads, job, stop, events: sender.clone() };
                    let outcome = worker.work();
                    let failed = outcome.is_err();
                    // The receiver outlives the lanes.
                    let _ = sender.send((job, outcome));
                    if failed {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (job, outcome) in events {
            match outcome {
                Ok(Some(event)) => {
                    if let Event::Done(trained) = &event {
                        done.push((job, trained.clone()));
                    }
                    watch(job, event);
                }
                Ok(None) => {}
                Err(error) => {
                    // The other lanes finish what they are at.
                    next_all(&jobs);
                    failure = failure.take().or(Some(error));
                }
            }
        }
    });
    failure.map_or(Ok(done), Err)
}

fn next(jobs: &Mutex<VecDeque<Job>>) -> Option<Job> {
    jobs.lock().ok()?.pop_front()
}

fn next_all(jobs: &Mutex<VecDeque<Job>>) {
    if let Ok(mut jobs) = jobs.lock() {
        jobs.clear();
    }
}

/// How many trainings of a recipe go side by side: threads that share no weights do not slow each other down.
pub(super) fn lanes_of(threads: usize) -> impl Fn(&Recipe) -> usize {
    move |recipe| match run::Plan::of(recipe) {
        Ok(run::Plan { bytes, available: Some(available), .. }) => {
            ((available / 5 * 4) / bytes.max(1)).clamp(1, threads.max(1) as u64) as usize
        }
        _ => 1,
    }
}

type Outcome = Result<Option<Event>, ReproduceError>;

/// One job in its lane.
struct Worker<'a> {
    plan: &'a Plan,
    directory: &'a Path,
    threads: usize,
    job: Job,
    stop: &'a AtomicBool,
    events: Sender<(Job, Outcome)>,
}

impl Worker<'_> {
    /// Trains and evaluates; nothing when it was stopped.
    fn work(&self) -> Outcome {
        let Some(record) = self.train()? else { return Ok(None) };
        let games = self.evaluate()?;
        Ok(games.map(|games| Event::Done(Trained { record, games })))
    }

    fn training(&self) -> &Training {
        &self.plan.trainings[self.job.training]
    }

    fn send(&self, event: Event) {
        // Nobody listens any more when another lane has failed.
        let _ = self.events.send((self.job, Ok(Some(event))));
    }

    fn train(&self) -> Result<Option<Record>, ReproduceError> {
        let place = Directory::new(run_path(self.plan, self.directory, self.job));
        let stored = Run::stored_recipe(&place, &[])?;
        let recipe = self.recipe(stored.as_ref());
        if stored.is_some_and(|stored| stored.budget != recipe.budget) {
            return Err(ReproduceError::OtherBudget(place.path().to_owned()));
        }
        let marker = place.path().join("trained.json");
        if let Some(record) = read_record(&marker)? {
            return Ok(Some(record));
        }
        let outcome = Run::resume(place.clone(), recipe)?.train(self.stop, &mut Watcher(self))?;
        if !outcome.finished {
            return Ok(None);
        }
        let lines = JsonLines::<LogLine>::read(&place.log())?;
        let highest = lines.iter().filter_map(|line| line.max_score).max();
        let progress = outcome.progress;
        let (actions, episodes, seconds) = (progress.actions, progress.episodes, progress.seconds);
        let record = Record { actions, episodes, seconds, highest };
        write_atomically(&marker, |file| {
            file.write_all(serde_json::to_string(&record).map_err(std::io::Error::from)?.as_bytes())
        })?;
        // A finished training does not go on, and large networks would fill the disk.
        let checkpoint = place.checkpoint();
        fs::remove_file(&checkpoint).map_err(ReproduceError::file(&checkpoint))?;
        Ok(Some(record))
    }

    /// The recipe of this job. Of a run that was interrupted the number of threads stays.
    fn recipe(&self, stored: Option<&Recipe>) -> Recipe {
        let training = self.training();
        let mut recipe = Recipe { seed: self.job.seed, ..training.recipe.clone() };
        recipe.parallel.threads = stored.map_or(self.threads, |stored| stored.parallel.threads);
        if let Some(after) = training.after {
            let first = Job { training: after, ..self.job };
            recipe.network.from = run_path(self.plan, self.directory, first).to_string_lossy().into_owned();
        }
        recipe
    }

    /// Plays the games that have not been played; nothing when it was stopped.
    fn evaluate(&self) -> Result<Option<Vec<(PlayerSpec, Vec<GameResult>)>>, ReproduceError> {
        let evaluations = &self.training().evaluations;
        let mut kept = Vec::new();
        for &(player, games) in evaluations {
            kept.push((player, games, self.kept(player)?));
        }
        let complete = |(_, games, kept): &(_, u64, KeptGames)| wanted(kept, *games).len() as u64 == *games;
        if !kept.iter().all(complete) {
            let place = Directory::new(run_path(self.plan, self.directory, self.job));
            let network = Network::load(&place.model())?;
            for (player, games, kept) in &mut kept {
                if !self.play(&network, *player, *games, kept)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(kept.iter().map(|(player, games, kept)| (*player, wanted(kept, *games))).collect()))
    }

    fn kept(&self, player: PlayerSpec) -> Result<KeptGames, ReproduceError> {
        let path = run_path(self.plan, self.directory, self.job);
        let model = Directory::new(&path).model();
        let checksum = header_checksum(&model).map_err(ReproduceError::file(&model))?;
        let header = KeptHeader {
            model: self.training().name.clone(),
            checksum,
            search: player.to_string(),
            seed: SEED,
        };
        Ok(KeptGames::open(&path.join(format!("games-{player}.jsonl")), &header)?)
    }

    /// Plays with one search; `false` when it was stopped.
    fn play(
        &self,
        network: &Network,
        player: PlayerSpec,
        games: u64,
        kept: &mut KeptGames,
    ) -> Result<bool, ReproduceError> {
        let played = kept.played();
        let before = kept.seconds();
        let mut ended = wanted(kept, games).len() as u64;
        let (start, mut error) = (Instant::now(), None);
        let contest = Contest {
            network,
            player,
            games: Games { rules: self.training().recipe.game.rules(), seed: SEED, count: games },
            played: &played,
            threads: self.threads,
            collect: None,
        };
        let outcome = contest.play(|finished| {
            ended += finished.len() as u64;
            let seconds = before + start.elapsed().as_secs_f64();
            error = finished.iter().try_for_each(|result| kept.add(result, seconds)).err();
            self.send(Event::Playing(player, ended, games));
            error.is_none() && !self.stop.load(Relaxed)
        });
        error.map_or(Ok(outcome.is_some()), |error| Err(error.into()))
    }
}

/// The games that count, by number.
fn wanted(kept: &KeptGames, games: u64) -> Vec<GameResult> {
    let mut results: Vec<_> = kept.results().iter().filter(|result| result.game < games).copied().collect();
    results.sort_unstable_by_key(|result| result.game);
    results
}

fn read_record(path: &Path) -> Result<Option<Record>, ReproduceError> {
    match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        bytes => bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(std::io::Error::from))
            .map(Some)
            .map_err(ReproduceError::file(path)),
    }
}

/// The directory of a job.
pub fn run_path(plan: &Plan, directory: &Path, job: Job) -> PathBuf {
    let name = &plan.trainings[job.training].name;
    let own = name.strip_prefix(&plan.table.name).and_then(|name| name.strip_prefix('/'));
    let folder = own.map_or_else(|| name.replace('/', "."), str::to_owned);
    directory.join(folder).join(format!("seed-{}", job.seed))
}

/// Tells the world how a training goes.
struct Watcher<'a, 'b>(&'a Worker<'b>);

impl Observer for Watcher<'_, '_> {
    fn training(&mut self, status: &Status) {
        self.0.send(Event::Training(status.share));
    }

    fn warning(&mut self, error: &RunError) {
        self.0.send(Event::Warning(error.to_string()));
    }
}
