//! `afterstate endgame probe`.

use std::{io::Write, path::PathBuf};

use afterstate_endgame::{Match, Tables};
use afterstate_game::{AnyBoard, Move, State};
use clap::Args;
use serde_json::{Map, Value, json};

use super::work;
use crate::{error::Failure, format::percent};

/// Look a board up: which tables know it, and the chance of each move
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate endgame probe bcde/a900/1200/1000 --tables endgames")]
pub(super) struct Probe {
    /// The board: exponents (bcde/a900/1200/1000) or, in quotes, face values
    board: AnyBoard,
    /// The directory of the tables
    #[arg(long, value_name = "DIR", default_value = "endgames")]
    tables: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Probe {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let AnyBoard::Four(board) = self.board else {
            return Err(Failure::input(
                "the board is not 4×4",
                "endgames are those of the board of sixteen cells",
            ));
        };
        let tables = Tables::open(&self.tables).map_err(work::table_failure)?;
        let found = tables.probe(State::new(board)).map_err(work::table_failure)?;
        if self.json {
            let matches: Vec<_> = found.iter().map(as_json).collect();
            return Ok(writeln!(out, "{}", json!({ "board": board.to_string(), "tables": matches }))?);
        }
        if found.is_empty() {
            return Ok(writeln!(out, "no table knows this board")?);
        }
        for known in &found {
            writeln!(out, "{} ({})", known.table.endgame().words(), known.table.path().display())?;
            for a in Move::ALL {
                let chance = known.chances[a as usize].map_or("–".into(), |chance| percent(chance.into()));
                writeln!(out, "  {a:<6} {chance:>7}")?;
            }
        }
        Ok(())
    }
}

pub(in crate::commands) fn as_json(known: &Match<'_>) -> Value {
    let chances: Map<_, _> =
        Move::ALL.iter().map(|a| (a.name().to_string(), json!(known.chances[*a as usize]))).collect();
    json!({
        "file": known.table.path(), "endgame": known.table.endgame().words(),
        "target": known.table.endgame().target_tile(), "walls": known.table.endgame().walls(), "chances": chances, "best": known.best(),
    })
}
