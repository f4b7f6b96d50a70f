//! Results of an evaluation kept in a file, game by game, so that one that was interrupted can go on.

use std::{collections::HashSet, path::Path};

use afterstate_network::file::safetensors::TensorFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    log::{Header, Line, Log, LogError, Repaired},
    stats::GameResult,
};

/// What the games of a file have in common: its header.
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

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct KeptGame {
    game: u64,
    score: u64,
    tile: u64,
    moves: u64,
    /// Seconds of evaluation until this game ended, interruptions left out.
    seconds: f64,
}

impl Line for KeptGame {
    const KIND: &'static str = "games";

    fn is_old_header(object: &Map<String, Value>) -> bool {
        KeptHeader::deserialize(object).is_ok()
    }
}

/// A file of games, open for more.
pub struct KeptGames {
    log: Log<KeptGame>,
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
    /// Reads a file of games; `None` when it is a file of something else. Damaged lines are left out.
    pub fn read(path: &Path) -> Option<Kept> {
        let (header, games) = Log::<KeptGame>::read_with_header(path).ok()?;
        Some(Kept { header: header.owner()?, seconds: seconds(&games), results: results(&games) })
    }
}

/// Each game once: no game is played twice, so a line that is there twice was copied.
fn results(games: &[KeptGame]) -> Vec<GameResult> {
    let mut seen = HashSet::new();
    games.iter().filter(|game| seen.insert(game.game)).map(KeptGame::result).collect()
}

fn seconds(games: &[KeptGame]) -> f64 {
    games.iter().fold(0.0, |seconds: f64, game| seconds.max(game.seconds))
}

impl KeptGames {
    /// Goes on with a file, or begins one. Damaged lines are left out, so that their games are played again; the file as it was is
    /// then kept aside.
    ///
    /// # Errors
    /// When the file is something else or holds games of another evaluation, another process writes to it, or it cannot be read or written.
    pub fn open(path: &Path, header: &KeptHeader) -> Result<(Self, Option<Repaired>), LogError> {
        let (log, games, repaired) = Log::open(path, &Header::of::<KeptGame>(header))?;
        Ok((KeptGames { log, results: results(&games), seconds: seconds(&games) }, repaired))
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
    pub fn add(&mut self, result: &GameResult, seconds: f64) -> Result<(), LogError> {
        let GameResult { game, score, max_exponent, moves } = *result;
        let line = KeptGame { game, score, tile: 1 << max_exponent, moves, seconds };
        self.log.append(&line)?;
        self.results.push(*result);
        Ok(())
    }
}

/// The checksum of a model file's header, which holds those of all tables.
pub fn header_checksum(file: &TensorFile) -> String {
    format!("{:016x}", xxh3_64(file.header()))
}

impl KeptGame {
    fn result(&self) -> GameResult {
        let max_exponent = self.tile.checked_ilog2().unwrap_or_default().min(17) as u8;
        GameResult { game: self.game, score: self.score, max_exponent, moves: self.moves }
    }
}
