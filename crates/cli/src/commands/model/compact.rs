//! `afterstate model compact` and `afterstate model expand`.

use std::{
    io::{IsTerminal, Write, stderr},
    path::PathBuf,
};

use afterstate_lab::{
    compact::{CompactError, CompactProgress, CompactSettings, compact},
    model::{DOWNGRADE, Model, open_file},
};
use afterstate_network::{Network, file::ModelInfo};
use afterstate_search::Downgrade;
use clap::Args;
use serde_json::json;

use super::{failure, summary, written};
use crate::{
    commands::{target, thread_count},
    error::Failure,
    format::thousands,
};

/// Make a model of a few megabytes, for play
///
/// The model plays, which counts the weights that a 3-ply search looks up. Rarely used weights are dropped, the others
/// rounded, the more coarsely the less they are used, and packed. The file plays like any other model. The result depends
/// only on the model, the size, the games, the seed and the downgrading.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    afterstate model compact runs/best -o small.safetensors --size 10MB\n  \
    afterstate eval small.safetensors --search 3ply")]
pub(super) struct Compact {
    /// The model file to read, or the directory of a run
    file: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The largest size of the file: a number of bytes, or of kB or MB
    #[arg(long, default_value = "10MB", value_parser = parse_size)]
    size: u64,
    /// The number of games in which lookups are counted
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = crate::commands::numbers::parse_count)]
    games: u64,
    /// The seed of the games
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = crate::commands::numbers::parse_number)]
    seed: u64,
    /// Make a model that plays best with downgrading: the lookups are counted with boards downgraded from this tile on
    /// (16384), or until the large tiles reach a sum (16384..28672); searches with the compact model downgrade them
    /// too, unless told not to [what the model selects]
    #[arg(long, value_name = "TILE")]
    downgrade: Option<Downgrade>,
    /// The number of threads; 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// Write a compact model with full tables
///
/// The file has the weights that the compact model has in memory, as 32-bit numbers, so that Python and other programs
/// can read them, and `fold`, `average` and `export` work on it.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    afterstate model expand built-in -o built-in.safetensors")]
pub(super) struct Expand {
    /// The model file to read
    file: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

fn parse_size(text: &str) -> Result<u64, String> {
    let (digits, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let unit = match unit.trim() {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        _ => return Err("write a number of bytes, or one like 500kB or 10MB".into()),
    };
    let number = digits.parse::<f64>().map_err(|_| "write a size like 10MB")?;
    Ok((number * unit) as u64)
}

impl Compact {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        target::check(&self.output, target::Kind::Model)?;
        let mut extra = ModelInfo::of(&open_file(&self.file)?).map_err(failure)?.extra;
        let model = Model::open_unfolded(Some(&self.file))?;
        let network = model.network("`compact`")?;
        let Compact { size, games, seed, .. } = self;
        // A setting of the model also applies to the compact model.
        let downgrade = self.downgrade.or(model.downgrade);
        let threads = thread_count(self.threads);
        let settings = CompactSettings { bytes: size, games, seed, rules: model.rules, downgrade, threads };
        let packed = compact(network, settings, |progress| {
            self.show(progress);
            true
        });
        let packed = packed.map_err(|error| match error {
            CompactError::Network(_) => {
                Failure::other(error, "a machine with more memory, or a smaller network")
            }
            _ => Failure::input(error, "`afterstate model compact --help` explains what it takes"),
        })?;
        let spec = network.spec();
        extra.insert("compacted_from".into(), format!("{} (stages {})", spec.tuples, spec.stages));
        if let Some(downgrade) = downgrade {
            extra.insert(DOWNGRADE.into(), downgrade.to_string());
        }
        packed.save(&self.output, &extra).map_err(failure)?;
        if self.json {
            let (weights, bytes) = (packed.weights(), packed.bytes());
            let answer =
                json!({ "file": self.output, "weights": weights, "bytes": bytes, "from": spec.weights() });
            return Ok(writeln!(out, "{answer}")?);
        }
        let (weights, bytes) = (thousands(packed.weights()), thousands(packed.bytes()));
        Ok(writeln!(
            out,
            "{}: {weights} weights in {bytes} bytes, from {}",
            self.output.display(),
            summary(spec)
        )?)
    }

    /// Reports the progress, one line for every tenth of the games and every packing attempt.
    fn show(&self, progress: CompactProgress) {
        let line = match progress {
            CompactProgress::Played(games) => {
                let is_tenth = |games: u64| games * 10 / self.games != (games - 1) * 10 / self.games;
                if !is_tenth(games) && !stderr().is_terminal() {
                    return;
                }
                let end = if games == self.games || !stderr().is_terminal() { "\n" } else { "\r" };
                format!("{games} of {} games played{end}", self.games)
            }
            CompactProgress::Packed(step, weights, bytes) => {
                let (weights, bytes) = (thousands(weights), thousands(bytes));
                format!("packed with step {step:.1}: {weights} weights in {bytes} bytes\n")
            }
        };
        // The work continues even if progress cannot be shown.
        let _ = write!(stderr(), "{line}");
    }
}

impl Expand {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        target::check(&self.output, target::Kind::Model)?;
        let file = open_file(&self.file)?;
        let extra = ModelInfo::of(&file).map_err(failure)?.extra;
        let network = Network::from_file(&file).map_err(failure)?;
        network.save(&self.output, &extra).map_err(failure)?;
        written(&self.output, network.spec(), "", self.json, out)
    }
}
