//! Stored games: the unfinished one, the records, and the high scores.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use afterstate_network::file::atomic::write_atomically;
use serde::{Deserialize, Serialize};

use crate::{commands::model::failure, error::Failure, format::thousands};

/// The number of scores listed.
const LISTED: usize = 10;

/// The directory of games.
pub(super) struct Store(PathBuf);

/// An entry of the high scores.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Score {
    pub(super) score: u64,
    pub(super) tile: u32,
    pub(super) moves: u64,
    pub(super) side: usize,
    pub(super) accuracy: Option<f64>,
    /// The seconds since 1970.
    pub(super) time: u64,
}

impl Store {
    /// Opens the named directory, or the default one.
    pub(super) fn open(named: Option<&Path>) -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || Some(variable("HOME")?.join(".local/share"));
        let usual = || variable("XDG_DATA_HOME").or_else(home).unwrap_or_default().join("afterstate/games");
        Store(named.map_or_else(usual, Path::to_owned))
    }

    fn unfinished(&self, side: usize) -> PathBuf {
        self.0.join(format!("unfinished-{side}x{side}.txt"))
    }

    /// The record of the unfinished game, if there is one.
    pub(super) fn read_unfinished(&self, side: usize) -> Option<String> {
        fs::read_to_string(self.unfinished(side)).ok()
    }

    /// Saves a game to be resumed by the next session; another unfinished one is kept as a record. Returns the file.
    pub(super) fn keep_unfinished(&self, record: &str, side: usize) -> Result<PathBuf, Failure> {
        fs::create_dir_all(&self.0)?;
        let path = self.unfinished(side);
        if let Some(other) = self.read_unfinished(side).filter(|other| !is_same_game(other, record)) {
            write(&self.0.join(format!("{}-unfinished.txt", now())), &other)?;
        }
        write(&path, record).map(|()| path)
    }

    /// Saves a game, and its score if it counts. Returns the file.
    pub(super) fn keep(&self, record: &str, score: &Score, counts: bool) -> Result<PathBuf, Failure> {
        fs::create_dir_all(&self.0)?;
        let path = self.0.join(format!("{}-{}.txt", score.time, score.score));
        write(&path, record)?;
        // The game that was to be resumed is over.
        if self.read_unfinished(score.side).is_some_and(|unfinished| is_same_game(&unfinished, record)) {
            fs::remove_file(self.unfinished(score.side))?;
        }
        if !counts {
            return Ok(path);
        }
        let mut scores = self.scores();
        scores.push(score.clone());
        let text: String =
            scores.iter().filter_map(|score| Some(serde_json::to_string(score).ok()? + "\n")).collect();
        write(&self.0.join("scores.jsonl"), &text)?;
        Ok(path)
    }

    /// All scores, in file order; invalid lines are skipped.
    fn scores(&self) -> Vec<Score> {
        let text = fs::read_to_string(self.0.join("scores.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The highest scores on a board.
    pub(super) fn best(&self, side: usize) -> Vec<Score> {
        let mut scores = self.scores();
        scores.retain(|score| score.side == side);
        scores.sort_by_key(|score| std::cmp::Reverse(score.score));
        scores.truncate(LISTED);
        scores
    }

    /// Prints the high scores.
    pub(super) fn write_best(&self, side: usize, out: &mut dyn Write) -> Result<(), Failure> {
        let best = self.best(side);
        if best.is_empty() {
            return Ok(writeln!(out, "no finished game on {side}×{side} yet")?);
        }
        writeln!(out, "best games on {side}×{side}")?;
        for (i, Score { score, tile, moves, accuracy, .. }) in best.iter().enumerate() {
            let accuracy = accuracy.map(|percent| format!("  accuracy {percent:.1}%")).unwrap_or_default();
            let (score, moves) = (thousands(*score), thousands(*moves));
            writeln!(out, "{:>2}. {score:>9}  tile {tile:>6}  {moves:>6} moves{accuracy}", i + 1)?;
        }
        Ok(())
    }
}

/// Whether two records are of the same game: both begin with its numbers.
fn is_same_game(record: &str, other: &str) -> bool {
    record.lines().next() == other.lines().next()
}

/// The seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    write_atomically(path, |file| file.write_all(text.as_bytes())).map_err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_games_are_kept_until_they_end() {
        let folder = tempfile::tempdir().expect("a directory");
        let store = Store::open(Some(folder.path()));
        assert_eq!(store.read_unfinished(4), None);
        let [first, second] = ["afterstate game 1 7 4\n", "afterstate game 1 8 4\n"];
        let half = first.to_owned() + "lr\n";
        store.keep_unfinished(&half, 4).expect("room");
        assert_eq!((store.read_unfinished(4), store.read_unfinished(3)), (Some(half.clone()), None));
        let score = |score| Score { score, tile: 64, moves: 9, side: 4, accuracy: None, time: score };
        for points in [5, 9, 7] {
            let path = store.keep(second, &score(points), true).expect("room");
            assert_eq!(fs::read_to_string(path).expect("a file"), second);
        }
        assert_eq!(store.read_unfinished(4), Some(half.clone()), "another game has ended");
        store.keep(&(half.clone() + "du\n"), &score(3), false).expect("room");
        assert_eq!(store.read_unfinished(4), None, "it has ended, with help");
        store.keep_unfinished(&half, 4).expect("room");
        store.keep_unfinished(second, 4).expect("room");
        assert_eq!(store.read_unfinished(4).as_deref(), Some(second));
        let files = || fs::read_dir(folder.path()).expect("a directory").flatten().map(|entry| entry.path());
        let kept: Vec<_> =
            files().filter(|path| path.to_string_lossy().ends_with("-unfinished.txt")).collect();
        assert!(kept.len() == 1 && fs::read_to_string(&kept[0]).expect("a file") == half, "{kept:?}");
        store.keep("helped", &score(11), false).expect("room");
        assert_eq!(store.best(4), [9, 7, 5].map(score));
        assert!(store.best(3).is_empty());
        let mut list = Vec::new();
        store.write_best(4, &mut list).expect("memory");
        assert!(String::from_utf8(list).expect("text").contains(" 1.         9  tile     64"));
    }
}
