//! The share of positions from which a later step is reached.

use std::{io::Write, path::Path};

use afterstate_lab::evaluate::{Steps, Survival, SurvivalError, Survivor, positions_at};
use serde_json::json;

use super::{Eval, Model, Search, bar, check_search, thread_count, write_json};
use crate::{
    error::Failure,
    format::{percent, thousands},
};

impl Eval {
    /// Plays from the positions of a step until a later one.
    pub(super) fn survive(
        &self,
        model: &Model,
        search: Search,
        steps: Steps,
        step: u32,
        positions: &Path,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let network = model.afterstates("`--from`")?;
        let Some(player) = search.spec() else { return Ok(()) };
        check_search(&player, thread_count(self.threads))?;
        let (rules, seed, threads) = (model.rules, self.seed, thread_count(self.threads));
        let survivor = Survivor { network, player, endgames: model.endgames.as_ref(), rules, seed, threads };
        let survival = match model.side() {
            4 => self.survival::<4>(survivor, steps, step, positions),
            3 => self.survival::<3>(survivor, steps, step, positions),
            _ => self.survival::<2>(survivor, steps, step, positions),
        };
        let hint = "`afterstate eval MODEL --collect FILE` writes such positions";
        let survival = survival.map_err(|error| Failure::input(error, hint))?;
        let (low, high) = survival.interval();
        let Survival { from, to, games, reached, move_ms } = survival;
        if self.json {
            return write_json(
                &json!({
                    "model": model.name, "search": model.search_name(search), "seed": self.seed, "from": from, "to": to,
                    "games": games, "reached": reached, "share": survival.share(), "interval95": [low, high],
                    "move_ms": move_ms,
                }),
                out,
            );
        }
        let [share, low, high] = [survival.share(), low, high].map(percent);
        writeln!(
            out,
            "{}, {}, {} games from {from}, seed {}",
            model.name,
            model.search_name(search),
            thousands(games),
            self.seed
        )?;
        writeln!(out, "{share} reach {to} (95% interval {low} to {high})")?;
        let Some(times) = move_ms else { return Ok(()) };
        Ok(writeln!(
            out,
            "a move takes {:.2} ms and {} nodes on average",
            times.mean,
            thousands(times.nodes as u64)
        )?)
    }

    fn survival<const N: usize>(
        &self,
        survivor: Survivor<'_>,
        steps: Steps,
        step: u32,
        positions: &Path,
    ) -> Result<Survival, SurvivalError> {
        let to = steps.end(step, self.to)?;
        let starts = positions_at::<N>(positions, step)?;
        let bar = bar(self.games);
        let survival = survivor.play(steps, (step, to), &starts, self.games, |survival| {
            bar.set_position(survival.games);
            bar.set_message(format!("{} so far", percent(survival.share())));
            true
        });
        bar.finish_and_clear();
        Ok(survival)
    }
}
