//! Runs on disk.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use afterstate_lab::{
    log::{EvalLine, LogLine},
    recipe::Recipe,
    run::Directory,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::models::is_inside;

/// Runs of a recipe `paper/table/row` are three directories deep.
const DEPTH: usize = 4;

/// The maximum number of runs that are listed.
const MOST: usize = 1000;

/// A run in the directory of runs.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) directory: Directory,
}

/// What a run is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunState {
    Running,
    Finished,
    Stopped,
}

/// An entry of the list of runs.
#[derive(Serialize)]
pub(crate) struct Line {
    name: String,
    recipe: String,
    description: String,
    state: RunState,
    actions: u64,
    episodes: u64,
    seconds: f64,
    moves_per_second: f64,
    /// The share of the budget used, from 0 to 1.
    budget: f64,
    /// The mean score of the last evaluation, or else of the last games of training.
    mean: Option<f64>,
    has_model: bool,
    /// The size of its files.
    bytes: u64,
    /// The bytes written so far of a checkpoint in progress.
    saving: Option<u64>,
}

impl Found {
    /// The run with this name.
    pub(crate) fn named(runs: &Path, name: &str) -> Option<Found> {
        let directory = Directory::new(runs.join(name));
        (is_inside(name) && directory.holds_run()).then(|| Found { name: name.into(), directory })
    }

    /// Whether its budget is used up.
    pub(crate) fn is_finished(&self) -> bool {
        let line: Option<LogLine> = last_line(&self.directory.log());
        line.is_some_and(|line| line.budget_share >= 1.0)
    }

    pub(crate) fn state(&self) -> RunState {
        if self.directory.is_busy() {
            RunState::Running
        } else if self.is_finished() {
            RunState::Finished
        } else {
            RunState::Stopped
        }
    }

    /// The bytes written so far of a checkpoint in progress.
    pub(crate) fn saving(&self) -> Option<u64> {
        saving(&self.directory)
    }

    /// Its entry in the list.
    pub(crate) fn line(&self) -> Line {
        let log: Option<LogLine> = last_line(&self.directory.log());
        let evaluation: Option<EvalLine> = last_line(&self.directory.evaluations());
        let text = fs::read_to_string(self.directory.recipe()).unwrap_or_default();
        let recipe = Recipe::parse(&self.name, "recipe.toml", &text, &[]).ok();
        let number = |number: fn(&LogLine) -> f64| log.as_ref().map_or(0.0, number);
        let mean = evaluation.map(|line| line.report.score.mean);
        Line {
            name: self.name.clone(),
            recipe: recipe.as_ref().map(|recipe| recipe.name.clone()).unwrap_or_default(),
            description: recipe.map(|recipe| recipe.description).unwrap_or_default(),
            state: self.state(),
            actions: log.as_ref().map_or(0, |line| line.actions),
            episodes: log.as_ref().map_or(0, |line| line.episodes),
            seconds: number(|line| line.seconds),
            moves_per_second: number(|line| line.moves_per_second),
            budget: number(|line| line.budget_share),
            mean: mean.or(log.and_then(|line| line.mean_score)),
            has_model: self.directory.model().is_file(),
            bytes: size(self.directory.path()),
            saving: self.saving(),
        }
    }
}

/// The bytes of all files in a directory.
pub(crate) fn size(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

/// How much of a model or checkpoint in progress has been written: they go to a temporary file first.
fn saving(directory: &Directory) -> Option<u64> {
    let places = [directory.path().to_owned(), directory.path().join("checkpoint")];
    let entries = places.iter().filter_map(|place| fs::read_dir(place).ok()).flatten().flatten();
    let is_temporary = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with('.') && name.contains(".safetensors.tmp-")
    };
    let bytes: Vec<u64> =
        entries.filter(is_temporary).filter_map(|entry| Some(entry.metadata().ok()?.len())).collect();
    (directory.is_busy() && !bytes.is_empty()).then(|| bytes.iter().sum())
}

/// All runs, by name.
pub(crate) fn list(runs: &Path) -> Vec<Found> {
    collected(runs, Directory::holds_run)
}

/// All directories with a model, by name: runs, and what is left of them.
pub(crate) fn with_models(runs: &Path) -> Vec<Found> {
    collected(runs, |directory| directory.model().is_file())
}

fn collected(runs: &Path, is_wanted: fn(&Directory) -> bool) -> Vec<Found> {
    let mut found = Vec::new();
    collect(runs, "", DEPTH, is_wanted, &mut found);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn collect(
    directory: &Path,
    prefix: &str,
    depth: usize,
    is_wanted: fn(&Directory) -> bool,
    found: &mut Vec<Found>,
) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let Some(part) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if found.len() >= MOST || !is_inside(&part) || !path.is_dir() {
            continue;
        }
        let name = if prefix.is_empty() { part } else { format!("{prefix}/{part}") };
        let run = Directory::new(&path);
        if is_wanted(&run) {
            found.push(Found { name, directory: run });
        } else if depth > 1 {
            collect(&path, &name, depth - 1, is_wanted, found);
        }
    }
}

/// The last complete line of a file of JSON lines, without reading all of it.
fn last_line<T: DeserializeOwned>(path: &Path) -> Option<T> {
    /// Longer than any line.
    const TAIL: u64 = 8192;
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let end = tail.iter().rposition(|&byte| byte == b'\n')?;
    let line = tail[..end].rsplit(|&byte| byte == b'\n').next()?;
    serde_json::from_slice(line).ok()
}
