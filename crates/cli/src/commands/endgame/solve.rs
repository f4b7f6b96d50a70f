//! `afterstate endgame solve`.

use std::{io::Write, path::PathBuf};

use afterstate_endgame::{Endgame, Position, Precision, Solver, Walls};
use clap::Args;
use serde_json::json;

use super::work;
use crate::{
    commands::thread_count,
    error::Failure,
    format::{bytes, percent, thousands},
};

/// Solve an endgame
///
/// Several shapes of walls make an endgame in which moves may lead from one to another. A move is allowed when the
/// walls stand in one of the shapes after it; walls slide like tiles and never merge. All positions that follow from
/// layouts of small tiles, and from those given with --from, are solved.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate endgame solve --walls FFFF/FF../..../.... --target 512 --from FFFF/FF01/0000/0002\n  \
    afterstate endgame solve --walls FFFF/FFF./..../.... --walls FFFF/FF.F/..../.... --target 256 -o 7.endgame")]
pub(super) struct Solve {
    /// A shape of walls, F for a wall and . for a free cell; may be repeated
    #[arg(long, value_name = "WALLS", required = true)]
    walls: Vec<String>,
    /// The target tile
    #[arg(long, value_name = "TILE")]
    target: u32,
    /// The cells in which the target has to stand, with the walls as in the first shape, marked F; until then it is carried as a tile.
    /// Without it, the goal is reached when the target is made
    #[arg(long, value_name = "CELLS")]
    place: Option<Walls>,
    /// An afterstate whose chance to print, with walls as F and tiles as exponents; may be repeated
    #[arg(long, value_name = "BOARD")]
    from: Vec<Position>,
    /// Write a table to this file; after an interruption the same command continues
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How exactly the table keeps chances: u8, u16 or f32
    #[arg(long, value_name = "TYPE", default_value_t)]
    precision: Precision,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Solve {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let hint = "`afterstate endgame solve --help` has examples";
        let placed = |endgame: Endgame| match self.place {
            None => Ok(endgame),
            Some(place) => endgame.with_place(place),
        };
        let endgame = Endgame::parse(&self.walls, self.target)
            .and_then(placed)
            .map_err(|error| Failure::input(error, hint))?;
        let solver =
            Solver::new(&endgame).and_then(|solver| solver.from(&self.from)).map_err(work::failure)?;
        let output = self.output.as_deref().map(|path| (path, self.precision));
        let solver = solver.threads(thread_count(self.threads));
        let solved = work::solve(solver, output, &endgame.to_string())?;
        let (seconds, peak) = (solved.time.as_secs_f64(), process_peak().unwrap_or(solved.peak_bytes));
        if self.json {
            let layers: Vec<_> = (0u64..).zip(&solved.layers).filter(|(_, count)| **count > 0).collect();
            let layers: Vec<_> = layers.into_iter().map(|(sum, count)| json!([2 * sum, count])).collect();
            let object = json!({
                "positions": solved.positions, "seconds": seconds, "peak_bytes": peak, "chances": solved.chances,
                "layers": layers,
            });
            return Ok(writeln!(out, "{object}")?);
        }
        let rate = solved.positions as f64 / seconds / 1e6;
        writeln!(
            out,
            "{} positions in {seconds:.1} s ({rate:.1} M/s), {} of memory",
            thousands(solved.positions),
            bytes(peak)
        )?;
        for (position, &chance) in self.from.iter().zip(&solved.chances) {
            writeln!(out, "{position}  {:>7}  {chance:.6}", percent(chance))?;
        }
        Ok(())
    }
}

/// The peak memory of the process, if the system reports it.
fn process_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}
