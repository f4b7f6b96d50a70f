//! `afterstate report`.

use std::{
    io::{Write, stderr},
    path::{Path, PathBuf},
};

use afterstate_lab::{log::last_evaluations, recipe::Recipe};
use afterstate_papers::report::{Member, ReportError, Series, Subject, load, page, record};
use clap::Args;
use serde_json::{Value, json};

use super::{
    model::failure as file_failure,
    runs::{DEPTH, find},
    target,
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
    afterstate report runs/rates              a sweep by `afterstate train rates.toml --all --seeds 5`\n  \
    afterstate report runs/reproduce/terauchi-2025/table-4/share-0.02")]
pub(crate) struct Report {
    /// Directories of runs, or of reproduced tables, or directories that hold runs. Runs that differ by their seeds alone are
    /// averaged
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Report {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let target = target::open(&self.output, target::Kind::Report)?;
        let paths = self.runs.iter().flat_map(|path| runs_in(path));
        let subjects = paths.map(|run| load(&run)).collect::<Result<Vec<_>, _>>().map_err(failure)?;
        check_sides(&subjects)?;
        let subjects = with_seeds_together(subjects);
        let html = page(&subjects, |series, games| {
            // Long games take a while; failing to show this does not matter.
            let _ = writeln!(stderr(), "playing {}", series.label);
            record(series, games)
        });
        let html = html.map_err(failure)?;
        target.write(|file| file.write_all(html.as_bytes())).map_err(file_failure)?;
        if self.json {
            return Ok(writeln!(out, "{}", self.answer(&subjects))?);
        }
        Ok(writeln!(out, "{}", self.output.display())?)
    }

    /// The content of the report, for programs.
    fn answer(&self, subjects: &[Subject]) -> Value {
        let series = subjects.iter().flat_map(|subject| &subject.series).map(|series| {
            let last = |member: &Member| last_evaluations(&member.evaluations);
            let runs: Vec<_> = series.members.iter().map(|member| member.directory.path()).collect();
            let evaluations: Vec<_> = series.members.iter().map(last).collect();
            json!({ "label": series.label, "recipe": series.recipe, "runs": runs, "evaluations": evaluations })
        });
        json!({ "file": self.output, "series": series.collect::<Vec<_>>() })
    }
}

/// The directory itself if a report can show it, or all runs in it.
fn runs_in(path: &Path) -> Vec<PathBuf> {
    let mut runs = Vec::new();
    if !path.join("report.json").exists() {
        find(path, DEPTH, &mut runs);
        runs.sort();
    }
    if runs.is_empty() { vec![path.to_owned()] } else { runs }
}

/// Rejects runs on different boards, whose scores are not comparable.
fn check_sides(subjects: &[Subject]) -> Result<(), Failure> {
    let mut all = subjects.iter().flat_map(|subject| &subject.series);
    let Some(first) = all.next() else { return Ok(()) };
    let side = first.recipe.game.side;
    match all.find(|series| series.recipe.game.side != side) {
        None => Ok(()),
        Some(other) => {
            let its = other.recipe.game.side;
            let message = format!(
                "{} is of games on {its}×{its}, and {} of games on {side}×{side}",
                other.label, first.label
            );
            Err(Failure::input(message, "make a report for each board"))
        }
    }
}

/// Groups runs that differ only by their seeds, so that their curves are averaged.
fn with_seeds_together(subjects: Vec<Subject>) -> Vec<Subject> {
    let (tables, single): (Vec<_>, Vec<_>) =
        subjects.into_iter().partition(|subject| subject.table.is_some());
    let mut together: Vec<Series> = Vec::new();
    for series in single.into_iter().flat_map(|subject| subject.series) {
        let same = |other: &&mut Series| is_same_but_for_seed(&other.recipe, &series.recipe);
        match together.iter_mut().find(same) {
            Some(other) => other.members.extend(series.members),
            None => together.push(series),
        }
    }
    for series in together.iter_mut().filter(|series| series.members.len() > 1) {
        series.label = format!("{}, {} seeds", series.recipe.name, series.members.len());
    }
    let together = together.into_iter().map(|series| Subject { table: None, series: vec![series] });
    tables.into_iter().chain(together).collect()
}

fn is_same_but_for_seed(a: &Recipe, b: &Recipe) -> bool {
    a.seed != b.seed && Recipe { seed: 0, ..a.clone() } == Recipe { seed: 0, ..b.clone() }
}

/// Adds a hint.
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
