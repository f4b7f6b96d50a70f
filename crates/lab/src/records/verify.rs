//! Replaying records against the rules.

use std::path::Path;

use afterstate_game::{Board, State};

use super::{Record, RecordError, Shard, ShardInfo, shards};

/// The counts of what has been verified.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Verified {
    /// The number of shards.
    pub shards: u64,
    /// The number of games.
    pub games: u64,
    /// The number of moves.
    pub moves: u64,
}

/// Replays every game of a directory or a shard: each state follows from the previous move and spawn, each move is
/// legal and has the recorded reward, the scores add up, and games begin with the first tiles and end when no move is
/// left.
///
/// # Errors
/// The first error found.
pub fn verify(path: &Path, mut watch: impl FnMut(Verified)) -> Result<Verified, RecordError> {
    let mut verified = Verified::default();
    for path in shards(path)? {
        let Shard { info, records } = Shard::read(&path)?;
        let games = replay(&info, &records).map_err(|(record, problem)| record.wrong(&path, problem))?;
        verified.games += games;
        verified.moves += records.len() as u64;
        verified.shards += 1;
        watch(verified);
    }
    Ok(verified)
}

/// Replays and counts the games of a shard; errors come with the record.
pub(super) fn replay(info: &ShardInfo, records: &[Record]) -> Result<u64, (Record, String)> {
    let mut replay = Replay { info, before: None, games: 0 };
    for &record in records {
        replay.add(record).map_err(|problem| (record, problem))?;
    }
    match replay.before {
        Some(last) => replay.end().map(|()| replay.games).map_err(|problem| (last, problem)),
        None => Ok(0),
    }
}

/// The games of a shard as they proceed.
struct Replay<'a> {
    info: &'a ShardInfo,
    /// The previous record.
    before: Option<Record>,
    /// The number of games begun.
    games: u64,
}

impl Replay<'_> {
    fn add(&mut self, record: Record) -> Result<(), String> {
        let slide = record.state.slide(record.action).ok_or("the move is illegal")?;
        ensure(slide.reward == record.reward, || format!("the reward is {}", slide.reward))?;
        let is_empty = slide.afterstate.board().exponent(record.spawn_cell.into()) == 0;
        ensure(is_empty, || "the tile appears on another".into())?;
        match self.before {
            Some(before) if before.game == record.game => {
                ensure(record.ply == before.ply + 1, || format!("it follows ply {}", before.ply))?;
                ensure(next(&before) == record.state, || format!("the state should be {}", next(&before)))?;
                let rest = before.score_to_end.checked_sub(before.reward);
                ensure(rest == Some(record.score_to_end), || "the score to the end does not add up".into())?;
            }
            before => {
                self.end()?;
                let number = before.map_or(self.info.first_game, |before| before.game + 1);
                ensure(record.game == number, || format!("the game should be {number}"))?;
                ensure(record.ply == 0, || "the game begins in the middle".into())?;
                let tiles = 16 - record.state.board().empty_count();
                let right = tiles == self.info.about.start_tiles && record.state.board().max_exponent() <= 2;
                ensure(right, || format!("no game begins with {}", record.state))?;
                self.games += 1;
            }
        }
        self.before = Some(record);
        Ok(())
    }

    /// Checks that the last game is over, if there is one.
    fn end(&self) -> Result<(), String> {
        let Some(last) = &self.before else { return Ok(()) };
        ensure(next(last).is_terminal(), || "the game ends here, but is not over".into())?;
        ensure(last.score_to_end == last.reward, || {
            "the score to the end is not that of the last move".into()
        })
    }
}

/// The state after a record's move and spawn.
fn next(record: &Record) -> State<4> {
    let slide = record.state.slide(record.action);
    let board: Option<Board<4>> = slide.map(|slide| slide.afterstate.board());
    let mut cells: Vec<u8> = board.iter().flat_map(Board::exponents).collect();
    if let Some(cell) = cells.get_mut(usize::from(record.spawn_cell)) {
        *cell = record.spawn_exponent;
    }
    // The record of an illegal move, or of a board that no game reaches, has no valid next state.
    Board::from_exponents(&cells).map_or(record.state, State::new)
}

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}
