//! `afterstate endgame build`.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use afterstate_endgame::{EXTENSION, Set, Solver, Table};
use clap::Args;
use serde_json::json;

use super::work;
use crate::{
    commands::thread_count,
    error::Failure,
    format::{bytes, thousands},
};

/// Build a set of tables
///
/// `laptop` and `workstation` are part of the program; others are TOML files, with a [[table]] of name, target, walls and precision
/// for each table. Existing tables are kept; after an interruption the same command continues.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate endgame build laptop --out endgames\n  \
    afterstate eval MODEL --search 3ply --endgame endgames")]
pub(super) struct Build {
    /// The name of a set, or a file
    set: String,
    /// The directory for the tables
    #[arg(long, value_name = "DIR", default_value = "endgames")]
    out: PathBuf,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print a JSON object for each table instead
    #[arg(long)]
    json: bool,
}

impl Build {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let set = self.set()?;
        fs::create_dir_all(&self.out)?;
        for table in &set.tables {
            let path = self.out.join(format!("{}.{EXTENSION}", table.name));
            let mut seconds = None;
            if !path.exists() {
                let solver =
                    Solver::new(&table.endgame).map_err(work::failure)?.threads(thread_count(self.threads));
                let solved = work::solve(solver, Some((&path, table.precision)), &table.name)?;
                seconds = Some(solved.time.as_secs_f64());
            }
            self.report(&path, seconds, out)?;
        }
        Ok(())
    }

    fn report(&self, path: &Path, seconds: Option<f64>, out: &mut dyn Write) -> Result<(), Failure> {
        let table = Table::open(path).map_err(work::table_failure)?;
        let (positions, size) = (table.positions(), table.bytes());
        if self.json {
            let object = json!({ "file": path, "positions": positions, "bytes": size, "seconds": seconds });
            return Ok(writeln!(out, "{object}")?);
        }
        let time = seconds.map_or("was there".into(), |seconds| format!("{seconds:.1} s"));
        writeln!(out, "{}  {} positions, {}, {time}", path.display(), thousands(positions), bytes(size))?;
        Ok(out.flush()?)
    }

    fn set(&self) -> Result<Set, Failure> {
        if let Some(set) = Set::named(&self.set) {
            return Ok(set);
        }
        let names = Set::names().collect::<Vec<_>>().join(" and ");
        let hint = format!("the sets are {names}; others are TOML files");
        let text = fs::read_to_string(&self.set)
            .map_err(|error| Failure::input(format!("there is no set `{}`: {error}", self.set), &hint))?;
        Set::parse(&self.set, &text).map_err(|error| Failure::input(error, hint))
    }
}
