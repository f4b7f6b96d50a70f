//! What a run writes as it goes: `log.jsonl` and `eval.jsonl`, a JSON object on each line.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::stats::{EvalReport, TileRates};

/// A file of lines that could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line that is not what the program writes.
    #[error("{} line {line} is damaged: {source}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl LogError {
    /// For `map_err`: an error of this action on this file.
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LogError {
        let path = path.to_owned();
        move |source| LogError::Io { action, path, source }
    }
}

/// A report of training. Rates and scores are of the time since the line before; games are episodes that were
/// played from the beginning.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LogLine {
    /// The moves made so far.
    pub actions: u64,
    /// The episodes finished so far, wherever they began.
    pub episodes: u64,
    /// The seconds of training so far, evaluations and interruptions left out.
    pub seconds: f64,
    /// The share of the budget that is used, from 0 to 1.
    pub budget_share: f64,
    /// Moves in each second, over all threads.
    pub moves_per_second: f64,
    /// The mean score of the games; none when no game ended.
    pub mean_score: Option<f64>,
    /// The highest score of the games; none when no game ended.
    pub max_score: Option<u64>,
    /// The share of the games that reached at least each tile.
    pub tiles: TileRates,
    /// The learning rate in force.
    #[serde(flatten)]
    pub rate: Rate,
}

/// The learning rate in force, its schedule applied.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rate {
    /// The rate of a fixed step size.
    Alpha(f64),
    /// The factor on the rates of temporal coherence.
    Beta(f64),
    /// The meta-learning rate of Autostep.
    Mu(f64),
}

/// An evaluation during training.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvalLine {
    /// The moves of training before it.
    pub actions: u64,
    /// The games of training before it.
    pub episodes: u64,
    /// What came out, in the form of `eval --json`.
    #[serde(flatten)]
    pub report: EvalReport,
}

/// A file of JSON lines, open for more.
#[derive(Debug)]
pub struct JsonLines<T> {
    path: PathBuf,
    file: File,
    /// The length of the file's whole lines.
    length: u64,
    line: PhantomData<fn(&T)>,
}

impl<T: Serialize + DeserializeOwned> JsonLines<T> {
    /// Starts an empty file.
    pub fn create(path: &Path) -> Result<Self, LogError> {
        let file = File::create(path).map_err(LogError::io("write", path))?;
        Ok(JsonLines { path: path.to_owned(), file, length: 0, line: PhantomData })
    }

    /// Goes on with a file, or starts one: keeps its lines up to the first that `keep` refuses, and
    /// gives them back. A last line that a crash cut short is removed.
    pub fn resume(path: &Path, keep: impl Fn(&T) -> bool) -> Result<(Self, Vec<T>), LogError> {
        let mut length = 0;
        let mut lines = Vec::new();
        for (line, end) in parse(path)? {
            if !keep(&line) {
                break;
            }
            lines.push(line);
            length = end;
        }
        let open = || {
            let mut file = File::options().write(true).create(true).truncate(false).open(path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::Start(length))?;
            Ok(file)
        };
        let file = open().map_err(LogError::io("write", path))?;
        Ok((JsonLines { path: path.to_owned(), file, length, line: PhantomData }, lines))
    }

    /// All whole lines of a file; none where there is no file.
    pub fn read(path: &Path) -> Result<Vec<T>, LogError> {
        Ok(parse(path)?.into_iter().map(|(line, _)| line).collect())
    }

    /// Adds a line, in one write so that a reader sees it whole. After an error, such as a full disk,
    /// the file is as before, and other lines can follow.
    pub fn append(&mut self, line: &T) -> Result<(), LogError> {
        self.try_append(line).map_err(LogError::io("write", &self.path))
    }

