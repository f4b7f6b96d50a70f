//! `afterstate dcnn eval`: how well a network predicts the moves of records.

use std::{io::Write, path::PathBuf};

use afterstate_dcnn::Device;
use afterstate_lab::{
    dcnn::accuracy,
    model::{Kind, Model},
};
use clap::Args;
use serde_json::json;

use crate::{
    commands::{thread_count, train::failure},
    error::Failure,
    format::{percent, thousands},
};

/// Measure how often a DCNN gives the moves of play records
///
/// `afterstate eval MODEL` measures how well it plays.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate dcnn eval runs/dcnn-5 --records records\n  \
    afterstate eval runs/dcnn-5 --search plain --games 100")]
pub(super) struct Eval {
    /// The model file, or the directory of a run
    model: PathBuf,
    /// The directory of the records, or one file
    #[arg(long, value_name = "DIR")]
    records: PathBuf,
    /// How many records to use, spread over all of them
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = crate::commands::numbers::parse_count)]
    samples: u64,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// The device for the evaluation: cpu, or gpu in a program built with GPU support
    #[arg(long, default_value_t)]
    device: Device,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let Kind::Dcnn(dcnn, _) = Model::open(Some(&self.model))?.kind else {
            let message = format!("{} is not a convolutional network", self.model.display());
            return Err(Failure::input(message, "`afterstate dcnn train` makes one"));
        };
        let step = accuracy(dcnn, &self.records, self.samples, thread_count(self.threads), self.device);
        let step = step.map_err(failure)?;
        if self.json {
            let answer =
                json!({ "samples": step.samples, "error": step.error(), "accuracy": step.accuracy() });
            return Ok(writeln!(out, "{answer}")?);
        }
        let samples = thousands(step.samples);
        Ok(writeln!(
            out,
            "{samples} records: accuracy {}, error {:.4}",
            percent(step.accuracy()),
            step.error()
        )?)
    }
}
