//! The trainings and evaluations of a plan, done once: what a directory holds is not done again.
//!
//! A training is in `DIR/ROW/seed-1` and so on, a run directory like any other, with two things more: `trained.json`,
//! which says that it is finished, and `games-SEARCH.jsonl`, the games of each evaluation. A training by records has
//! also `batches.jsonl`, how it did on the last ones, and `model-RECORDS.safetensors`, what is evaluated of its course.

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

/// The games of one who plays, by number.
pub type Evaluation = (Entrant, Vec<GameResult>);

/// A training with one seed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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
    /// So many games of so many have been played.
    Playing(Entrant, u64, u64),
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
    /// How it did on the last batches of records, where it was taught by some.
    pub batches: Vec<Batch>,
    /// The games of all who play.
    pub games: Vec<Evaluation>,
}

/// How a training went: `trained.json`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The moves that it made, or the records that it learned from.
    pub actions: u64,
    /// The episodes that it played.
    pub episodes: u64,
    /// The seconds that it took.
    pub seconds: f64,
    /// The highest score of its games.
    pub highest: Option<u64>,
    /// Whether no other training of the table ran beside it.
    #[serde(default)]
    pub alone: bool,
}

impl Trained {
    /// The games of one who plays.
    pub fn games(&self, entrant: Entrant) -> &[GameResult] {
        self.games.iter().find(|(other, _)| *other == entrant).map_or(&[], |(_, games)| games)
    }
}

/// Does what has not been done, as many trainings side by side as there are threads and memory for. Gives what came of
/// each training, seed by seed; `None` when `stop` was set: the same call continues later.
///
/// # Errors
/// When the directory holds other trainings, one cannot be carried out, or there are no records to teach by.
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

/// The same for a share of the jobs. Others do the rest in the same directory, and [`run()`] finds it all done.
///
/// # Errors
/// As for [`run()`].
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

/// Does our jobs of some trainings that need nothing of one another.
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
        // The same comes of any number of threads, so that none need be idle.
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
