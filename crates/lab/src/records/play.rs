//! Recording: games on all cores, shard by shard, continuing what exists.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use afterstate_game::Game;
use afterstate_search::Player;

use super::{About, Record, RecordError, ShardInfo, own_shards, shard::write};
use crate::{
    deal::{Dealer, Deck, Part},
    evaluate::in_parallel,
    stats::GameResult,
};

/// The number of games of a shard; the last one of a recording can have fewer.
pub const GAMES_PER_SHARD: u64 = 20;

/// A recording of games 0, 1, … to a directory.
pub struct Recorder<'a> {
    /// The output directory.
    pub directory: &'a Path,
    /// Who plays.
    pub about: About,
    /// The total number of games.
    pub games: u64,
    /// The part of the shards to record.
    pub part: Part,
    /// The number of threads.
    pub threads: usize,
}

/// A game, from its first move to its last.
struct Played {
    number: u64,
    records: Vec<Record>,
    result: GameResult,
}

impl Recorder<'_> {
    /// Plays the games of missing shards, and writes a shard when its last game has ended. `watch` receives the number
    /// of games in existing shards first, then each game as it ends; when it returns `false`, recording stops, and the
    /// games of unfinished shards are lost. Players get the flag that is then set. Returns whether all games of the
    /// part are recorded.
    ///
    /// # Errors
    /// If a shard cannot be written, or the directory holds other games.
    pub fn record<P: Player<4>>(
        &self,
        player: impl Fn(&Arc<AtomicBool>) -> P + Sync,
        mut watch: impl FnMut(u64, Option<GameResult>) -> bool,
    ) -> Result<bool, RecordError> {
        let (there, missing) = self.missing()?;
        Ok(watch(there, None) && self.record_dealt(&missing, player, watch)?)
    }

    /// The number of existing games of the part, and its missing shards by number.
    ///
    /// # Errors
    /// If the directory cannot be created or read, or holds other games.
    pub fn missing(&self) -> Result<(u64, Deck), RecordError> {
        let wrong = |source| RecordError::Directory { path: self.directory.to_owned(), source };
        fs::create_dir_all(self.directory).map_err(wrong)?;
        let whole = self.whole_shards()?;
        let there = whole.iter().filter(|&&shard| self.part.holds(shard)).map(|&shard| self.len(shard)).sum();
        Ok((there, Deck::part(self.part, self.shards(), whole)))
    }

    /// Plays the games of shards as they are dealt. `watch` receives each game as it ends.
    ///
    /// # Errors
    /// If a shard cannot be written.
    pub fn record_dealt<P: Player<4>>(
        &self,
        dealer: &dyn Dealer,
        player: impl Fn(&Arc<AtomicBool>) -> P + Sync,
        mut watch: impl FnMut(u64, Option<GameResult>) -> bool,
    ) -> Result<bool, RecordError> {
        let numbers = std::iter::from_fn(|| dealer.next())
            .flat_map(|shard| shard * GAMES_PER_SHARD..shard * GAMES_PER_SHARD + self.len(shard));
        let mut unfinished: BTreeMap<u64, Vec<Played>> = BTreeMap::new();
        let mut error = None;
        let whole = in_parallel(
            numbers,
            self.threads.min(dealer.left().saturating_mul(GAMES_PER_SHARD) as usize),
            player,
            |player, number, stop| self.play(player, number, stop),
            |played: Option<Played>| {
                let Some(played) = played else { return watch(0, None) && error.is_none() };
                let (shard, result) = (played.number / GAMES_PER_SHARD, played.result);
                let games = unfinished.entry(shard).or_default();
                games.push(played);
                if games.len() as u64 == self.len(shard) {
                    let games = unfinished.remove(&shard).unwrap_or_default();
                    error = self.write(shard, games).err().or(error.take());
                }
                watch(1, Some(result)) && error.is_none()
            },
        );
        error.map_or(Ok(whole), Err)
    }

    /// The number of games of the part.
    pub fn total(&self) -> u64 {
        (0..self.shards()).filter(|&shard| self.part.holds(shard)).map(|shard| self.len(shard)).sum()
    }

    /// The total number of shards.
    fn shards(&self) -> u64 {
        self.games.div_ceil(GAMES_PER_SHARD)
    }

    /// The number of games in a shard.
    fn len(&self, shard: u64) -> u64 {
        GAMES_PER_SHARD.min(self.games - shard * GAMES_PER_SHARD)
    }

    /// The file of a shard, named by its first game.
    fn path(&self, shard: u64) -> PathBuf {
        self.directory.join(format!("games-{:08}.parquet", shard * GAMES_PER_SHARD))
    }

    /// The complete shards that exist.
    fn whole_shards(&self) -> Result<HashSet<u64>, RecordError> {
        let mut whole = HashSet::new();
        for path in own_shards(self.directory)? {
            let first = path.file_stem().and_then(|name| name.to_str()?.strip_prefix("games-")?.parse().ok());
            let shard = first.map(|first: u64| first / GAMES_PER_SHARD);
            let Some(shard) = shard.filter(|&shard| shard < self.shards() && self.path(shard) == path) else {
                continue;
            };
            let info = ShardInfo::read(&path)?;
            if !info.about.plays_like(&self.about) || info.first_game != shard * GAMES_PER_SHARD {
                let (found, wanted) = (info.about.describe(), self.about.describe());
                return Err(RecordError::Other { path, found, wanted });
            }
            if info.games >= self.len(shard) {
                whole.insert(shard);
            }
        }
        Ok(whole)
    }

    fn write(&self, shard: u64, mut games: Vec<Played>) -> Result<(), RecordError> {
        games.sort_unstable_by_key(|game| game.number);
        let info = ShardInfo {
            about: self.about.clone(),
            first_game: shard * GAMES_PER_SHARD,
            games: games.len() as u64,
            records_checksum: None,
        };
        let records: Vec<_> = games.into_iter().flat_map(|game| game.records).collect();
        write(&self.path(shard), &info, &records)
    }

    /// Plays a game; `None` if it was stopped.
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
