//! `afterstate model info`.

use std::{
    io::{IsTerminal, Write, stdout},
    path::PathBuf,
};

use afterstate_dcnn::DcnnInfo;
use afterstate_game::{Move, tile_colour};
use afterstate_lab::model::{DOWNGRADE, open_file};
use afterstate_network::{
    Layout, Network, NetworkSpec, TableId, Tuple, Values,
    file::{FileError, ModelInfo, safetensors::TensorFile},
};
use clap::Args;
use serde_json::{Value, json};

use super::{dcnn, failure, summary};
use crate::{error::Failure, format::thousands};

/// The number of tuples drawn side by side.
const BOARDS_IN_A_ROW: usize = 6;

/// Show what a model file holds
///
/// The tuples are drawn on a small board, with their cells numbered in order; below are the number of weights
/// of each, how many of them are not 0, and their range. All checksums are checked.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate model info 4x6.safetensors\n  \
    afterstate model info runs/quick --json")]
pub(super) struct Info {
    /// The model file, or the directory of a run
    file: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// A summary of the weights of a table.
pub(super) struct Summary {
    weights: u64,
    non_zero: u64,
    least: f32,
    largest: f32,
}

impl Summary {
    pub(super) fn of(values: impl Iterator<Item = f32>) -> Self {
        let start = Summary { weights: 0, non_zero: 0, least: f32::INFINITY, largest: f32::NEG_INFINITY };
        values.fold(start, |s, value| Summary {
            weights: s.weights + 1,
            non_zero: s.non_zero + u64::from(value != 0.0),
            least: s.least.min(value),
            largest: s.largest.max(value),
        })
    }

    fn non_zero_share(&self) -> f64 {
        self.non_zero as f64 / self.weights as f64
    }

    pub(super) fn row(&self, name: &str) -> String {
        let share = 100.0 * self.non_zero_share();
        let (weights, least, largest) = (thousands(self.weights), self.least, self.largest);
        format!("{name:<24}{weights:>15}{share:>9.2} %{least:>14.3}{largest:>14.3}")
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "weights": self.weights,
            "non_zero": self.non_zero,
            "non_zero_share": self.non_zero_share(),
            "min": self.least,
            "max": self.largest,
        })
    }
}

impl Info {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let file = open_file(&self.file)?;
        if DcnnInfo::is_in(&file) {
            return dcnn::show(&file, self.json, out);
        }
        let info = ModelInfo::of(&file).map_err(failure)?;
        let spec = &info.spec;
        let tables = summaries(&file, &info).map_err(failure)?;
        let total = total(&tables);
        if self.json {
            writeln!(out, "{}", as_json(&info, &tables, &total))?;
            return Ok(());
        }
        write_shape(&info, stdout().is_terminal(), out)?;
        writeln!(out, "{:<24}{:>15}{:>11}{:>14}{:>14}", "table", "weights", "not 0", "least", "largest")?;
        for (i, table) in tables.iter().enumerate() {
            writeln!(out, "{}", table.row(&table_title(spec, i)))?;
        }
        writeln!(out, "{}", total.row("all"))?;
        for (key, value) in &info.extra {
            writeln!(out, "\n{}:", printable(key))?;
            value.lines().try_for_each(|line| writeln!(out, "  {}", printable(line)))?;
        }
        Ok(())
    }
}

/// The summary of each table; checks everything in the file.
fn summaries(
    file: &TensorFile,
    ModelInfo { spec, is_packed, .. }: &ModelInfo,
) -> Result<Vec<Summary>, FileError> {
    if *is_packed {
        let network = Network::from_file(file)?;
        return Ok((0..spec.tables()).map(|i| Summary::of(network.table(i))).collect());
    }
    for name in file.names().filter(|name| !name.starts_with("V.")) {
        file.numbers(name)?;
    }
    let table = |i| file.numbers(&format!("V.{}", spec.table_name(i)));
    (0..spec.tables()).map(|i| table(i).map(|values| Summary::of(values.floats().iter()))).collect()
}

/// A table in words: its tuple, and its value range, stage and action if there are several.
fn table_title(spec: &NetworkSpec, table: usize) -> String {
    let TableId { stage, action, .. } = spec.table_id(table);
    let range = if spec.ranges.is_some() { format!(" {}", spec.range(table)) } else { String::new() };
    let stage = if spec.stages.count() > 1 { format!(" stage {stage}") } else { String::new() };
    let action = if spec.values.sets() > 1 { format!(" {}", Move::ALL[action]) } else { String::new() };
    format!("{}{range}{stage}{action}", spec.tuple(table))
}

/// Text from a file, without terminal control characters.
pub(super) fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}")
}

