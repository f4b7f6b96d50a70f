//! Two players in the same games.

use std::{io::Write, path::PathBuf};

use afterstate_lab::stats::{EvalReport, Paired, Summary};
use serde_json::json;

use super::{
    Eval, not_played,
    table::{mean, plus_minus, whole},
    write_json,
};
use crate::{
    error::Failure,
    format::{percent, thousands},
};

impl Eval {
    /// Lets two models play the same games; the second search is that of the second model.
    pub(super) fn compare(&self, models: [&PathBuf; 2], out: &mut dyn Write) -> Result<(), Failure> {
        let searches = match &self.search[..] {
            [] => [None, None],
            [both] => [Some(both), Some(both)],
            [first, second] => [Some(first), Some(second)],
            _ => return Err(Failure::input("more than two searches", "`--compare A B` takes one or two")),
        };
        let (mut games, mut reports) = (Vec::new(), Vec::new());
        for (path, search) in models.into_iter().zip(searches) {
            // One after the other, so that only one of them is in memory.
            let (model, search) = self.player(Some(path), search)?;
            let (outcome, seconds) = self.play(&model, search, None, None)?;
            let summary = Summary::of(model.side(), &outcome.results).ok_or_else(not_played)?;
            let search = model.search_name(search);
            let report = EvalReport::new(&model.name, &search, self.seed, &summary, seconds);
            reports.push(EvalReport { move_ms: outcome.times.summary(), ..report });
            games.push(outcome.results);
        }
        let paired = Paired::of(&games[0], &games[1]).ok_or_else(not_played)?;
        if self.json {
            return write_json(&json!({ "a": reports[0], "b": reports[1], "difference": paired }), out);
        }
        writeln!(out, "{} games, seed {}\n", thousands(paired.games), self.seed)?;
        for (name, report) in ["A", "B"].into_iter().zip(&reports) {
            writeln!(out, "{name}      {}   {}, {}", mean(&report.score), report.model, report.search)?;
        }
        writeln!(out, "B − A  {}{}", whole(paired.mean), plus_minus(paired.ci95))?;
        Ok(writeln!(out, "B has the higher score in {} of the games", percent(paired.better))?)
    }
}
