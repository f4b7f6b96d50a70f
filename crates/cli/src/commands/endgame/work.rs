//! Shared code of the endgame commands.

use std::{
    io::{IsTerminal, Write, stderr},
    path::Path,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Instant,
};

use afterstate_endgame::{Precision, SolveError, SolveProgress, Solved, Solver, TableError, Tables};
use afterstate_network::check_fits;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    error::Failure,
    format::{bytes, thousands},
    signals::stop_signal,
};

/// Solves with a progress bar on terminals, into a table if a file is named; states the necessary memory first.
pub(super) fn solve(
    solver: Solver<'_>,
    output: Option<(&Path, Precision)>,
    name: &str,
) -> Result<Solved, Failure> {
    let planned = solver.planned_bytes(output.map(|(_, precision)| precision));
    let _ = writeln!(stderr(), "{name}: at most about {} of memory", bytes(planned));
    check_fits(&format!("solving {name}"), planned).map_err(|error| {
        Failure::input(error, "make room, or give more walls, a smaller target, or a file with `-o`")
    })?;
    let (stop, bar) = (stop_signal()?, bar());
    let mut watch = |progress: SolveProgress| {
        show(&bar, &progress);
        !stop.load(Relaxed)
    };
    let start = Instant::now();
    let solved = match output {
        None => solver.solve(&mut watch),
        Some((path, precision)) => solver.solve_to(path, precision, &mut watch),
    };
    bar.finish_and_clear();
    solved.map(|solved| Solved { time: start.elapsed(), ..solved }).map_err(failure)
}

fn bar() -> ProgressBar {
    let target =
        if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(1000), target);
    let style = ProgressStyle::with_template("{bar:40.cyan} {percent:>3}%  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
    bar
}

fn show(bar: &ProgressBar, progress: &SolveProgress) {
    let doing = if progress.is_forward { "found" } else { "solved" };
    let left = progress.left.map(|left| format!(", {} s left", left.as_secs())).unwrap_or_default();
    bar.set_position((1000.0 * progress.share) as u64);
    bar.set_message(format!(
        "sum {}, {} positions {doing}{left}",
        progress.sum,
        thousands(progress.positions)
    ));
}

/// An error of solving, for the user.
pub(super) fn failure(error: SolveError) -> Failure {
    match error {
        SolveError::Position(_) | SolveError::Large { .. } => {
            Failure::input(error, "`afterstate endgame solve --help` has examples")
        }
        SolveError::Busy(_) => Failure::input(error, "wait for it, or give another file with `-o`"),
        SolveError::Foreign(_) => Failure::input(error, "give another name, or remove it"),
        SolveError::File { .. } | SolveError::Kept { .. } => {
            Failure::other(error, "is there room on the disk, and may you write there?")
        }
        SolveError::Stopped => Failure::other(error, "the same command with `-o FILE` continues"),
    }
}

/// An error of a table, for the user.
pub(in crate::commands) fn table_failure(error: TableError) -> Failure {
    match error {
        TableError::Io { .. } => Failure::input(error, "is it the right path, and may you read it?"),
        TableError::NoTable(_) => {
            Failure::input(error, "give a file that `afterstate endgame build` has made")
        }
        _ => Failure::input(error, "remove it, and `afterstate endgame build` makes a new one"),
    }
}

/// Opens the tables of a directory for a player. If there are none, it plays without; a damaged table is an error.
pub(in crate::commands) fn open_tables(directory: &Path) -> Result<Option<Arc<Tables>>, Failure> {
    let none = |why: &str| {
        let _ = writeln!(stderr(), "warning: {} {why}: playing without endgame tables", directory.display());
        Ok(None)
    };
    if !directory.is_dir() {
        return none("is no directory");
    }
    let tables = Tables::open(directory).map_err(table_failure)?;
    if tables.all().is_empty() { none("holds no table") } else { Ok(Some(Arc::new(tables))) }
}
