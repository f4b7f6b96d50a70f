//! Results of evaluations made by the server, stored in a file to survive restarts.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

use afterstate_lab::{
    log::{Header, Line, Log, LogError, Repaired},
    stats::{EvalReport, GameResult, Summary},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::models::lock;

/// The file, in the directory of runs.
pub(crate) const FILE: &str = "evaluations.jsonl";

/// The number of latest results that are listed; the file keeps all.
const REMEMBERED: usize = 50;

/// The result of an evaluation: a line of the file, like one of `eval.jsonl`, with scores instead of training progress.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Evaluation {
    /// The output of `afterstate eval --json`.
    #[serde(flatten)]
    pub(crate) report: EvalReport,
    /// The scores by game number.
    #[serde(default)]
    pub(crate) scores: Vec<u64>,
}

impl Evaluation {
    /// `None` without games.
    pub(crate) fn new(
        model: &str,
        search: &str,
        seed: u64,
        results: &[GameResult],
        seconds: f64,
    ) -> Option<Self> {
        let is_small = results.iter().all(|result| result.max_exponent <= 10);
        let summary = Summary::of(if is_small { 3 } else { 4 }, results)?;
        let report = EvalReport::new(model, search, seed, &summary, seconds);
        let mut by_number: Vec<&GameResult> = results.iter().collect();
        by_number.sort_unstable_by_key(|result| result.game);
        Some(Evaluation { report, scores: by_number.iter().map(|result| result.score).collect() })
    }
}

/// The known results.
pub(crate) struct Results {
    path: PathBuf,
    /// Latest first.
    known: Mutex<VecDeque<Evaluation>>,
}

impl Results {
    /// Opens those of a directory; also returns what is wrong with its file.
    pub(crate) fn open(runs: &Path) -> (Self, Vec<String>) {
        let path = runs.join(FILE);
        let (known, warning) = match if path.exists() { go_on(&path) } else { Ok((None, Vec::new(), None)) } {
            Ok((_, known, repaired)) => (known, repaired.map(|repaired| repaired.to_string())),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let known = known.into_iter().rev().take(REMEMBERED).collect();
        (Results { path, known: Mutex::new(known) }, warning.into_iter().collect())
    }

    /// The latest results, latest first.
    pub(crate) fn latest(&self) -> Vec<Evaluation> {
        lock(&self.known).iter().cloned().collect()
    }

    /// Adds a result. It is known from now on even if it could not be written.
    pub(crate) fn add(&self, evaluation: Evaluation) -> Result<(), LogError> {
        let mut known = lock(&self.known);
        let written = append(&self.path, &evaluation);
        known.push_front(evaluation);
        known.truncate(REMEMBERED);
        written
    }
}

impl Line for Evaluation {
    const KIND: &'static str = "evaluations here";
}

type GoneOn = (Option<Log<Evaluation>>, Vec<Evaluation>, Option<Repaired>);

/// Opens the file briefly: several servers can share a directory.
fn go_on(path: &Path) -> Result<GoneOn, LogError> {
    let (log, known, repaired) = Log::resume(path, &Header::of::<Evaluation>(&json!({})), |_| true)?;
    Ok((Some(log), known, repaired))
}

/// Adds a line to the file.
fn append(path: &Path, evaluation: &Evaluation) -> Result<(), LogError> {
    if let Some(directory) = path.parent() {
        // Problems are reported when the file is opened.
        let _ = fs::create_dir_all(directory);
    }
    go_on(path)?.0.map_or(Ok(()), |mut log| log.append(evaluation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(seed: u64) -> Evaluation {
        let result = |game, score| GameResult { game, score, max_exponent: 5, moves: 9 };
        Evaluation::new("m", "1ply", seed, &[result(1, 8), result(0, 4)], 2.0).expect("two games")
    }

    #[test]
    fn results_outlive_the_server() {
        let folder = tempfile::tempdir().expect("a directory");
        let runs = folder.path().join("runs");
        let (results, warnings) = Results::open(&runs);
        assert!(results.latest().is_empty() && warnings.is_empty());
        for seed in 1..=3 {
            results.add(evaluation(seed)).expect("kept");
        }
        let (results, warnings) = Results::open(&runs);
        assert_eq!((results.latest(), warnings), (vec![evaluation(3), evaluation(2), evaluation(1)], vec![]));
        assert_eq!(results.latest()[0].scores, [4, 8], "by number");
    }

    #[test]
    fn lines_of_runs_can_be_read() {
        let line = serde_json::to_value(evaluation(1)).expect("JSON");
        assert_eq!(serde_json::from_value::<EvalReport>(line).expect("a report"), evaluation(1).report);
    }

    #[test]
    fn damaged_lines_are_left_out_and_told() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join(FILE);
        let (results, _) = Results::open(folder.path());
        (1..=3).for_each(|seed| results.add(evaluation(seed)).expect("kept"));
        let text = fs::read_to_string(&path).expect("a file");
        // The last line was cut short; the line that follows must not be lost with it.
        let damaged = text.replace("\"seed\":2", "\"seed\":7") + &text[..20];
        fs::write(&path, damaged).expect("a file");
        let (results, warnings) = Results::open(folder.path());
        assert_eq!(results.latest(), [evaluation(3), evaluation(1)]);
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains("1 line damaged"), "{warning}");
        results.add(evaluation(4)).expect("kept");
        let (results, warnings) = Results::open(folder.path());
        assert_eq!(
            (results.latest(), warnings.len()),
            (vec![evaluation(4), evaluation(3), evaluation(1)], 0)
        );
    }

    #[test]
    fn results_from_before_there_were_checksums_are_known() {
        let folder = tempfile::tempdir().expect("a directory");
        let line = serde_json::to_string(&evaluation(1)).expect("JSON");
        fs::write(folder.path().join(FILE), line + "\n").expect("a file");
        let (results, warnings) = Results::open(folder.path());
        assert_eq!((results.latest(), warnings), (vec![evaluation(1)], vec![]));
    }

    #[test]
    fn what_cannot_be_written_is_known_all_the_same() {
        let folder = tempfile::tempdir().expect("a directory");
        fs::create_dir(folder.path().join(FILE)).expect("a directory in the way");
        let (results, warnings) = Results::open(folder.path());
        assert_eq!(warnings.len(), 1);
        assert!(results.add(evaluation(1)).is_err());
        assert_eq!(results.latest(), [evaluation(1)]);
    }
}