    fn try_append(&mut self, line: &T) -> io::Result<()> {
        let text = serde_json::to_string(line)? + "\n";
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
            return Err(error);
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

/// The lines of a file, each with the offset of its end; a last one without its end is left out.
fn parse<T: DeserializeOwned>(path: &Path) -> Result<Vec<(T, u64)>, LogError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes.map_err(LogError::io("read", path))?,
    };
    let mut end = 0;
    let whole = bytes.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let parse = |(number, line): (usize, &[u8])| {
        end += line.len() as u64;
        let damaged = |source| LogError::Line { path: path.to_owned(), line: number, source };
        serde_json::from_slice(line).map(|value| (value, end)).map_err(damaged)
    };
    (1..).zip(whole).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{GameResult, Summary};

    fn line(actions: u64) -> LogLine {
        LogLine {
            actions,
            episodes: 3,
            seconds: 1.5,
            budget_share: 0.25,
            moves_per_second: 2e6,
            mean_score: Some(1234.5),
            max_score: Some(5000),
            tiles: [(1024, 0.75), (2048, 0.5)].into(),
            rate: Rate::Beta(0.1),
        }
    }

    fn log(lines: &[LogLine]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut log = JsonLines::create(&path).unwrap();
        lines.iter().for_each(|line| log.append(line).unwrap());
        (folder, path)
    }

    #[test]
    fn lines_are_flat_json() {
        let (_folder, path) = log(&[line(10)]);
        let expected = concat!(
            r#"{"actions":10,"episodes":3,"seconds":1.5,"budget_share":0.25,"moves_per_second":2000000.0,"#,
            r#""mean_score":1234.5,"max_score":5000,"tiles":{"1024":0.75,"2048":0.5},"beta":0.1}"#,
            "\n"
        );
        assert_eq!(fs::read_to_string(path).unwrap(), expected);
    }

    #[test]
    fn lines_survive_a_round_trip() {
        let without_games = LogLine { mean_score: None, max_score: None, rate: Rate::Alpha(0.1), ..line(20) };
        let lines = [line(10), without_games];
        let (folder, path) = log(&lines);
        assert_eq!(JsonLines::<LogLine>::read(&path).unwrap(), lines);
        assert_eq!(JsonLines::<LogLine>::read(&folder.path().join("none")).unwrap(), []);

        let result = GameResult { game: 0, score: 8, max_exponent: 2, moves: 5 };
        let report = EvalReport::new("m", "1ply", 1, &Summary::of(4, &[result]).unwrap(), 2.0);
        let eval = EvalLine { actions: 7, episodes: 2, report };
        let path = folder.path().join("eval.jsonl");
        JsonLines::create(&path).unwrap().append(&eval).unwrap();
        assert_eq!(JsonLines::<EvalLine>::read(&path).unwrap(), [eval]);
    }

    #[test]
    fn a_line_cut_short_anywhere_is_ignored_and_then_removed() {
        let (_folder, path) = log(&[line(10), line(20)]);
        let whole = fs::read(&path).unwrap();
        let first = whole.len() / 2;
        for length in first..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(JsonLines::<LogLine>::read(&path).unwrap(), [line(10)], "cut at {length}");
            let (mut log, lines) = JsonLines::resume(&path, |_| true).unwrap();
            assert_eq!(lines, [line(10)]);
            log.append(&line(20)).unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
    }

    #[test]
    fn resuming_drops_what_followed_the_checkpoint() {
        let (folder, path) = log(&[line(10), line(20), line(30)]);
        let (mut log, lines) = JsonLines::resume(&path, |line: &LogLine| line.actions <= 20).unwrap();
        assert_eq!(lines, [line(10), line(20)]);
        log.append(&line(25)).unwrap();
        assert_eq!(JsonLines::<LogLine>::read(&path).unwrap(), [line(10), line(20), line(25)]);
        assert_eq!(JsonLines::<LogLine>::resume(&folder.path().join("new"), |_| true).unwrap().1, []);
    }

    #[test]
    fn a_damaged_line_is_an_error() {
        let (_folder, path) = log(&[line(10)]);
        fs::write(&path, fs::read_to_string(&path).unwrap() + "{\"actions\":\n").unwrap();
        let error = JsonLines::<LogLine>::read(&path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} line 2 is damaged: ", path.display())), "{error}");
    }
}
