//! `afterstate report`.

use std::{
    io::{Write, stderr},
    path::PathBuf,
};

use afterstate_network::file::atomic::write_atomically;
use afterstate_papers::report::{ReportError, load, page, record};
use clap::Args;

use super::{
    model::{check_target, failure as file_failure},
    train::failure as run_failure,
};
use crate::error::Failure;

/// Put runs side by side in one HTML file
///
/// Learning curves with intervals, evaluations, tiles, the papers' figures where a recipe is the row of a paper's table,
/// games of each model as animated boards, and the recipes with their differences. The file needs nothing else, works
/// offline, in light and dark, and on paper.
///
/// A run is a directory that `afterstate train` made, or one of `afterstate reproduce`, with its table and claims. The
/// games are played when the report is made: game 0, and 1 where there are few runs, greedily.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate report runs/quick\n  \
    afterstate report runs/td runs/tc -o td-and-tc.html\n  \
    afterstate report runs/reproduce/terauchi-2025/table-4/share-0.02")]
pub(crate) struct Report {
    /// Directories of runs, or of reproduced tables
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
}

impl Report {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let subjects =
            self.runs.iter().map(|run| load(run)).collect::<Result<Vec<_>, _>>().map_err(failure)?;
        check_target(&self.output)?;
        let html = page(&subjects, |series, games| {
            // Long games take a while; nobody minds when this cannot be said.
            let _ = writeln!(stderr(), "playing {}", series.label);
            record(series, games)
        });
        let html = html.map_err(failure)?;
        write_atomically(&self.output, |file| file.write_all(html.as_bytes())).map_err(file_failure)?;
        Ok(writeln!(out, "{}", self.output.display())?)
    }
}

/// Says what may help.
fn failure(error: ReportError) -> Failure {
    match error {
        ReportError::Run(error) => run_failure(error),
        ReportError::Nothing(_) => Failure::input(
            error,
            "give the directory of a run, such as runs/quick, or of `afterstate reproduce`",
        ),
        _ => Failure::input(error, "was it made by this version of the program, and not changed since?"),
    }
}
