//! `afterstate endgame verify`.

use std::{io::Write, path::PathBuf};

use afterstate_endgame::Table;
use clap::Args;
use serde_json::json;

use super::work;
use crate::{error::Failure, format::thousands};

/// Check tables: every byte, and a sample of positions solved again
#[derive(Args)]
pub(super) struct Verify {
    /// The table files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The number of positions to be solved again, spawn by spawn and move by move
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    positions: u64,
    /// Print a JSON object for each table instead
    #[arg(long)]
    json: bool,
}

impl Verify {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        for path in &self.files {
            let table = Table::open(path).map_err(work::table_failure)?;
            let verified = table.verify(self.positions).map_err(work::table_failure)?;
            if let Some((position, kept, found)) = verified.wrong {
                let message =
                    format!("{}: {position} has a chance of {kept}, but should have {found}", path.display());
                return Err(Failure::other(
                    message,
                    "remove it, and `afterstate endgame build` makes a new one",
                ));
            }
            if self.json {
                let object = json!({ "file": path, "positions": verified.positions, "largest_steps": verified.largest });
                writeln!(out, "{object}")?;
            } else {
                let (name, positions) = (path.display(), thousands(verified.positions));
                writeln!(out, "{name}: every checksum is right, {positions} positions solved again agree")?;
            }
        }
        Ok(())
    }
}
