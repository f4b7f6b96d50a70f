//! Results of an evaluation kept in a file, game by game, so that one that was interrupted can go on.

use std::{collections::HashSet, path::Path};

use afterstate_network::file::safetensors::TensorFile;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    log::{JsonLines, LogError},
    stats::GameResult,
};

/// What the games of a file have in common: its first line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptHeader {
    /// The model that played.
    pub model: String,
    /// The checksum of its file's header, which holds those of all tables.
    pub checksum: String,
    /// The search that it played with.
    pub search: String,
    /// The seed of the games.
    pub seed: u64,
}

/// A line of the file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Header(KeptHeader),
    Game(KeptGame),
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct KeptGame {
    game: u64,
    score: u64,
    tile: u64,
    moves: u64,
    /// Seconds of evaluation until this game ended, interruptions left out.
    seconds: f64,
}

/// Why results cannot be kept in a file.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] LogError),
    /// The file holds other games.
    #[error("{path} holds games of {found}, not of {wanted}")]
    Other {
        /// The file.
        path: String,
        /// What it holds.
        found: String,
        /// What was asked for.
        wanted: String,
    },
}

/// A file of games, open for more.
pub struct KeptGames {
    lines: JsonLines<Line>,
    results: Vec<GameResult>,
    seconds: f64,
}

/// What a file of games holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept {
    /// What the games have in common.
    pub header: KeptHeader,
    /// The games, in the order in which they ended.
    pub results: Vec<GameResult>,
    /// The seconds that they took.
    pub seconds: f64,
}

impl Kept {
    /// Reads a file of games; `None` when it is a file of something else.
    pub fn read(path: &Path) -> Option<Kept> {
        let mut lines = JsonLines::<Line>::read(path).ok()?.into_iter();
        let Some(Line::Header(header)) = lines.next() else { return None };
        let mut kept = Kept { header, results: Vec::new(), seconds: 0.0 };
        for line in lines {
            if let Line::Game(game) = line {
                kept.seconds = kept.seconds.max(game.seconds);
                kept.results.push(game.result());
            }
        }
        Some(kept)
    }
}

impl KeptGames {
    /// Goes on with a file, or begins one.
    ///
    /// # Errors
    /// When the file cannot be read or written, or holds games of another evaluation.
    pub fn open(path: &Path, header: &KeptHeader) -> Result<Self, KeepError> {
        let (mut lines, found) = JsonLines::resume(path, |_| true)?;
        let mut kept = Vec::new();
        let mut first = None;
        for line in found {
            match line {
                Line::Header(header) => first = first.or(Some(header)),
                Line::Game(game) => kept.push(game),
            }
        }
        match first {
            None => lines.append(&Line::Header(header.clone()))?,
            Some(found) if found == *header => {}
            Some(found) => {
                let (found, wanted) = (found.describe(), header.describe());
                return Err(KeepError::Other { path: path.display().to_string(), found, wanted });
            }
        }
        let seconds = kept.iter().fold(0.0, |seconds: f64, game| seconds.max(game.seconds));
        let results = kept.iter().map(KeptGame::result).collect();
        Ok(KeptGames { lines, results, seconds })
    }

    /// The games in the file, in the order in which they ended.
    pub fn results(&self) -> &[GameResult] {
        &self.results
    }

    /// The numbers of the games in the file.
    pub fn played(&self) -> HashSet<u64> {
        self.results.iter().map(|result| result.game).collect()
    }

    /// The seconds that the games in the file took.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Adds a game that ended after so many seconds.
    ///
    /// # Errors
    /// When it cannot be written; the file is as before then.
    pub fn add(&mut self, result: &GameResult, seconds: f64) -> Result<(), KeepError> {
        let GameResult { game, score, max_exponent, moves } = *result;
        let line = KeptGame { game, score, tile: 1 << max_exponent, moves, seconds };
        self.lines.append(&Line::Game(line))?;
        self.results.push(*result);
        Ok(())
    }
}

/// The checksum of a model file's header, which holds those of all tables.
pub fn header_checksum(file: &TensorFile) -> String {
    format!("{:016x}", xxh3_64(file.header()))
}

impl KeptHeader {
    fn describe(&self) -> String {
        let KeptHeader { model, checksum, search, seed } = self;
        format!("{model} (checksum {checksum}) with {search} and seed {seed}")
    }
}

impl KeptGame {
    fn result(&self) -> GameResult {
        let max_exponent = self.tile.checked_ilog2().unwrap_or_default().min(17) as u8;
        GameResult { game: self.game, score: self.score, max_exponent, moves: self.moves }
    }
}
