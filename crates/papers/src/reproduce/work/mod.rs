//! The trainings and evaluations of a plan, each done once: existing results are not recomputed.
//!
//! A training is in `DIR/ROW/seed-1` and so on, an ordinary run directory with two additions: `trained.json` marks it
//! as finished, and `games-SEARCH.jsonl` holds the games of each evaluation. A training by records also has
//! `batches.jsonl`, its results on the last batches, and `model-RECORDS.safetensors`, the evaluated points of its
//! course.

mod lesson;
mod share;
mod worker;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::channel,
    },
};

use serde::{Deserialize, Serialize};

use super::{ReproduceError, TablePlan, training::Entrant};
use afterstate_lab::{recipe::Recipe, run, stats::GameResult};
use worker::Worker;

pub use lesson::Batch;
pub use share::{PlanPart, Share, Whole};

/// The games of a player, by number.
pub type Evaluation = (Entrant, Vec<GameResult>);

/// A training with one seed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Job {
    /// The training.
    pub training: usize,
    /// Its seed, from 1.
    pub seed: u64,
}

/// The progress of a job.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The share of the training that is done.
    Training(f64),
    /// The number of games played, out of a total.
    Playing(Entrant, u64, u64),
    /// It is done.
    Done(Trained),
    /// A failure that does not stop the training.
    Warning(String),
}

/// The result of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct Trained {
    /// The record of the training.
    pub record: Record,
    /// Its results on the last batches of records, if it was taught by records.
    pub batches: Vec<Batch>,
    /// The games of all players.
    pub games: Vec<Evaluation>,
}

/// The record of a training: `trained.json`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The moves made, or the records learned from.
    pub actions: u64,
    /// The episodes that it played.
    pub episodes: u64,
    /// The seconds that it took.
    pub seconds: f64,
    /// The highest score of its games.
    pub highest: Option<u64>,
    /// Whether no other training of the table ran at the same time.
    #[serde(default)]
    pub alone: bool,
}

impl Trained {
    /// The games of a player.
    pub fn games(&self, entrant: Entrant) -> &[GameResult] {
        self.games.iter().find(|(other, _)| *other == entrant).map_or(&[], |(_, games)| games)
    }
}

/// Does what is missing, with as many trainings side by side as threads and memory allow. Returns the results of
/// each training, seed by seed; `None` if `stop` was set: the same call continues later.
///
/// # Errors
/// If the directory holds other trainings, one cannot be carried out, or records are needed but missing.
pub fn run(
    plan: &TablePlan,
    directory: &Path,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Job, Event),
) -> Result<Option<Vec<Vec<Trained>>>, ReproduceError> {
    let mut results: Vec<Vec<Option<Trained>>> =
        vec![vec![None; plan.seeds() as usize]; plan.trainings.len()];
    let Some(done) = run_share(plan, directory, &Whole, stop, watch)? else { return Ok(None) };
    for (job, trained) in done {
        results[job.training][job.seed as usize - 1] = Some(trained);
    }
    Ok(results.into_iter().map(|seeds| seeds.into_iter().collect()).collect())
}

/// The same for a share of the jobs. Others do the rest in the same directory, after which [`run()`] finds everything
/// done.
///
/// # Errors
/// The same as [`run()`].
pub fn run_share(
    plan: &TablePlan,
    directory: &Path,
    share: &dyn Share,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Job, Event),
) -> Result<Option<Vec<(Job, Trained)>>, ReproduceError> {
    if plan.needs_records() && plan.taught_by.is_none() {
        return Err(ReproduceError::NoRecords(plan.table.name.clone()));
    }
    let depth = |mut training: usize| {
        let mut depth = 0;
        while let Some(before) = plan.trainings[training].after {
            (training, depth) = (before, depth + 1);
        }
        depth
    };
    let mut done = Vec::new();
    for wave in 0.. {
        let members: Vec<usize> = (0..plan.trainings.len()).filter(|&i| depth(i) == wave).collect();
        if members.is_empty() {
            break;
        }
        done.extend(run_wave(plan, &members, directory, share, stop, watch)?);
        if stop.load(Relaxed) {
            return Ok(None);
        }
        share.meet();
    }
    Ok(Some(done))
}

/// Does our jobs of trainings that do not depend on one another.
fn run_wave(
    plan: &TablePlan,
    trainings: &[usize],
    directory: &Path,
    share: &dyn Share,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Job, Event),
) -> Result<Vec<(Job, Trained)>, ReproduceError> {
    let jobs =
        (1..=plan.seeds()).flat_map(|seed| trainings.iter().map(move |&training| Job { training, seed }));
    let jobs = jobs.collect::<VecDeque<_>>();
    let all = plan.options.threads.max(1);
    let lanes = trainings.iter().map(|&i| match &plan.trainings[i].recipe {
        // The result does not depend on the number of threads, so none need be idle.
        Recipe { lesson: Some(_), .. } => all.min(jobs.len()),
        recipe => lanes_of(all, recipe),
    });
    let lanes = lanes.min().unwrap_or(1);
    let threads = (all / lanes).max(1);
    let jobs = Mutex::new(jobs);
    let (sender, events) = channel();
    let mut done = Vec::new();
    let mut failure = None;
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            let (sender, jobs) = (sender.clone(), &jobs);
            scope.spawn(move || {
                while let Some(job) = next(jobs).filter(|_| !stop.load(Relaxed)) {
                    if !share.takes(job) {
                        continue;
                    }
                    let (alone, events) = (lanes == 1 && share.is_whole(), sender.clone());
                    let worker = Worker { plan, directory, threads, alone, job, stop, events };
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
                    // The other lanes finish their current job.
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

/// The number of trainings of a recipe that run side by side: threads that share no weights do not slow each other
/// down.
pub(super) fn lanes_of(threads: usize, recipe: &Recipe) -> usize {
    match run::MemoryPlan::of(recipe) {
        Ok(run::MemoryPlan { bytes, available: Some(available), .. }) => {
            ((available / 5 * 4) / bytes.max(1)).clamp(1, threads.max(1) as u64) as usize
        }
        _ => 1,
    }
}

/// The directory of a job.
pub fn run_path(plan: &TablePlan, directory: &Path, job: Job) -> PathBuf {
    let name = &plan.trainings[job.training].name;
    let own = name.strip_prefix(&plan.table.name).and_then(|name| name.strip_prefix('/'));
    let folder = own.map_or_else(|| name.replace('/', "."), str::to_owned);
    directory.join(folder).join(format!("seed-{}", job.seed))
}
