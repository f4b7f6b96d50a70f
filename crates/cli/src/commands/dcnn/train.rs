//! `afterstate dcnn train`.

use std::{io::Write, path::PathBuf};

use afterstate_dcnn::Device;
use afterstate_lab::{
    recipe::Recipe,
    run::{Directory, Run},
};
use clap::Args;
use serde_json::Value;

use crate::{
    commands::{
        numbers::{parse_count, parse_number},
        train::{Display, carry_out, failure},
    },
    error::Failure,
    signals::stop_signal,
};

/// The recipe that options change.
const RECIPE: &str = "description = 'a network taught by play records'\nbudget.actions = 20_000_000";

/// Train a network on play records
///
/// This is `afterstate train` with a recipe that the options write: its section [dcnn], budget and evaluation. Adam
/// teaches the network to predict the moves of the records. Error and accuracy are written to log.jsonl, test games to
/// eval.jsonl, and a checkpoint each minute. One file in fifty is held out, to measure the network on games
/// that it has not seen. Ctrl-C saves; --resume continues exactly where training stopped. The result does not depend
/// on the number of threads.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate dcnn train --records records --layers 5 --out runs/dcnn-5\n  \
    afterstate dcnn train --out runs/dcnn-5 --resume --samples 40000000      continues\n  \
    afterstate dcnn train --records records --layers 3 --channels 64 --augment --final-rate 0.0001\n  \
    afterstate dcnn train --records records --value 4x6                      an n-tuple network of values\n  \
    afterstate eval runs/dcnn-5 --search plain")]
pub(super) struct Train {
    /// The directory of the records
    #[arg(long, value_name = "DIR", required_unless_present = "resume")]
    records: Option<PathBuf>,
    /// The number of 2×2 convolutions [default: 5]
    #[arg(long, value_name = "K")]
    layers: Option<usize>,
    /// The number of channels [default: that of the paper's Table 2]
    #[arg(long, value_name = "N")]
    channels: Option<usize>,
    /// Teach a network of values instead: tjwei, or the name of an n-tuple network such as 4x6
    #[arg(long, value_name = "NETWORK", conflicts_with_all = ["layers", "channels"])]
    value: Option<String>,
    /// The tiles that the input distinguishes: 16 up to 32768, 18 up to 131072 [default: 16]
    #[arg(long, value_name = "N")]
    tile_values: Option<usize>,
    /// The number of records to learn from in total; they repeat when all have been seen [default: 20000000]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    samples: Option<u64>,
    /// The number of records in a batch [default: 1000]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// The learning rate [default: 0.001]
    #[arg(long, value_name = "RATE")]
    rate: Option<f64>,
    /// The learning rate at the end [default: the same]
    #[arg(long, value_name = "RATE")]
    final_rate: Option<f64>,
    /// Apply a random symmetry to each board
    #[arg(long)]
    augment: bool,
    /// The seed of initial weights and of the order of records [default: 1]
    #[arg(long, value_name = "S", value_parser = parse_number)]
    seed: Option<u64>,
    /// The number of records that are shuffled at a time, 32 bytes each [default: 2000000]
    #[arg(long, value_name = "N")]
    buffer: Option<usize>,
    /// Play test games after every N records, 0 for never [default: 2000000]
    #[arg(long, value_name = "N")]
    test_every: Option<u64>,
    /// The number of test games [default: 100]
    #[arg(long, value_name = "N")]
    test_games: Option<u64>,
    /// Change another key of the recipe, such as log.every_actions=10000; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The directory of the run
    #[arg(long, value_name = "DIR", default_value = "runs/dcnn")]
    out: PathBuf,
    /// Continue an interrupted run, or begin it
    #[arg(long)]
    resume: bool,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Where to train: cpu, or gpu in a program built with GPU support; a run can be resumed on the other one
    #[arg(long, default_value_t)]
    device: Device,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Train {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let (directory, overrides) = (Directory::new(&self.out), self.overrides());
        let stored =
            if self.resume { Run::stored_recipe(&directory, &overrides).map_err(failure)? } else { None };
        let recipe = match stored {
            Some(recipe) => recipe,
            None if self.records.is_none() => {
                let message = format!("{} holds no run", self.out.display());
                return Err(Failure::input(message, "give `--records DIR` to begin one"));
            }
            None => Recipe::parse("dcnn", "the recipe of dcnn train", RECIPE, &overrides)
                .map_err(|error| failure(error.into()))?,
        };
        let stop = stop_signal()?;
        let run = if self.resume { Run::resume(directory, recipe) } else { Run::start(directory, recipe) };
        carry_out(run.map_err(failure)?.on(self.device), &stop, Display::new(), self.json, out)
    }

    /// What the options say of the recipe.
    fn overrides(&self) -> Vec<String> {
        let text = |text: String| Value::from(text).to_string();
        let number = |number: Option<usize>| number.map(|number| number.to_string());
        let count = |count: Option<u64>| count.map(|count| count.to_string());
        let rate = |rate: Option<f64>| rate.map(|rate| format!("{rate:?}"));
        let options = [
            ("dcnn.records", self.records.as_ref().map(|path| text(path.display().to_string()))),
            ("dcnn.network", self.value.clone().map(text)),
            ("dcnn.layers", number(self.layers)),
            ("dcnn.channels", number(self.channels)),
            ("dcnn.tile_values", number(self.tile_values)),
            ("dcnn.batch", number(self.batch)),
            ("dcnn.rate", rate(self.rate)),
            ("dcnn.final_rate", rate(self.final_rate.or(self.rate))),
            ("dcnn.augment", self.augment.then(|| "true".to_owned())),
            ("dcnn.buffer", number(self.buffer)),
            ("seed", count(self.seed)),
            ("budget.actions", count(self.samples)),
            ("evaluation.every", count(self.test_every)),
            ("evaluation.games", count(self.test_games)),
            ("parallel.threads", number(Some(self.threads))),
        ];
        let given = options.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
        given.chain(self.set.iter().cloned()).collect()
    }
}
