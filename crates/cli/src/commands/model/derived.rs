//! `afterstate model fold` and `afterstate model average`.

use std::{io::Write, path::PathBuf};

use afterstate_network::derive::{average, fold};
use clap::Args;

use super::{failure, open_full, summary, written};
use crate::{commands::target, error::Failure};

/// Add redundant tuples into those that contain them
///
/// Small tuples that lie inside larger ones help learning (redundant encoding) but cost lookups at play. The folded
/// model has the same values, to the rounding of its 32-bit weights, and plays faster: 42-33-4-22-3 has 5 tuples
/// instead of 12. Weight promotion is resolved and the learning state of TC left out, so it is for playing, not for
/// further training.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    afterstate model fold runs/redundant -o folded.safetensors\n  \
    afterstate eval folded.safetensors")]
pub(super) struct Fold {
    /// The model file to read, or the directory of a run
    file: PathBuf,
    /// The model file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// Average several models of one shape
///
/// The mean of the weights is one network whose values are the mean of the models' values: an ensemble that plays as
/// fast as one of them. Weight promotion is resolved and the learning state of TC left out.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    afterstate model average runs/seed-1 runs/seed-2 runs/seed-3 -o mean.safetensors\n  \
    afterstate eval mean.safetensors")]
pub(super) struct Average {
    /// The model files to read, or the directories of runs
    #[arg(required = true, num_args = 2..)]
    files: Vec<PathBuf>,
    /// The model file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Fold {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        target::check(&self.output, target::Kind::Model)?;
        let (file, info) = open_full(&self.file)?;
        let mut extra = info.extra;
        extra.insert("folded_from".into(), info.spec.tuples.to_string());
        let spec = fold(&file, &self.output, &extra).map_err(failure)?;
        let note = format!(", folded from {}", summary(&info.spec));
        written(&self.output, &spec, &note, self.json, out)
    }
}

impl Average {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        target::check(&self.output, target::Kind::Model)?;
        let models = self.files.iter().map(|file| open_full(file)).collect::<Result<Vec<_>, _>>()?;
        let (files, infos): (Vec<_>, Vec<_>) = models.into_iter().unzip();
        // The recipe contains the rules of the game.
        let mut extra = infos[0].extra.clone();
        extra.retain(|key, _| key == "recipe");
        let names: Vec<_> = self.files.iter().map(|file| file.display().to_string()).collect();
        extra.insert("average_of".into(), names.join("\n"));
        let spec = average(&files, &self.output, &extra).map_err(failure)?;
        let note = format!(", average of {} models", files.len());
        written(&self.output, &spec, &note, self.json, out)
    }
}
