//! Results of evaluations that were made here: kept in a file, so that they outlive the server.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use afterstate_lab::stats::{EvalReport, GameResult, Summary};
use serde::{Deserialize, Serialize};

use crate::models::lock;

/// The file, in the directory of runs.
pub(crate) const FILE: &str = "evaluations.jsonl";

/// The latest results that are told; the file keeps all.
const REMEMBERED: usize = 50;

/// What came of an evaluation: a line of the file, like one of `eval.jsonl`, with scores in place of the training before.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Evaluation {
    /// What `afterstate eval --json` prints.
    #[serde(flatten)]
    pub(crate) report: EvalReport,
    /// The scores by the numbers of the games.
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

/// The results that are known.
pub(crate) struct Results {
    path: PathBuf,
    /// The latest one first.
    known: Mutex<VecDeque<Evaluation>>,
}

impl Results {
    /// Those of a directory, and what is wrong with its file.
    pub(crate) fn open(runs: &Path) -> (Self, Vec<String>) {
        let path = runs.join(FILE);
        let (mut known, mut damaged) = (VecDeque::new(), Vec::new());
        let mut warnings = Vec::new();
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                warnings.push(format!("cannot read {}: {error}", path.display()));
                Vec::new()
            }
            Ok(bytes) => bytes,
        };
        let lines = (1..).zip(bytes.split(|&byte| byte == b'\n'));
        for (number, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice(line) {
                Ok(evaluation) => known.push_front(evaluation),
                Err(error) => damaged.push((number, error)),
            }
        }
        if let Some((number, error)) = damaged.first() {
            let (path, count) = (path.display(), damaged.len());
            warnings.push(format!(
                "{path}: {count} damaged lines are left out, the first is line {number}: {error}"
            ));
        }
        known.truncate(REMEMBERED);
        (Results { path, known: Mutex::new(known) }, warnings)
    }

    /// The latest results, the last one first.
    pub(crate) fn latest(&self) -> Vec<Evaluation> {
        lock(&self.known).iter().cloned().collect()
    }

    /// Adds a result. It is known from now on also where it could not be written.
    pub(crate) fn add(&self, evaluation: Evaluation) -> io::Result<()> {
        let mut known = lock(&self.known);
        let written = append(&self.path, &evaluation);
        known.push_front(evaluation);
        known.truncate(REMEMBERED);
        written
    }
}

/// Adds a line to a file, or leaves it as it was. A last line that was cut short is ended first.
fn append(path: &Path, evaluation: &Evaluation) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut file = File::options().create(true).read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
    }
    let start = if last == [b'\n'] { "" } else { "\n" };
    let line = format!("{start}{}\n", serde_json::to_string(evaluation)?);
    file.write_all(line.as_bytes()).inspect_err(|_| _ = file.set_len(length))
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
        let line = serde_json::to_string(&evaluation(1)).expect("JSON");
        // The last line was cut short: what follows is not to be lost with it.
        fs::write(&path, format!("{line}\n{{}}\n\u{0}\n\n{}", &line[..20])).expect("a file");
        let (results, warnings) = Results::open(folder.path());
        assert_eq!(results.latest(), [evaluation(1)]);
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert!(warning.contains(": 3 damaged lines") && warning.contains("line 2"), "{warning}");
        results.add(evaluation(2)).expect("kept");
        assert_eq!(Results::open(folder.path()).0.latest(), [evaluation(2), evaluation(1)]);
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

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        assert!(append(Path::new("/dev/full"), &evaluation(1)).is_err());
    }
}
