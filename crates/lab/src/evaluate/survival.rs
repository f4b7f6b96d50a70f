//! Stage survival: how often a player gets from one step of the late game to the next.
//!
//! On the way to a 65536-tile a game passes eight steps: from 16384 to 32768, then + 16384, + 8192 and so on to + 512,
//! and the 65536 itself. Whole games at this level take long, and their scores vary widely; the share of saved
//! positions that reach the next step tells more in less time.

use std::{
    array,
    io::{self, Write},
    path::Path,
};

use afterstate_game::{Board, Game, ParseError, Rules, State};
use afterstate_network::Network;
use afterstate_search::{Endgames, PlayerSpec};
use serde::{Deserialize, Serialize};

use super::{
    TimeSummary, Times,
    players::{in_parallel, play},
};
use crate::{
    log::{LogError, read_lines},
    stats::wilson,
};

/// The steps to a tile, each identified by the sum of the large tiles at its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    goal: u32,
}

impl Default for Steps {
    /// The steps to the 65536-tile.
    fn default() -> Self {
        Steps { goal: 1 << 16 }
    }
}

/// Why a step is invalid.
#[derive(Debug, thiserror::Error)]
pub enum SurvivalError {
    /// The goal is not a tile to which steps lead.
    #[error("{0} is not a goal: it must be a tile from 256 to 131072")]
    Goal(u32),
    /// A number that is not a step.
    #[error("{found} is not a step towards {goal} here: the steps are {steps}")]
    Step {
        /// The requested one.
        found: u32,
        /// The tile that the steps lead to.
        goal: u32,
        /// The existing steps.
        steps: String,
    },
    /// There is no starting position.
    #[error("{path} holds no position at the start of step {step}")]
    NoPositions {
        /// The file.
        path: String,
        /// The step.
        step: u32,
    },
    /// An invalid board in a file of positions.
    #[error("{path}: `{board}` is no position: {source}")]
    Board {
        /// The file.
        path: String,
        /// The text of the board.
        board: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] LogError),
}

impl Steps {
    /// The steps to a tile.
    ///
    /// # Errors
    /// If it is not a tile, or too small for eight steps.
    pub fn to(goal: u32) -> Result<Self, SurvivalError> {
        let possible = goal.is_power_of_two() && (256..=1 << 17).contains(&goal);
        if possible { Ok(Steps { goal }) } else { Err(SurvivalError::Goal(goal)) }
    }

    /// The sums of large tiles at the start of each step, and the goal.
    fn sums(&self) -> [u32; 9] {
        let part = |k: usize| self.goal - (self.goal >> k);
        array::from_fn(|k| match k {
            0 => self.goal / 4,
            8 => self.goal,
            k => part(k),
        })
    }

    /// Where a stretch that begins at one step ends: at the requested step, or at the next one.
    ///
    /// # Errors
    /// If there is no such step, or it is not after the first.
    pub fn end(&self, from: u32, to: Option<u32>) -> Result<u32, SurvivalError> {
        let sums = self.sums();
        let find = |among: &[u32], step: u32| {
            among.iter().position(|&sum| sum == step).ok_or_else(|| {
                let steps = among.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                SurvivalError::Step { found: step, goal: self.goal, steps }
            })
        };
        let after = &sums[find(&sums[..8], from)? + 1..];
        to.map_or(Ok(0), |to| find(after, to)).map(|index| after[index])
    }

    /// The sum of the distinct large tiles on a board. Tiles are powers of two, so a larger sum is further on.
    fn sum<const N: usize>(&self, board: Board<N>) -> u32 {
        let tiles = board.exponents().fold(0, |tiles, exponent| tiles | 1u32 << exponent);
        tiles & !(self.goal / 128 - 1)
    }

    /// The last step that a board has reached.
    fn reached<const N: usize>(&self, board: Board<N>) -> Option<u32> {
        let sum = self.sum(board);
        self.sums()[..8].iter().rev().find(|&&step| sum >= step).copied()
    }
}

/// A position at the start of a step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Position {
    /// The sum of the large tiles that the step starts with.
    pub step: u32,
    /// The board.
    pub board: String,
    /// The number of the game of which it is part.
    pub game: u64,
    /// The score of that game so far.
    pub score: u64,
}

/// Records the first position of each step in a game.
pub(super) struct Collector {
    steps: Option<Steps>,
    last: u32,
    pub(super) positions: Vec<Position>,
}

impl Collector {
    pub(super) fn new(steps: Option<Steps>) -> Self {
        Collector { steps, last: 0, positions: Vec::new() }
    }

    pub(super) fn note<const N: usize>(&mut self, number: u64, game: &Game<N>) {
        let board = game.state().board();
        let Some(step) = self.steps.and_then(|steps| steps.reached(board)) else { return };
        if step > self.last && !game.state().legal_moves().is_empty() {
            self.last = step;
            self.positions.push(Position {
                step,
                board: board.to_string(),
                game: number,
                score: game.score(),
            });
        }
    }
}

