//! `afterstate solve`.

mod advice;
mod policy;
mod report;
mod work;

use std::{io::Write, path::PathBuf, time::Instant};

use afterstate_game::{Move, Rules, State};
use afterstate_solver::{Boards, Objective, SolverSettings, evaluate};
use clap::{Args, ValueEnum};

use super::{target, thread_count};
use crate::error::Failure;
use report::Solved;
use work::{failure, solve};

pub(super) use advice::Exact;
pub(super) use work::open as open_solution;

/// Solve the game on a small board: exact values, without playing
///
/// Every board that a game can reach is enumerated, up to symmetry, and its value under the best play found by
/// backward induction. The result is exact up to rounding. The best play maximises the mean score, or with --goal the
/// probability of a tile; ties go to the first move.
///
/// With --policy, the exact mean score of a model's play, over all games instead of a sample. With --regret also what
/// it loses against the best play, and the boards on which it loses most.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate solve                      3×3: the best possible mean score is 5468.49\n  \
    afterstate solve --board 2x2 --json\n  \
    afterstate solve --goal 512           the best possible chance of a 512-tile\n  \
    afterstate solve -o 3x3.solution      … and keep the values: `afterstate advise BOARD --exact=3x3.solution`\n  \
    afterstate solve --policy runs/3x3 --regret\n  \
    afterstate solve --policy runs/3x3 --search 2ply --canonical")]
pub(crate) struct Solve {
    /// The size of the board; that of the model with --policy
    #[arg(long, value_enum, default_value_t = Size::Three, conflicts_with = "policy")]
    board: Size,
    /// Maximise the probability of this tile; a game ends when it appears
    #[arg(long, value_name = "TILE", value_parser = parse_tile, conflicts_with = "policy")]
    goal: Option<Objective>,
    /// The probability that a new tile is a 4
    #[arg(long, value_name = "P", default_value_t = Rules::default().four, value_parser = parse_probability,
        conflicts_with = "policy")]
    four: f64,
    /// Keep the values in this file
    #[arg(short, long, value_name = "FILE", conflicts_with = "policy")]
    output: Option<PathBuf>,
    #[command(flatten)]
    policy: policy::PolicyArgs,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Size {
    #[value(name = "3x3")]
    Three,
    #[value(name = "2x2")]
    Two,
}

fn parse_tile(text: &str) -> Result<Objective, String> {
    let tile = text.parse::<u32>().ok().filter(|tile| (2..=131_072).contains(tile) && tile.is_power_of_two());
    tile.map(|tile| Objective::Goal(tile.ilog2() as u8)).ok_or_else(|| "a tile is 2, 4, 8, … 131072".into())
}

fn parse_probability(text: &str) -> Result<f64, String> {
    let probability = text.parse().ok().filter(|p| (0.0..=1.0).contains(p));
    probability.ok_or_else(|| "a probability is a number from 0 to 1".into())
}

impl Solve {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let threads = thread_count(self.threads);
        if let Some(model) = &self.policy.policy {
            return self.policy.run(model, threads, self.json, out);
        }
        if let Some(option) = self.policy.first_given() {
            let message = format!("`{option}` says how a model is judged, and there is none");
            return Err(Failure::input(message, "name it with `--policy MODEL`, or leave the option out"));
        }
        match self.board {
            Size::Three => self.on_board::<3>(threads, out),
            Size::Two => self.on_board::<2>(threads, out),
        }
    }

    fn on_board<const N: usize>(&self, threads: usize, out: &mut dyn Write) -> Result<(), Failure> {
        let start = Instant::now();
        if let Some(path) = &self.output {
            target::check(path, target::Kind::Solution)?;
        }
        let rules = Rules { four: self.four, ..Rules::default() };
        let objective = self.goal.unwrap_or(Objective::Score);
        let solution = solve::<N>(objective, rules, threads)?;
        // The result is shown even if it cannot be saved.
        let saved = self.output.as_ref().map_or(Ok(()), |path| solution.save(path).map_err(failure));
        // Every state that optimal play reaches has a best move.
        let best = |state: State<N>| solution.best(state).map_or(Move::Up, |(a, _)| a);
        let settings =
            SolverSettings { rules, boards: Boards::Canonical, until: objective, optimum: None, threads };
        let bar = work::bar::<N>("playing");
        let evaluation = evaluate(&best, &settings, |sum| bar.set_position(sum.into()));
        bar.finish_and_clear();
        let seconds = start.elapsed().as_secs_f64();
        Solved { solution: &solution, evaluation: &evaluation, seconds }.write(self.json, out)?;
        saved
    }
}
