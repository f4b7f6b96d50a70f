//! `afterstate endgame weigh`.

use std::{io::Write, path::PathBuf, sync::Arc};

use afterstate_endgame::{GoalValues, Position, Solver, Table, Tables};
use afterstate_lab::model::Model;
use afterstate_search::Endgames;
use clap::Args;
use serde_json::json;

use super::work;
use crate::{commands::thread_count, error::Failure, format::thousands};

/// Solve a table again, with goals weighted by a network's values
///
/// A goal counts (V − V of a lost endgame) / (V of the best goal − V of a lost endgame), above 0 and at most 1: the
/// chance that the game continues from there, by the network's values V. The table must have a place for its target
/// (`solve --place`, `place` in a set), so that the walls of a goal are in order. It applies only beside the given
/// walls; in play it is probed before a table whose goals count 1.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate endgame weigh 5.endgame --model late.safetensors --tiles 16384,8192,4096,2048,1024 -o 31744.endgame")]
pub(super) struct Weigh {
    /// A table whose goals count 1
    table: PathBuf,
    /// The model file, or the directory of a run; without it, the built-in model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// The walls, the largest one first
    #[arg(long, value_name = "TILES", value_delimiter = ',', required = true)]
    tiles: Vec<u32>,
    /// The file of the new table; after an interruption the same command continues
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Weigh {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let table = Table::open(&self.table).map_err(work::table_failure)?;
        let (endgame, precision) = (table.endgame().clone(), table.precision());
        let tiles = self.walls(&table)?;
        let model = Model::open(self.model.as_deref())?;
        let network = model.afterstates("`endgame weigh`")?;
        let endgames = Endgames::new(Arc::new(Tables::new(vec![table])));
        let goals = endgames.goals(network, model.rules, &endgames.tables().all()[0], tiles);
        let Some(goals) = goals.filter(|_| model.side() == 4) else {
            let message = format!(
                "{} knows nothing of this endgame: its values do not increase with the chances",
                model.name
            );
            return Err(Failure::input(message, "give a model that gets to these walls"));
        };
        let value = |position: Position| goals.value(position);
        let values = GoalValues { name: &model.name, tiles, value: &value };
        let solver =
            Solver::new(&endgame).map_err(work::failure)?.threads(thread_count(self.threads)).goals(values);
        let solved = work::solve(solver, Some((&self.output, precision)), &endgame.to_string())?;
        let seconds = solved.time.as_secs_f64();
        if self.json {
            let object = json!({ "file": self.output, "positions": solved.positions, "seconds": seconds });
            return Ok(writeln!(out, "{object}")?);
        }
        let positions = thousands(solved.positions);
        Ok(writeln!(out, "{}  {positions} positions, {seconds:.1} s", self.output.display())?)
    }

    /// The walls as bits, if they fit the table.
    fn walls(&self, table: &Table) -> Result<u32, Failure> {
        let (count, target) = (table.endgame().walls(), table.endgame().target_tile());
        let are_walls =
            self.tiles.iter().all(|&tile| tile.is_power_of_two() && (target..=1 << 17).contains(&tile));
        let is_sorted = self.tiles.is_sorted_by(|a, b| a > b);
        if !are_walls || !is_sorted || self.tiles.len() != count as usize {
            let message = format!("the table has {count} walls of {target} and more, the largest one first");
            return Err(Failure::input(message, "give as many tiles, as --tiles 16384,8192,4096,2048,1024"));
        }
        if table.endgame().place().is_none() || table.tiles().is_some() {
            let message =
                format!("{} has no place for its target, or values of a network", table.path().display());
            return Err(Failure::input(
                message,
                "`afterstate endgame solve --place CELLS` makes one that can be weighed",
            ));
        }
        Ok(self.tiles.iter().fold(0, |walls, tile| walls | 1 << tile.ilog2()))
    }
}
