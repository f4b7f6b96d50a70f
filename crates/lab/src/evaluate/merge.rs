//! Merging the parts of an evaluation.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    KeptHeader, PlayOutcome, Share,
    kept::{KeptGame, seconds},
};
use crate::log::{Log, LogError};

/// Why files are not the parts of one evaluation.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("no files of games")]
    Nothing,
    /// A file that is damaged, or not a file of games.
    #[error(transparent)]
    File(#[from] LogError),
    /// Games that are not a part.
    #[error("{} holds no part of an evaluation: it was not made with --part", .0.display())]
    NoPart(PathBuf),
    /// A part of another evaluation.
    #[error("{} is a part of another evaluation than {}: its {what} is {found}, not {expected}", path.display(), first.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The file that it is compared with.
        first: PathBuf,
        /// What differs.
        what: &'static str,
        /// The value in the file.
        found: String,
        /// The value in the first file.
        expected: String,
    },
    /// The same part in two files.
    #[error("{} and {} are both part {part}", first.display(), second.display())]
    Twice {
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
        /// The part.
        part: String,
    },
    /// A part that is in none of the files.
    #[error("no file holds part {0}")]
    Missing(String),
    /// A part that is unfinished.
    #[error("{} is not finished: {missing} of its {games} games are missing, the first of them game {game}", path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The number of missing games.
        missing: u64,
        /// The games of the part.
        games: u64,
        /// The first missing game.
        game: u64,
    },
    /// A game that is not of this part, or is there twice.
    #[error("{} holds game {game}, which is a duplicate or not of its part", path.display())]
    Stray {
        /// The file.
        path: PathBuf,
        /// The game.
        game: u64,
    },
}

/// The result of all parts of an evaluation.
#[derive(Clone, PartialEq, Debug)]
pub struct Merged {
    /// What the games have in common, except that the part is that of the first file.
    pub header: KeptHeader,
    /// The side of the board.
    pub side: usize,
    /// All games by number.
    pub outcome: PlayOutcome,
    /// The seconds that all parts took together.
    pub seconds: f64,
}

/// Merges the parts of an evaluation. The result is the same as on one machine.
///
/// # Errors
/// If a part is missing, duplicated, damaged, unfinished, or of another evaluation.
pub fn merge(paths: &[PathBuf]) -> Result<Merged, MergeError> {
    let mut parts: BTreeMap<u64, &Path> = BTreeMap::new();
    let mut merged: Option<(Merged, Share)> = None;
    for path in paths {
        let (header, games) = read(path)?;
        let share = header.share.ok_or_else(|| MergeError::NoPart(path.clone()))?;
        if let Some((first, first_share)) = &merged {
            check_same(path, &paths[0], (&header, share), (&first.header, *first_share))?;
        }
        if let Some(first) = parts.insert(share.part.index(), path) {
            let (first, second) = (first.to_owned(), path.clone());
            return Err(MergeError::Twice { first, second, part: share.part.to_string() });
        }
        let (part, _) = merged.get_or_insert_with(|| {
            let (side, outcome) = (share.side, PlayOutcome::default());
            (Merged { header, side, outcome, seconds: 0.0 }, share)
        });
        part.seconds += seconds(&games);
        part.outcome.add(&whole(path, share, games)?);
    }
    let (mut merged, share) = merged.ok_or(MergeError::Nothing)?;
    let missing = (1..=share.part.of()).find(|index| !parts.contains_key(index));
    if let Some(index) = missing {
        return Err(MergeError::Missing(format!("{index}/{}", share.part.of())));
    }
    merged.outcome.sort();
    Ok(merged)
}

/// Reads a file of games that must not have a damaged line.
fn read(path: &Path) -> Result<(KeptHeader, Vec<KeptGame>), MergeError> {
    let (header, _) = Log::<KeptGame>::read_with_header(path)?;
    let header = header.owner().ok_or_else(|| MergeError::NoPart(path.to_owned()))?;
    Ok((header, Log::<KeptGame>::read(path)?))
}

fn check_same(
    path: &Path,
    first: &Path,
    (found, share): (&KeptHeader, Share),
    (expected, first_share): (&KeptHeader, Share),
) -> Result<(), MergeError> {
    let goal =
        |header: &KeptHeader| header.collect.map_or_else(|| "none".to_owned(), |goal| goal.to_string());
    let pairs = [
        ("model", [&found.checksum, &expected.checksum].map(|sum| format!("of checksum {sum}"))),
        ("search", [found.search.clone(), expected.search.clone()]),
        ("seed", [found.seed, expected.seed].map(|seed| seed.to_string())),
        ("goal of collected positions", [goal(found), goal(expected)]),
        ("number of games", [share.games, first_share.games].map(|games| games.to_string())),
        ("number of parts", [share.part.of(), first_share.part.of()].map(|parts| parts.to_string())),
    ];
    match pairs.into_iter().find(|(_, [found, expected])| found != expected) {
        Some((what, [found, expected])) => {
            let (path, first) = (path.to_owned(), first.to_owned());
            Err(MergeError::Other { path, first, what, found, expected })
        }
        None => Ok(()),
    }
}

/// All games of a part, each once.
fn whole(
    path: &Path,
    Share { part, games, .. }: Share,
    kept: Vec<KeptGame>,
) -> Result<PlayOutcome, MergeError> {
    let mut by_number = BTreeMap::new();
    for kept in kept {
        let game = kept.game;
        let is_ours = part.holds(game) && game < games;
        if !is_ours || by_number.insert(game, kept).is_some() {
            return Err(MergeError::Stray { path: path.to_owned(), game });
        }
    }
    let expected = part.len(games);
    let missing = expected - by_number.len() as u64;
    if let Some(game) = (0..games).find(|&game| part.holds(game) && !by_number.contains_key(&game)) {
        return Err(MergeError::Unfinished { path: path.to_owned(), missing, games: expected, game });
    }
    let mut outcome = PlayOutcome::default();
    for kept in by_number.into_values() {
        outcome.results.push(kept.result());
        outcome.positions.extend(kept.positions);
    }
    Ok(outcome)
}