/// How many positions reached the next step.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Survival {
    /// The step at which they started.
    pub from: u32,
    /// The step to reach.
    pub to: u32,
    /// The number of games.
    pub games: u64,
    /// The number of games that reached it.
    pub reached: u64,
    /// How long the moves took.
    pub move_ms: Option<TimeSummary>,
}

impl Survival {
    /// The share that reached it.
    pub fn share(&self) -> f64 {
        self.reached as f64 / self.games as f64
    }

    /// Its 95% confidence interval.
    pub fn interval(&self) -> (f64, f64) {
        wilson(self.reached, self.games)
    }
}

/// The boards of a file of positions that are at the start of a step.
///
/// # Errors
/// If the file cannot be read, or holds none.
pub fn positions_at<const N: usize>(path: &Path, step: u32) -> Result<Vec<State<N>>, SurvivalError> {
    let name = || path.display().to_string();
    let positions: Vec<Position> = read_lines(path)?;
    let states = positions.into_iter().filter(|position| position.step == step).map(|position| {
        let state = position.board.parse();
        state.map_err(|source| SurvivalError::Board { path: name(), board: position.board, source })
    });
    let states: Vec<_> = states.collect::<Result<_, _>>()?;
    if states.is_empty() { Err(SurvivalError::NoPositions { path: name(), step }) } else { Ok(states) }
}

/// Writes positions, one on each line.
///
/// # Errors
/// If writing fails.
pub fn write_positions<'a>(
    out: &mut dyn Write,
    mut positions: impl Iterator<Item = &'a Position>,
) -> io::Result<()> {
    positions.try_for_each(|position| writeln!(out, "{}", serde_json::to_string(position)?))
}

/// Lets a player continue from positions at the start of a step, until a later step or the end of the game. `watch`
/// receives intermediate results; when it returns `false`, play stops and there is no result.
pub struct Survivor<'a> {
    /// The network.
    pub network: &'a Network,
    /// The search.
    pub player: PlayerSpec,
    /// Tables that the search probes at its leaves.
    pub endgames: Option<&'a Endgames>,
    /// The rules.
    pub rules: Rules,
    /// The seed of the tiles.
    pub seed: u64,
    /// The number of threads.
    pub threads: usize,
}

impl Survivor<'_> {
    /// Plays this many games from one step to another ([`Steps::end`]), cycling through the positions.
    pub fn play<const N: usize>(
        &self,
        steps: Steps,
        (from, to): (u32, u32),
        positions: &[State<N>],
        games: u64,
        mut watch: impl FnMut(&Survival) -> bool,
    ) -> Survival {
        let starts = (0..games).zip(positions.iter().copied().cycle());
        let mut survival = Survival { from, to, games: 0, reached: 0, move_ms: None };
        let mut times = Times::default();
        in_parallel(
            starts,
            self.threads,
            |stop| {
                let (view, rules, endgames) = (self.network.view(), self.rules, self.endgames);
                self.player.player_with::<N>(view, rules, 1, |search| {
                    search.with_endgames(endgames).with_stop(stop.clone())
                })
            },
            |player, (number, state), stop| {
                let mut game = Game::from_state(self.rules, self.seed, number, state);
                let is_short = |game: &Game<N>| steps.sum(game.state().board()) < to;
                let mut times = Times::default();
                let whole = play(&mut **player, &mut game, &mut times, stop, is_short);
                whole.then(|| (!is_short(&game), times))
            },
            |ended| {
                survival.games += u64::from(ended.is_some());
                if let Some((reached, taken)) = ended {
                    survival.reached += u64::from(reached);
                    times.merge(&taken);
                }
                watch(&survival)
            },
        );
        Survival { move_ms: times.summary(), ..survival }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_late_game() {
        let steps = Steps::default();
        assert_eq!(steps.sums(), [16384, 32768, 49152, 57344, 61440, 63488, 64512, 65024, 65536]);
        let end = |from, to| steps.end(from, to).ok();
        assert_eq!(
            [end(49152, None), end(49152, Some(65536)), end(65024, None)].map(Option::unwrap),
            [57344, 65536, 65536]
        );
        assert_eq!(
            [end(1000, None), end(65536, None), end(49152, Some(32768)), end(49152, Some(49152))],
            [None; 4]
        );
        assert!(Steps::to(257).is_err() && Steps::to(128).is_err() && Steps::to(1 << 18).is_err());
    }

    #[test]
    fn a_board_is_at_the_last_step_that_its_tiles_reach() {
        let at = |text: &str| Steps::default().reached(text.parse::<Board<4>>().expect("a board"));
        assert_eq!(at("dddc/ba98/7654/3210"), None);
        assert_eq!(at("eeda/0000/0000/0000"), Some(16384));
        assert_eq!(at("fdcb/0000/0000/0000"), Some(32768));
        assert_eq!(at("fecb/0000/0000/0000"), Some(49152));
        assert_eq!(at("fedc/b000/0000/0000"), Some(63488));
        assert_eq!(at("fedc/ba98/0000/0000"), Some(65024));
        assert_eq!(at("g000/0000/0000/0000"), Some(65024));
    }
}
