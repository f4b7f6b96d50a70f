//! `afterstate train TABLE --all --seeds N --jobs N`: many trainings with one command.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use afterstate_dcnn::Device;
use afterstate_lab::{
    log::EvalLine,
    recipe::{Recipe, rows},
    run::{Directory, Observer, Run, RunError, RunOutcome, Status},
    stats::Spread,
};
use afterstate_threads::{Queue, for_each};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::{Train, failure};
use crate::{
    commands::thread_count,
    error::Failure,
    format::{counted, plus_minus, whole},
    signals::stop_signal,
};

/// The length of the bar for each training.
const STEPS: u64 = 1000;

/// A training of a sweep.
struct Job {
    row: usize,
    seed: u64,
    directory: Directory,
    recipe: Recipe,
}

/// A finished training.
struct Ended {
    row: usize,
    seed: u64,
    directory: Directory,
    outcome: RunOutcome,
}

impl Train {
    /// Trains every row with every seed, several at a time. Finished trainings are not repeated.
    pub(super) fn sweep(&self, name: &str, out: &mut dyn Write) -> Result<(), Failure> {
        let rows =
            if self.all { rows(name).map_err(|error| failure(error.into()))? } else { vec![name.to_owned()] };
        let jobs = self.jobs(&rows)?;
        if self.dry_run {
            return jobs.iter().try_for_each(|job| {
                Ok(writeln!(
                    out,
                    "{}, seed {}: {}",
                    job.recipe.name,
                    job.seed,
                    job.directory.path().display()
                )?)
            });
        }
        let stop = stop_signal()?;
        let (count, all) = (self.jobs_at_once(), jobs.len());
        let (queue, ended, failed) = (Queue::new(jobs.into_iter()), Mutex::new(Vec::new()), Mutex::new(None));
        let bar = bar(all as u64);
        for_each(0..queue.threads(count), |_| {
            while let Some(job) = queue.take().filter(|_| !stop.load(Relaxed)) {
                match train(job, self.device, &stop, &bar) {
                    Ok(done) => lock(&ended).push(done),
                    Err(error) => {
                        // The others save their state.
                        stop.store(true, Relaxed);
                        lock(&failed).get_or_insert(error);
                    }
                }
            }
        });
        bar.finish_and_clear();
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure(error));
        }
        let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.write_sweep(&rows, ended, all, out)
    }

    fn jobs(&self, rows: &[String]) -> Result<Vec<Job>, Failure> {
        let seeds = self.seeds.unwrap_or(1);
        let mut jobs = Vec::new();
        for (row, name) in rows.iter().enumerate() {
            for i in 0..seeds {
                let place = self.place(name);
                let mut overrides = self.overrides(&place);
                overrides.extend(self.seed.map(|seed| format!("seed={seed}")));
                if self.threads.is_none() {
                    let threads = (thread_count(0) / self.jobs_at_once()).max(1);
                    overrides.push(format!("parallel.threads={threads}"));
                }
                let recipe = Recipe::load(name, &overrides).map_err(|error| failure(error.into()))?;
                let seed = recipe.seed + i;
                let recipe = Recipe { seed, ..recipe };
                let path = match &self.out {
                    Some(path) => path.join(recipe.name.rsplit('/').next().unwrap_or(name)),
                    None => Directory::default_for(&recipe, &self.runs).map_err(failure)?.path().to_owned(),
                };
                let directory = Directory::new(path.join(format!("seed-{seed}")));
                jobs.push(Job { row, seed, directory, recipe });
            }
        }
        // One seed of every row first, so that an interrupted sweep has some results for all rows.
        jobs.sort_by_key(|job| (job.seed, job.row));
        Ok(jobs)
    }

    fn jobs_at_once(&self) -> usize {
        self.jobs.unwrap_or(1).max(1) as usize
    }

    fn write_sweep(
        &self,
        rows: &[String],
        mut ended: Vec<Ended>,
        all: usize,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        ended.sort_by_key(|done| (done.row, done.seed));
        let finished = ended.iter().filter(|done| done.outcome.finished).count();
        if self.json {
            let entry = |done: &Ended| {
                json!({
                    "recipe": rows[done.row],
                    "seed": done.seed,
                    "run": done.directory.path(),
                    "finished": done.outcome.finished,
                    "actions": done.outcome.progress.actions,
                    "evaluations": done.outcome.evaluations,
                })
            };
            let trainings: Value = ended.iter().map(entry).collect();
            writeln!(out, "{}", json!({ "finished": finished == all, "trainings": trainings }))?;
        } else {
            for (row, name) in rows.iter().enumerate() {
                let done: Vec<_> = ended.iter().filter(|done| done.row == row).collect();
                write_row(name, &done, out)?;
            }
        }
        if finished < all {
            let message =
                format!("stopped and saved: {finished} of {} finished", counted(all as u64, "training"));
            return Err(Failure::stopped(message, "the same command continues with the others"));
        }
        if !self.json {
            let common = ended.first().and_then(|done| done.directory.path().parent()?.parent());
            let place = common.map(|path| path.display().to_string()).unwrap_or_default();
            writeln!(out, "next: afterstate report {place}")?;
        }
        Ok(())
    }
}

