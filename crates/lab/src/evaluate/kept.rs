//! The results of an evaluation, stored in a file game by game, so that an interrupted one can continue.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use afterstate_network::file::safetensors::TensorFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use super::{PlayOutcome, Position};
use crate::{
    deal::Part,
    log::{Header, Line, Log, LogError, Repaired},
    stats::GameResult,
};

/// The header of a file of games: what they have in common.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptHeader {
    /// The model that played.
    pub model: String,
    /// The checksum of its file's header, which holds those of all tables.
    pub checksum: String,
    /// The search that was used.
    pub search: String,
    /// The seed of the games.
    pub seed: u64,
    /// The goal of the steps whose first positions are stored with the games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collect: Option<u32>,
    /// The file's share of an evaluation that is divided.
    #[serde(default, flatten)]
    pub share: Option<Share>,
}

/// One part of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Share {
    /// Which part.
    pub part: Part,
    /// The number of games of all parts.
    pub games: u64,
    /// The side of the board.
    pub side: usize,
}

/// A line of a file of games.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct KeptGame {
    pub(super) game: u64,
    score: u64,
    tile: u64,
    moves: u64,
    /// Seconds of evaluation until this game ended, excluding interruptions.
    pub(super) seconds: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) positions: Vec<Position>,
    /// The last board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    board: Option<String>,
    /// The number of moves after which each new largest tile first appeared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    firsts: BTreeMap<String, u64>,
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
    positions: Vec<Position>,
    seconds: f64,
}

/// The content of a file of games.
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
    /// Reads a file of games; `None` if it is some other file. Damaged lines are skipped.
    pub fn read(path: &Path) -> Option<Kept> {
        let (header, games) = Log::<KeptGame>::read_with_header(path).ok()?;
        Some(Kept { header: header.owner()?, seconds: seconds(&games), results: results(&games) })
    }
}

/// Each game once: no game is played twice, so a duplicate line was copied.
fn results(games: &[KeptGame]) -> Vec<GameResult> {
    let mut seen = HashSet::new();
    games.iter().filter(|game| seen.insert(game.game)).map(KeptGame::result).collect()
}

pub(super) fn seconds(games: &[KeptGame]) -> f64 {
    games.iter().fold(0.0, |seconds: f64, game| seconds.max(game.seconds))
}

impl KeptGames {
    /// Continues a file, or creates one. Damaged lines are dropped, so that their games are played again; the original
    /// file is then kept aside.
    ///
    /// # Errors
    /// If the file is something else or holds games of another evaluation, another process is writing to it, or it
    /// cannot be read or written.
    pub fn open(path: &Path, header: &KeptHeader) -> Result<(Self, Option<Repaired>), LogError> {
        let (log, games, repaired) = Log::open(path, &Header::of::<KeptGame>(header))?;
        let (results, seconds) = (results(&games), seconds(&games));
        let positions = games.into_iter().flat_map(|game| game.positions).collect();
        Ok((KeptGames { log, results, positions, seconds }, repaired))
    }

    /// The games in the file, in the order in which they ended.
    pub fn results(&self) -> &[GameResult] {
        &self.results
    }

    /// The outcome of the games below a number.
    pub fn outcome(&self, end: u64) -> PlayOutcome {
        let results = self.results.iter().filter(|result| result.game < end).copied().collect();
        let positions = self.positions.iter().filter(|position| position.game < end).cloned().collect();
        PlayOutcome { results, positions, ..PlayOutcome::default() }
    }

    /// The numbers of the games in the file.
    pub fn played(&self) -> HashSet<u64> {
        self.results.iter().map(|result| result.game).collect()
    }

    /// The seconds that the games in the file took.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Adds games, with the seconds of evaluation so far.
    ///
    /// # Errors
    /// If one cannot be written; the file is then as it was before that game.
    pub fn add(&mut self, ended: &PlayOutcome, seconds: f64) -> Result<(), LogError> {
        for result in &ended.results {
            let GameResult { game, score, max_exponent, moves } = *result;
            let positions = ended.positions.iter().filter(|position| position.game == game);
            let positions: Vec<_> = positions.cloned().collect();
            self.positions.extend_from_slice(&positions);
            let course = ended.courses.iter().find(|course| course.game == game);
            let firsts = course.iter().flat_map(|course| &course.firsts);
            self.log.append(&KeptGame {
                game,
                score,
                tile: 1 << max_exponent,
                moves,
                seconds,
                positions,
                board: course.map(|course| course.board.clone()),
                firsts: firsts.map(|(tile, moves)| (tile.to_string(), *moves)).collect(),
            })?;
            self.results.push(*result);
        }
        Ok(())
    }
}

/// The checksum of a model file's header, which holds those of all tables.
pub fn header_checksum(file: &TensorFile) -> String {
    format!("{:016x}", xxh3_64(file.header()))
}

impl KeptGame {
    pub(super) fn result(&self) -> GameResult {
        let max_exponent = self.tile.checked_ilog2().unwrap_or_default().min(17) as u8;
        GameResult { game: self.game, score: self.score, max_exponent, moves: self.moves }
    }
}
