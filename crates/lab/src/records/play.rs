//! Recording: games on all cores, shard by shard, going on with what is there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_game::Game;
use afterstate_search::Player;

use super::{About, Record, RecordError, ShardInfo, own_shards, shard::write};
use crate::{evaluate::in_parallel, stats::GameResult};

/// The games of a shard; the last one of a recording can have fewer.
pub const GAMES_PER_SHARD: u64 = 20;

/// A recording of games 0, 1, … to a directory.
pub struct Recorder<'a> {
    /// Where the shards go.
    pub directory: &'a Path,
    /// Who plays.
    pub about: About,
    /// The number of games in all.
    pub games: u64,
    /// The number of threads.
    pub threads: usize,
}

/// The first game of the shard of a game.
fn first_of(number: u64) -> u64 {
    number - number % GAMES_PER_SHARD
}

/// A game, from its first move to its last.
struct Played {
    number: u64,
    records: Vec<Record>,
    result: GameResult,
}

impl Recorder<'_> {
    /// Plays the games whose shards are not there yet; a shard is written when its last game has ended. `watch` is told of the
    /// games in finished shards at the beginning, then of each game as it ends; when it returns `false`, recording stops,
    /// and the games of unfinished shards are lost. Returns whether all games are there.
    ///
    /// # Errors
    /// When a shard cannot be written, or the directory holds other games.
    pub fn record<P: Player<4>>(
        &self,
        player: impl Fn() -> P + Sync,
        mut watch: impl FnMut(u64, Option<GameResult>) -> bool,
    ) -> Result<bool, RecordError> {
        let wrong = |source| RecordError::Directory { path: self.directory.to_owned(), source };
        fs::create_dir_all(self.directory).map_err(wrong)?;
        let whole = self.whole_shards()?;
        let there: u64 = whole.iter().map(|&first| self.end(first) - first).sum();
        if !watch(there, None) {
            return Ok(there == self.games);
        }
        let missing = (0..self.games).filter(|number| !whole.contains(&first_of(*number)));
        let mut unfinished: BTreeMap<u64, Vec<Played>> = BTreeMap::new();
        let (mut ended, mut error) = (0, None);
        in_parallel(
            missing,
            self.threads,
            player,
            |player, number, stop| self.play(player, number, stop),
            |played: Option<Played>| {
                let Some(played) = played else { return watch(0, None) && error.is_none() };
                let (first, result) = (first_of(played.number), played.result);
                ended += 1;
                let games = unfinished.entry(first).or_default();
                games.push(played);
                if games.len() as u64 == self.end(first) - first {
                    let games = unfinished.remove(&first).unwrap_or_default();
                    error = self.write(first, games).err().or(error.take());
                }
                watch(1, Some(result)) && error.is_none()
            },
        );
        match error {
            Some(error) => Err(error),
            None => Ok(there + ended == self.games),
        }
    }

    /// The shard whose first game this is.
    fn path(&self, first: u64) -> PathBuf {
        self.directory.join(format!("games-{first:08}.parquet"))
    }

    fn end(&self, first: u64) -> u64 {
        first.saturating_add(GAMES_PER_SHARD).min(self.games)
    }

    /// The first games of the shards that are there and whole.
    fn whole_shards(&self) -> Result<BTreeSet<u64>, RecordError> {
        let mut whole = BTreeSet::new();
        for path in own_shards(self.directory)? {
            let first = path.file_stem().and_then(|name| name.to_str()?.strip_prefix("games-")?.parse().ok());
            let Some(first) = first.filter(|first| *first < self.games && self.path(*first) == path) else {
                continue;
            };
            let info = ShardInfo::read(&path)?;
            if !info.about.plays_like(&self.about) || info.first_game != first {
                let (found, wanted) = (info.about.describe(), self.about.describe());
                return Err(RecordError::Other { path, found, wanted });
            }
            if first.saturating_add(info.games) >= self.end(first) {
                whole.insert(first);
            }
        }
        Ok(whole)
    }

    fn write(&self, first: u64, mut games: Vec<Played>) -> Result<(), RecordError> {
        games.sort_unstable_by_key(|game| game.number);
        let info = ShardInfo {
            about: self.about.clone(),
            first_game: first,
            games: games.len() as u64,
            records_checksum: None,
        };
        let records: Vec<_> = games.into_iter().flat_map(|game| game.records).collect();
        write(&self.path(first), &info, &records)
    }

    /// Plays a game; `None` when it was stopped.
    fn play(&self, player: &mut impl Player<4>, number: u64, stop: &AtomicBool) -> Option<Played> {
        let mut game = Game::<4>::new(self.about.rules(), self.about.seed, number);
        let mut records = Vec::new();
        while let Some(action) = player.advise(game.state()).best() {
            if stop.load(Relaxed) {
                return None;
            }
            let (state, ply) = (game.state(), records.len() as u32);
            let Some(slide) = game.play(action) else { break };
            let (before, after) = (slide.afterstate.board(), game.state().board());
            let spawn_cell =
                (0..16).find(|&cell| before.exponent(cell) != after.exponent(cell)).unwrap_or_default();
            records.push(Record {
                game: number,
                ply,
                state,
                action,
                reward: slide.reward,
                spawn_cell: spawn_cell as u8,
                spawn_exponent: after.exponent(spawn_cell),
                score_to_end: 0,
            });
        }
        let mut rest = 0;
        for record in records.iter_mut().rev() {
            rest += record.reward;
            record.score_to_end = rest;
        }
        let max_exponent = game.state().board().max_exponent();
        let result = GameResult { game: number, score: game.score(), max_exponent, moves: game.moves() };
        Some(Played { number, records, result })
    }
}