/// The mean over the seeds, for every search of the last evaluation.
fn write_row(name: &str, done: &[&Ended], out: &mut dyn Write) -> Result<(), Failure> {
    let evaluations: Vec<&EvalLine> = done.iter().flat_map(|done| &done.outcome.evaluations).collect();
    let mut searches: Vec<_> = evaluations.iter().map(|line| &line.report.search).collect();
    searches.sort();
    searches.dedup();
    let seeds = counted(done.len() as u64, "seed");
    if searches.is_empty() {
        return Ok(writeln!(out, "{name:<40} {seeds}, not evaluated")?);
    }
    for search in searches {
        let lines = evaluations.iter().filter(|line| line.report.search == *search);
        let means: Vec<_> = lines.map(|line| line.report.score.mean).collect();
        let Some(spread) = Spread::of(means) else { continue };
        writeln!(out, "{name:<40} {search}: {}{} over {seeds}", whole(spread.mean), plus_minus(spread.ci95))?;
    }
    Ok(())
}

fn train(job: Job, device: Device, stop: &AtomicBool, bar: &ProgressBar) -> Result<Ended, RunError> {
    let Job { row, seed, directory, recipe } = job;
    let name = recipe.name.clone();
    let run = Run::resume(directory.clone(), recipe)?.on(device);
    let mut watch = Watch { bar, reached: 0, name: format!("{name}, seed {seed}") };
    let outcome = run.train(stop, &mut watch)?;
    if outcome.finished {
        watch.reach(1.0);
        let score =
            outcome.evaluations.first().map(|line| format!(", mean {}", whole(line.report.score.mean)));
        watch.say(&format!("trained{}", score.unwrap_or_default()));
    }
    Ok(Ended { row, seed, directory, outcome })
}

/// Adds the progress of a training to that of the sweep.
struct Watch<'a> {
    bar: &'a ProgressBar,
    reached: u64,
    name: String,
}

impl Watch<'_> {
    fn reach(&mut self, share: f64) {
        let reached = (share * STEPS as f64) as u64;
        self.bar.inc(reached.saturating_sub(self.reached));
        self.reached = self.reached.max(reached);
    }

    fn say(&self, text: &str) {
        let line = format!("{}: {text}", self.name);
        if self.bar.is_hidden() {
            // Training continues even if progress cannot be shown.
            let _ = writeln!(stderr(), "{line}");
        } else {
            self.bar.println(line);
        }
    }
}

impl Observer for Watch<'_> {
    fn training(&mut self, status: &Status) {
        self.reach(status.share);
    }

    fn warning(&mut self, error: &RunError) {
        self.say(&format!("warning: {error}; training continues"));
    }
}

fn bar(trainings: u64) -> ProgressBar {
    let target =
        if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(STEPS * trainings), target);
    let template = format!("{{bar:40.cyan}} {{percent:>3}}% of {trainings} trainings  {{eta}} left");
    let style = ProgressStyle::with_template(&template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
    bar
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
