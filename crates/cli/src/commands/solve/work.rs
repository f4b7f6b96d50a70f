//! Solving with progress bars, and solutions from files.

use std::{
    io::{IsTerminal, stderr},
    path::Path,
};

use afterstate_game::Rules;
use afterstate_network::check_fits;
use afterstate_solver::{Objective, Solution, SolutionError, Space};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::Failure;

/// Solves the game, if there is enough memory.
pub(super) fn solve<const N: usize>(
    objective: Objective,
    rules: Rules,
    threads: usize,
) -> Result<Solution<N>, Failure> {
    check_fits(&format!("solving {N}×{N}"), Space::<N>::BYTES)
        .map_err(|error| Failure::input(error, "make room, or solve 2×2, which needs next to none"))?;
    let up = bar::<N>("enumerating");
    let space = Space::enumerate(&rules, threads, |sum| up.set_position(sum.into()));
    up.finish_and_clear();
    let down = bar::<N>("solving");
    let solution =
        space.solve(objective, threads, |sum| down.set_position(largest_sum::<N>() - u64::from(sum)));
    down.finish_and_clear();
    Ok(solution)
}

/// A solution for the score under these rules, from a file if there is one.
pub(in crate::commands) fn open<const N: usize>(
    file: Option<&Path>,
    rules: Rules,
    threads: usize,
) -> Result<Solution<N>, Failure> {
    let Some(file) = file else { return solve(Objective::Score, rules, threads) };
    let solution = Solution::open(file).map_err(failure)?;
    if solution.objective() != Objective::Score || solution.rules() != rules {
        let message = format!("{} is a solution for another goal or other rules", file.display());
        let hint = format!("`afterstate solve --four {} -o FILE` makes the right one", rules.four);
        return Err(Failure::input(message, hint));
    }
    Ok(solution)
}

/// A bad file is bad input; an error while writing is not.
pub(super) fn failure(error: SolutionError) -> Failure {
    match error {
        SolutionError::Write(error) => crate::commands::model::failure(error),
        SolutionError::Read { .. } => Failure::input(error, "is it the right path, and may you read it?"),
        _ => Failure::input(error, "`afterstate solve -o FILE` writes a new one"),
    }
}

/// The sum of tiles of a full board of distinct tiles, the smallest a 4: an upper bound of any game.
const fn largest_sum<const N: usize>() -> u64 {
    (1 << (N * N + 2)) - 4
}

/// A progress bar over the sums of tiles on terminals, hidden elsewhere.
pub(super) fn bar<const N: usize>(doing: &'static str) -> ProgressBar {
    let target =
        if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(largest_sum::<N>()), target);
    let style = ProgressStyle::with_template("{bar:40.cyan} {percent:>3}%  {prefix}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
    bar.set_prefix(doing);
    bar
}
