//! `afterstate solve`.

mod report;

use std::{
    io::{IsTerminal, Write, stderr},
    time::Instant,
};

use afterstate_game::{Rules, State};
use afterstate_solver::{Boards, Objective, Settings, Solution, Space, evaluate};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::Failure;
use report::Solved;

/// Solve the game on a small board: exact values, without playing
///
/// Every board that a game can reach is enumerated, up to symmetry, and its value under the best play found by
/// backward induction. What is printed is exact but for rounding. The best play makes the mean score as
/// large as possible, or with --goal the probability of a tile; of equally good moves it makes the first.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate solve                      3×3: the best possible mean score is 5468.49\n  \
    afterstate solve --board 2x2 --json\n  \
    afterstate solve --goal 512           the best possible chance of a 512-tile")]
pub(crate) struct Solve {
    /// The size of the board
    #[arg(long, value_enum, default_value_t = Size::Three)]
    board: Size,
    /// Maximise the probability of this tile; a game ends when it is there
    #[arg(long, value_name = "TILE", value_parser = parse_tile)]
    goal: Option<Objective>,
    /// The probability that a new tile is a 4
    #[arg(long, value_name = "P", default_value_t = Rules::default().four, value_parser = parse_probability)]
    four: f64,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
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
        match self.board {
            Size::Three => self.on_board::<3>(out),
            Size::Two => self.on_board::<2>(out),
        }
    }

    fn on_board<const N: usize>(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let start = Instant::now();
        let rules = Rules { four: self.four, ..Rules::default() };
        let objective = self.goal.unwrap_or(Objective::Score);
        let solution = self.solve::<N>(objective, rules);
        let best = |state: State<N>| solution.best(state).map_or(afterstate_game::Move::Up, |(a, _)| a);
        let settings = Settings {
            rules,
            boards: Boards::Canonical,
            until: objective,
            optimum: None,
            threads: self.threads(),
        };
        let bar = bar::<N>("playing");
        let evaluation = evaluate(&best, &settings, |sum| bar.set_position(sum.into()));
        bar.finish_and_clear();
        let seconds = start.elapsed().as_secs_f64();
        Solved { solution: &solution, evaluation: &evaluation, seconds }.write(self.json, out)
    }

    fn solve<const N: usize>(&self, objective: Objective, rules: Rules) -> Solution<N> {
        let up = bar::<N>("enumerating");
        let space = Space::enumerate(&rules, self.threads(), |sum| up.set_position(sum.into()));
        up.finish_and_clear();
        let down = bar::<N>("solving");
        let largest = down.length().unwrap_or_default();
        let progress = |sum: u32| down.set_position(largest.saturating_sub(sum.into()));
        let solution = space.solve(objective, self.threads(), progress);
        down.finish_and_clear();
        solution
    }

    fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// A bar over the sums of tiles on a terminal, nothing elsewhere.
fn bar<const N: usize>(doing: &'static str) -> ProgressBar {
    let target =
        if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    // A full board of distinct tiles, the smallest a 4.
    let largest = (1 << (N * N + 2)) - 4;
    let bar = ProgressBar::with_draw_target(Some(largest), target);
    let style = ProgressStyle::with_template("{bar:40.cyan} {prefix}: boards whose tiles add up to {pos}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
    bar.set_prefix(doing);
    bar
}