fn total(tables: &[Summary]) -> Summary {
    Summary {
        weights: tables.iter().map(|table| table.weights).sum(),
        non_zero: tables.iter().map(|table| table.non_zero).sum(),
        least: tables.iter().map(|table| table.least).fold(f32::INFINITY, f32::min),
        largest: tables.iter().map(|table| table.largest).fold(f32::NEG_INFINITY, f32::max),
    }
}

/// The bytes of memory that the weights need.
fn memory(spec: &NetworkSpec) -> u64 {
    4 * Layout::new(spec).len() * spec.sets() as u64
}

fn as_json(info: &ModelInfo, tables: &[Summary], total: &Summary) -> Value {
    let spec = &info.spec;
    let table = |(i, table): (usize, &Summary)| {
        let mut entry = table.json();
        entry["cells"] = spec.tuple(i).to_string().into();
        entry["range"] = spec.range(i).to_string().into();
        entry["stage"] = spec.table_id(i).stage.into();
        if spec.values == Values::Actions {
            entry["action"] = Move::ALL[spec.table_id(i).action].name().into();
        }
        entry
    };
    let mut answer = total.json();
    answer["name"] = spec.tuples.name().into();
    answer["side"] = spec.side.into();
    answer["tile_values"] = spec.tile_values.into();
    answer["symmetric"] = spec.symmetric.into();
    answer["bytes"] = memory(spec).into();
    answer["packed"] = info.is_packed.into();
    answer["coherence"] = info.has_coherence.into();
    answer["stages"] = spec.stages.to_string().into();
    answer["promotion"] = spec.promotion.into();
    answer["values"] = spec.values.name().into();
    answer["initial_value"] = json!(spec.initial);
    answer["tables"] = tables.iter().enumerate().map(table).collect();
    answer["metadata"] = json!(info.extra);
    answer
}

/// The network in words, and drawings of its tuples.
fn write_shape(info: &ModelInfo, colour: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = &info.spec;
    let NetworkSpec { side, tile_values, .. } = spec;
    let name = spec.tuples.name().map(|name| format!("{name}: ")).unwrap_or_default();
    let sampling = if spec.symmetric { "all eight symmetries" } else { "no symmetries" };
    let mebibytes = memory(spec) as f64 / f64::from(1 << 20);
    writeln!(out, "{name}{}, {mebibytes:.1} MiB of memory", summary(spec))?;
    writeln!(out, "{side}×{side} boards, {tile_values} tile values, {sampling}")?;
    match spec.values {
        Values::Afterstates => {}
        Values::States => writeln!(out, "values of states")?,
        Values::Actions => writeln!(out, "values of actions, each with tables of its own")?,
    }
    if spec.stages.count() > 1 {
        let promotion = if spec.promotion { ", with weight promotion" } else { "" };
        writeln!(out, "{} stages by the rule {}{promotion}", spec.stages.count(), spec.stages)?;
    }
    if let Some(ranges) = &spec.ranges {
        writeln!(out, "vertical split encoding, value ranges {ranges}")?;
    }
    if spec.initial.iter().any(|&value| value != 0.0) {
        let initial: Vec<_> = spec.initial.iter().map(f32::to_string).collect();
        writeln!(out, "initial value {}, to be added to the sum of the weights", initial.join(" "))?;
    }
    if info.is_packed {
        writeln!(out, "compact: rounded weights in packed tables, for play")?;
    }
    if let Some(boards) = info.extra.get(DOWNGRADE) {
        writeln!(out, "made for searches with downgrade={boards}, unless they say otherwise")?;
    }
    if info.has_coherence {
        writeln!(out, "with E and A, the learning state of TC")?;
    }
    let width = (2 * side).max(8) + 2;
    for tuples in spec.tuples.as_slice().chunks(BOARDS_IN_A_ROW) {
        let names: String = tuples.iter().map(|tuple| format!("{tuple:<width$}")).collect();
        writeln!(out, "\n{}", names.trim_end())?;
        for row in 0..*side {
            let line: String =
                tuples.iter().map(|tuple| board_row(tuple, row, *side, width, colour)).collect();
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(writeln!(out)?)
}

/// A row of the board on which a tuple is drawn: the index of each cell in the tuple, from 1.
fn board_row(tuple: &Tuple, row: usize, side: usize, width: usize, colour: bool) -> String {
    let mut line = String::new();
    for cell in row * side..(row + 1) * side {
        let place = tuple.cells().iter().position(|&c| usize::from(c) == cell);
        line += &match (place, colour) {
            (Some(place), true) => {
                let ([r, g, b], [tr, tg, tb]) = tile_colour(place as u8 + 3);
                format!("\x1b[48;2;{r};{g};{b}m\x1b[38;2;{tr};{tg};{tb}m{} \x1b[0m", place + 1)
            }
            (Some(place), false) => format!("{} ", place + 1),
            (None, _) => "· ".into(),
        };
    }
    line + &" ".repeat(width - 2 * side)
}
