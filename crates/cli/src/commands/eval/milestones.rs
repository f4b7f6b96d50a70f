//! When each tile is first made.

use std::io::Write;

use afterstate_lab::{
    deal::Deck,
    evaluate::{Contest, Games},
};
use serde_json::json;

use super::{Eval, Model, Search, bar, check_search, not_played, thread_count, write_json};
use crate::{
    error::Failure,
    format::{plus_minus, thousands, whole},
};

impl Eval {
    /// Plays games and reports their scores and moves when each tile was first made.
    pub(super) fn milestones(
        &self,
        model: &Model,
        search: Search,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let network = model.afterstates("`--milestones`")?;
        let Some(player) = search.spec() else { return Ok(()) };
        let threads = thread_count(self.threads);
        check_search(&player, threads)?;
        let games = Games { rules: model.rules, seed: self.seed, dealer: &Deck::new(self.games) };
        let endgames = model.endgames.as_ref();
        let contest = Contest { network, player, endgames, games, threads, collect: None };
        let bar = bar(self.games);
        let milestones = contest.milestones(|ended| {
            bar.set_position(ended);
            true
        });
        bar.finish_and_clear();
        let milestones = milestones.ok_or_else(not_played)?;
        let (name, search) = (&model.name, model.search_name(search));
        if self.json {
            let report = json!({
                "model": name, "search": search, "games": self.games, "seed": self.seed, "milestones": milestones,
            });
            return write_json(&report, out);
        }
        writeln!(out, "{name}, {search}, {} games, seed {}", thousands(self.games), self.seed)?;
        writeln!(out)?;
        writeln!(out, "{:<8} {:>9} {:>19} {:>17}", "tile", "games", "score", "moves")?;
        for made in &milestones {
            let [score, moves] = [made.score, made.moves].map(|of| whole(of.mean) + &plus_minus(of.ci95));
            writeln!(out, "{:<8} {:>9} {score:>19} {moves:>17}", made.tile, thousands(made.games))?;
        }
        Ok(())
    }
}
