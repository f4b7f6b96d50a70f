//! Play records: every move of the games of a strong player, as Parquet, for networks to learn from (kondo-2019,
//! section 4.2).
//!
//! A directory of records holds shards, `games-00000000.parquet` and so on, each with some whole games and, in its
//! metadata, who played them. Shards are written atomically. Records of several players, such as the three teachers of
//! kondo-2019, are subdirectories of one directory.

mod play;
mod shard;
mod shuffle;
mod verify;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use afterstate_game::{Move, State};
use afterstate_network::file::FileError;
use parquet::errors::ParquetError;
use xxhash_rust::xxh3::Xxh3Default;

pub use play::{GAMES_PER_SHARD, Recorder};
pub use shard::{About, Shard, ShardInfo};
pub use shuffle::Shuffled;
pub use verify::{Verified, verify};

/// A move of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// The number of the game.
    pub game: u64,
    /// The number of the move in the game, from 0.
    pub ply: u32,
    /// The state in which it was made.
    pub state: State<4>,
    /// The move.
    pub action: Move,
    /// Its reward.
    pub reward: u32,
    /// The cell where the new tile appeared, row-major from 0.
    pub spawn_cell: u8,
    /// The exponent of the new tile: 1 or 2.
    pub spawn_exponent: u8,
    /// The score from this move to the end of the game, including its own reward.
    pub score_to_end: u32,
}

impl Record {
    /// An error in this record of a shard.
    fn wrong(&self, path: &Path, problem: String) -> RecordError {
        RecordError::Wrong { path: path.to_owned(), game: self.game, ply: self.ply, problem }
    }
}

/// Why records cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The directory cannot be read or created.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There are no records.
    #[error("{} holds no play records, which are files named games-….parquet", .0.display())]
    Empty(PathBuf),
    /// A shard that cannot be written.
    #[error(transparent)]
    Write(#[from] FileError),
    /// A shard that cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The shard.
        path: PathBuf,
        /// What is wrong with it.
        source: ParquetError,
    },
    /// A shard whose records or metadata have changed.
    #[error("{} is damaged: the checksum of its records is {found}, but should be {expected}", path.display())]
    Checksum {
        /// The shard.
        path: PathBuf,
        /// The checksum in its metadata.
        expected: String,
        /// The checksum of its content.
        found: String,
    },
    /// A record that breaks the rules.
    #[error("{}: game {game}, ply {ply}: {problem}", path.display())]
    Wrong {
        /// The shard.
        path: PathBuf,
        /// The number of the game.
        game: u64,
        /// The number of the move.
        ply: u32,
        /// What is wrong.
        problem: String,
    },
    /// A shard without our metadata.
    #[error("{} has no metadata of play records", .0.display())]
    NoMetadata(PathBuf),
    /// A shard of other games than those to be recorded.
    #[error("{} holds games of {found}, not of {wanted}", path.display())]
    Other {
        /// The shard.
        path: PathBuf,
        /// The player of the games found.
        found: String,
        /// The player to be recorded.
        wanted: String,
    },
}

/// The shards of a directory, by the numbers of their games, followed by those of its subdirectories, by name; a file
/// is a single shard.
///
/// # Errors
/// If there are none, or a directory cannot be read.
pub fn shards(path: &Path) -> Result<Vec<PathBuf>, RecordError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut directories: Vec<_> = entries(path)?.into_iter().filter(|path| path.is_dir()).collect();
    directories.sort();
    let mut shards = own_shards(path)?;
    for directory in directories {
        shards.extend(own_shards(&directory)?);
    }
    if shards.is_empty() { Err(RecordError::Empty(path.to_owned())) } else { Ok(shards) }
}

/// The shards of the directory itself, by the numbers of their games.
fn own_shards(path: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let is_shard = |name: &str| name.starts_with("games-") && name.ends_with(".parquet");
    let mut shards = entries(path)?;
    shards.retain(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_shard));
    shards.sort();
    Ok(shards)
}

fn entries(path: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let wrong = |source| RecordError::Directory { path: path.to_owned(), source };
    let entries = fs::read_dir(path).map_err(wrong)?;
    entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(wrong)
}

/// The checksum of the names and contents of shards, by which a training detects changes.
///
/// # Errors
/// If one cannot be read.
pub fn digest(shards: &[PathBuf]) -> Result<String, RecordError> {
    let mut hash = Xxh3Default::new();
    for shard in shards {
        let info = ShardInfo::read(shard)?;
        hash.update(shard.file_name().unwrap_or_default().as_encoded_bytes());
        hash.update(serde_json::to_string(&info).unwrap_or_default().as_bytes());
    }
    Ok(format!("{:016x}", hash.digest()))
}
