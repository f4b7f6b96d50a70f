//! The subjects of a comparison: runs, and rows of reproduced tables.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::ReportError;
use crate::reproduce::Report;
use afterstate_lab::{
    evaluate::SEED,
    log::{EvalLine, Log, LogLine, last_evaluations},
    recipe::Recipe,
    run::{Directory, Run},
    stats::{EvalReport, GameResult, Summary},
};

/// A subject of a report: a run, or a reproduced table with the runs of its rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Subject {
    /// The table, if it is one.
    pub table: Option<Report>,
    /// The runs, grouped by recipe.
    pub series: Vec<Series>,
}

/// Runs with the same recipe.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Its name.
    pub label: String,
    /// The recipe, with the first seed.
    pub recipe: Recipe,
    /// The runs.
    pub members: Vec<Member>,
}

/// A run, at its current progress.
#[derive(Clone, PartialEq, Debug)]
pub struct Member {
    /// Its directory.
    pub directory: Directory,
    /// The lines of its log.
    pub log: Vec<LogLine>,
    /// The evaluations during training.
    pub evaluations: Vec<EvalLine>,
    /// Evaluations after training whose games were kept beside it, by search.
    pub kept: Vec<EvalReport>,
}

/// Reads a run directory, or a directory of `afterstate reproduce`.
///
/// # Errors
/// If it is neither, or damaged.
pub fn load(path: &Path) -> Result<Subject, ReportError> {
    let directory = Directory::new(path);
    if directory.holds_run() {
        let label = path.to_string_lossy().into_owned();
        return Ok(Subject { table: None, series: vec![series(label, vec![path.to_owned()])?] });
    }
    let report = path.join("report.json");
    if !report.exists() {
        return Err(ReportError::Nothing(path.to_owned()));
    }
    let file = |source| ReportError::File { path: report.clone(), source };
    let text = fs::read(&report).map_err(file)?;
    let table: Report = serde_json::from_slice(&text).map_err(|error| file(error.into()))?;
    let mut all = Vec::new();
    for folder in folders(path)? {
        let runs: Vec<_> =
            folders(&folder)?.into_iter().filter(|run| Directory::new(run).holds_run()).collect();
        if !runs.is_empty() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let own = format!("{}/{name}", table.table);
            let row =
                table.rows.iter().position(|row| row.recipe == own || row.recipe.replace('/', ".") == name);
            let label = row.map_or(name, |row| table.rows[row].label.clone());
            all.push((row.unwrap_or(usize::MAX), series(label, runs)?));
        }
    }
    all.sort_by_key(|(row, _)| *row);
    Ok(Subject { table: Some(table), series: all.into_iter().map(|(_, series)| series).collect() })
}

/// The subdirectories of a directory, in natural order.
fn folders(path: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let read = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = read.map_err(|source| ReportError::File { path: path.to_owned(), source })?;
    let mut folders: Vec<_> =
        entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    Ok(folders)
}

fn series(label: String, runs: Vec<PathBuf>) -> Result<Series, ReportError> {
    let mut recipe = None;
    let mut members = Vec::new();
    for run in runs {
        let directory = Directory::new(&run);
        if recipe.is_none() {
            recipe = Run::stored_recipe(&directory, &[])?;
        }
        let log = Log::read(&directory.log())?;
        let evaluations = Log::read(&directory.evaluations())?;
        let side = recipe.as_ref().map_or(4, |recipe| recipe.game.side);
        let kept = kept(&run, side)?;
        members.push(Member { directory, log, evaluations, kept });
    }
    let recipe = recipe.ok_or_else(|| ReportError::Nothing(PathBuf::from(&label)))?;
    Ok(Series { label, recipe, members })
}

/// A line of the games that `eval --out` and `reproduce` write.
#[derive(Deserialize)]
struct KeptLine {
    search: Option<String>,
    game: Option<u64>,
    #[serde(default)]
    score: u64,
    #[serde(default)]
    tile: u64,
    #[serde(default)]
    moves: u64,
    #[serde(default)]
    seconds: f64,
}

/// The evaluations whose games are kept in `games-….jsonl`.
fn kept(run: &Path, side: usize) -> Result<Vec<EvalReport>, ReportError> {
    let read = fs::read_dir(run).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = read.map_err(|source| ReportError::File { path: run.to_owned(), source })?;
    let mut found = BTreeMap::new();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !(name.starts_with("games-") && name.ends_with(".jsonl")) {
            continue;
        }
        let path = entry.path();
        let file = |source: std::io::Error| ReportError::File { path: path.clone(), source };
        let text = fs::read_to_string(&path).map_err(file)?;
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let lines: Result<Vec<KeptLine>, _> = whole.map(serde_json::from_str).collect();
        let lines = lines.map_err(|error| file(error.into()))?;
        let search = lines.iter().find_map(|line| line.search.clone()).unwrap_or_default();
        let results: Vec<GameResult> = lines.iter().filter_map(KeptLine::result).collect();
        let seconds = lines.iter().fold(0.0, |most: f64, line| most.max(line.seconds));
        if let Some(summary) = Summary::of(side, &results) {
            let model = run.to_string_lossy();
            found.insert(
                (search.len(), search.clone()),
                EvalReport::new(&model, &search, SEED, &summary, seconds),
            );
        }
    }
    Ok(found.into_values().collect())
}

impl KeptLine {
    fn result(&self) -> Option<GameResult> {
        let max_exponent = self.tile.checked_ilog2().unwrap_or_default().min(17) as u8;
        Some(GameResult { game: self.game?, score: self.score, max_exponent, moves: self.moves })
    }
}

impl Series {
    /// The evaluations of a run by search: those kept, and the last ones of training.
    pub fn last_evaluations(&self, member: &Member) -> Vec<EvalReport> {
        let known = |search: &str| member.kept.iter().any(|report| report.search == search);
        let last = last_evaluations(&member.evaluations).into_iter().map(|line| line.report);
        last.filter(|report| !known(&report.search)).chain(member.kept.iter().cloned()).collect()
    }

    /// The actions of the longest run.
    pub fn actions(&self) -> u64 {
        let last = |member: &Member| {
            let log = member.log.last().map(|line| line.actions);
            log.max(member.evaluations.last().map(|line| line.actions))
        };
        self.members.iter().filter_map(last).max().unwrap_or_default()
    }
}
