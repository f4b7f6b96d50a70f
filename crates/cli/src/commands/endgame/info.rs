//! `afterstate endgame info`.

use std::{io::Write, path::PathBuf};

use afterstate_endgame::{Table, Walls};
use clap::Args;
use serde_json::json;

use super::work;
use crate::{
    error::Failure,
    format::{bytes, percent, thousands},
};

/// Describe tables
#[derive(Args)]
pub(super) struct Info {
    /// The table files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print a JSON object for each table instead
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        for path in &self.files {
            let table = Table::open(path).map_err(work::table_failure)?;
            if self.json { write_json(&table, out)? } else { write_text(&table, out)? }
        }
        Ok(())
    }
}

fn write_json(table: &Table, out: &mut dyn Write) -> Result<(), Failure> {
    let histogram = table.histogram().map_err(work::table_failure)?;
    let shapes: Vec<_> = table.endgame().shapes().iter().map(ToString::to_string).collect();
    let object = json!({
        "file": table.path(), "target": table.endgame().target_tile(), "walls": shapes, "precision": table.precision(),
        "place": table.endgame().place().map(|place| place.to_string()), "goal": table.goal(),
        "tiles": table.tiles().map(tiles_of), "positions": table.positions(), "bytes": table.bytes(), "histogram": histogram,
        "layers": table.layers(),
    });
    Ok(writeln!(out, "{object}")?)
}

fn write_text(table: &Table, out: &mut dyn Write) -> Result<(), Failure> {
    let (positions, size, layers) = (table.positions(), table.bytes(), table.layers());
    writeln!(out, "{}: {}", table.path().display(), table.endgame().words())?;
    draw(table.endgame().shapes(), out)?;
    let sums = [layers.first(), layers.last()].map(|layer| layer.map_or(0, |(sum, _)| *sum));
    let share = size as f64 / positions.max(1) as f64;
    writeln!(
        out,
        "{} positions in {} layers, sums {} to {}",
        thousands(positions),
        layers.len(),
        sums[0],
        sums[1]
    )?;
    writeln!(out, "{}, {share:.2} bytes a position, chances as {}", bytes(size), table.precision())?;
    match table.endgame().place() {
        None => writeln!(out, "a made target counts {}", table.goal())?,
        Some(place) => writeln!(out, "a target in {place} counts {}", table.goal())?,
    }
    if let Some(tiles) = table.tiles() {
        writeln!(
            out,
            "beside {}",
            tiles_of(tiles).iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        )?;
    }
    let histogram = table.histogram().map_err(work::table_failure)?;
    for (i, &count) in histogram.iter().enumerate() {
        let name = match i {
            0 => "0".into(),
            11 => "1".into(),
            i => format!("to {}%", 10 * i),
        };
        writeln!(out, "{name:>7} {:>7}", percent(count as f64 / positions.max(1) as f64))?;
    }
    Ok(())
}

/// The tiles of these walls, largest first.
fn tiles_of(walls: u32) -> Vec<u32> {
    (0..32).rev().map(|exponent| 1 << exponent).filter(|tile| walls & tile != 0).collect()
}

/// Draws the shapes side by side, eight to a line.
fn draw(shapes: &[Walls], out: &mut dyn Write) -> Result<(), Failure> {
    for shapes in shapes.chunks(8) {
        let texts: Vec<String> =
            shapes.iter().map(|shape| shape.to_string().replace('F', "█").replace('.', "·")).collect();
        for row in 0..4 {
            let rows: Vec<_> = texts.iter().filter_map(|text| text.split('/').nth(row)).collect();
            writeln!(out, "  {}", rows.join("   "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
