//! `afterstate runs`.

use std::{
    fs,
    io::{Write, stderr},
    path::{Path, PathBuf},
};

use afterstate_lab::{
    log::{EvalLine, Log, LogLine, last_evaluations},
    run::Directory,
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::train::failure;
use crate::{
    error::Failure,
    format::{bytes, counted, mean, percent, thousands},
};

/// The maximum depth of run directories: `runs/PAPER/TABLE/ROW/SEED`, and those of `reproduce`.
pub(super) const DEPTH: usize = 7;

/// List the runs, with their state, score and size
///
/// A run is a directory that `afterstate train` or `afterstate dcnn train` made.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    afterstate runs\n  \
    afterstate runs --dir experiments --json\n  \
    afterstate runs rm runs/quick runs/old"
)]
pub(crate) struct Runs {
    #[command(subcommand)]
    action: Option<Action>,
    /// The directory of the runs
    #[arg(long, value_name = "DIR", default_value = "runs")]
    dir: PathBuf,
    /// Print one JSON array instead
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Action {
    Rm(Remove),
}

/// Remove runs with all their files
///
/// Other files in their directories are kept. After an interruption the same command continues.
#[derive(Args)]
struct Remove {
    /// The directories of the runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
}

/// A run as shown in the list.
struct Entry {
    path: PathBuf,
    state: &'static str,
    share: f64,
    actions: u64,
    evaluation: Option<EvalLine>,
    bytes: u64,
}

impl Runs {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(Action::Rm(remove)) = self.action {
            return remove.run(out);
        }
        let mut paths = Vec::new();
        find(&self.dir, DEPTH, &mut paths);
        paths.sort();
        let entries: Vec<_> = paths.iter().map(|path| Entry::of(path)).collect();
        if self.json {
            return Ok(writeln!(out, "{}", entries.iter().map(Entry::json).collect::<Value>())?);
        }
        if entries.is_empty() {
            let place = self.dir.display();
            return Ok(writeln!(out, "no runs in {place}; `afterstate train quick` makes one")?);
        }
        let width = entries.iter().map(|entry| entry.name().chars().count()).max().unwrap_or_default();
        for entry in &entries {
            let state = format!("{} {}", entry.state, percent(entry.share));
            let score = entry.evaluation.as_ref().map_or("–".to_owned(), |line| {
                format!("{} at {}", mean(&line.report.score), line.report.search)
            });
            let (name, actions, size) = (entry.name(), thousands(entry.actions), bytes(entry.bytes));
            writeln!(out, "{name:<width$}  {state:<15}  {actions:>15} actions  {size:>10}  {score}")?;
        }
        let all: u64 = entries.iter().map(|entry| entry.bytes).sum();
        Ok(writeln!(out, "{}, {}", counted(entries.len() as u64, "run"), bytes(all))?)
    }
}

impl Entry {
    fn of(path: &Path) -> Self {
        let directory = Directory::new(path);
        // Damaged data is skipped: this is a list, not a check.
        let log: Vec<LogLine> = Log::read(&directory.log()).unwrap_or_default();
        let evaluations: Vec<EvalLine> = Log::read(&directory.evaluations()).unwrap_or_default();
        let share = log.last().map_or(0.0, |line| line.budget_share);
        let state = match (directory.is_busy(), share >= 1.0) {
            (true, _) => "running",
            (false, true) => "finished",
            (false, false) => "stopped",
        };
        Entry {
            path: path.to_owned(),
            state,
            share,
            actions: log.last().map_or(0, |line| line.actions),
            evaluation: last_evaluations(&evaluations).into_iter().next(),
            bytes: size(path),
        }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn json(&self) -> Value {
        json!({
            "run": self.path,
            "state": self.state,
            "share": self.share,
            "actions": self.actions,
            "evaluation": self.evaluation,
            "bytes": self.bytes,
        })
    }
}

impl Remove {
    fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        for path in &self.runs {
            let directory = Directory::new(path);
            if !directory.is_taken() && !directory.is_remnant() {
                let message = format!("{} holds no run", path.display());
                return Err(Failure::input(message, "`afterstate runs` lists them; nothing was removed"));
            }
            if directory.is_busy() {
                let message = format!("a process is training in {}", path.display());
                return Err(Failure::input(message, "stop it first; nothing was removed"));
            }
        }
        for path in &self.runs {
            let before = size(path);
            let kept = Directory::new(path).remove().map_err(failure)?;
            writeln!(out, "removed {}, {}", path.display(), bytes(before.saturating_sub(size(path))))?;
            for path in kept {
                let _ = writeln!(stderr(), "warning: {} is not of the run, and is kept", path.display());
            }
        }
        Ok(())
    }
}

/// Finds the directories of runs in a directory.
pub(super) fn find(path: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if Directory::new(path).holds_run() {
        found.push(path.to_owned());
        return;
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&entry.path(), depth, found);
        }
    }
}

/// The disk space of a directory's files, without holes.
fn size(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}
