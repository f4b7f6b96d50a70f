//! `afterstate dcnn train`.

use std::{
    io::{IsTerminal, Write, stderr},
    path::PathBuf,
};

use afterstate_dcnn::{DcnnSpec, Device};
use afterstate_lab::{
    dcnn::{DcnnError, DcnnOutcome, DcnnSettings, Event, LearningLine, Taught, Training},
    run::Directory,
};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::{
    commands::{model, record, thread_count},
    error::Failure,
    format::{counted, percent, thousands, whole},
    signals::stop_signal,
};

/// Train a network on play records
///
/// Adam teaches the network to predict the moves of the records. Error and accuracy are written to log.jsonl, test
/// games to eval.jsonl, and a checkpoint each minute. One file in fifty is held out, to measure the network on games
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
    #[arg(long, value_name = "N", value_parser = crate::commands::numbers::parse_count)]
    samples: Option<u64>,
    /// The number of records in a batch [default: 1000]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// The learning rate [default: 0.001]
    #[arg(long, value_name = "RATE")]
    rate: Option<f32>,
    /// The learning rate at the end [default: the same]
    #[arg(long, value_name = "RATE")]
    final_rate: Option<f32>,
    /// Apply a random symmetry to each board
    #[arg(long)]
    augment: bool,
    /// The seed of initial weights and of the order of records [default: 1]
    #[arg(long, value_name = "S", value_parser = crate::commands::numbers::parse_number)]
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
    /// The directory of the run
    #[arg(long, value_name = "DIR", default_value = "runs/dcnn")]
    out: PathBuf,
    /// Continue an interrupted run
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
        let (directory, stop) = (Directory::new(&self.out), stop_signal()?);
        let threads = thread_count(self.threads);
        let training = if self.resume {
            let stored = DcnnSettings::stored(&directory).map_err(failure)?;
            let settings = self.settings(stored.unwrap_or_default())?;
            Training::resume(directory, settings, threads, self.device)
        } else {
            Training::start(directory, self.settings(DcnnSettings::default())?, threads, self.device)
        };
        let training = training.map_err(failure)?;
        let mut display = Display::new(training.samples(), training.settings().samples);
        let outcome = training.train(&stop, |event| display.show(event));
        display.bar.finish_and_clear();
        self.summary(&outcome.map_err(failure)?, out)
    }

    /// The previous settings, changed as requested.
    fn settings(&self, before: DcnnSettings) -> Result<DcnnSettings, Failure> {
        let rate = self.rate.unwrap_or(before.rate);
        let final_rate = self.final_rate.or(self.rate).unwrap_or(before.final_rate);
        Ok(DcnnSettings {
            records: self.records.clone().unwrap_or(before.records),
            shards: before.shards,
            shards_checksum: before.shards_checksum,
            network: self.network(before.network)?,
            tile_values: self.tile_values.unwrap_or(before.tile_values),
            samples: self.samples.unwrap_or(before.samples),
            batch: self.batch.unwrap_or(before.batch),
            rate,
            final_rate,
            augment: self.augment || before.augment,
            seed: self.seed.unwrap_or(before.seed),
            buffer: self.buffer.unwrap_or(before.buffer),
            test_every: self.test_every.unwrap_or(before.test_every),
            test_games: self.test_games.unwrap_or(before.test_games),
        })
    }

    fn network(&self, before: Taught) -> Result<Taught, Failure> {
        match (self.value.as_deref(), self.layers, self.channels, before) {
            (Some("tjwei"), ..) => Ok(Taught::Tjwei),
            (Some(name), ..) => Ok(Taught::Tuples(name.into())),
            (None, None, None, before) => Ok(before),
            (None, Some(layers), Some(channels), _) => Ok(Taught::Dcnn { layers, channels }),
            (None, None, Some(channels), _) => Ok(Taught::Dcnn { layers: 5, channels }),
            (None, Some(layers), None, _) => {
                let row = DcnnSpec::TABLE_2.into_iter().find(|&(k, _)| k == layers);
                let (layers, channels) = row.ok_or_else(|| {
                    let message = format!("the paper's Table 2 has 2 to 9 layers, not {layers}");
                    Failure::input(message, "say how many channels there are, with `--channels N`")
                })?;
                Ok(Taught::Dcnn { layers, channels })
            }
        }
    }

    fn summary(&self, outcome: &DcnnOutcome, out: &mut dyn Write) -> Result<(), Failure> {
        if self.json {
            let test = outcome.test.as_ref().map(|test| &test.report);
            let answer = json!({
                "run": self.out, "finished": outcome.finished, "samples": outcome.samples, "evaluation": test,
            });
            return Ok(writeln!(out, "{answer}")?);
        }
        let (path, samples) = (self.out.display(), thousands(outcome.samples));
        let what = if outcome.finished { "taught" } else { "stopped and saved" };
        writeln!(out, "{what}: {samples} records")?;
        if let Some(test) = &outcome.test {
            let (games, score) = (test.report.games, &test.report.score);
            let tile = test.report.tiles.get(&2048).copied().unwrap_or_default();
            let (games, mean, max) = (counted(games, "game"), whole(score.mean), thousands(score.max));
            writeln!(out, "{games}: mean {mean}, highest {max}, 2048: {}", percent(tile))?;
        }
        match outcome.finished {
            true => Ok(writeln!(out, "next: afterstate eval {path}")?),
            false => Ok(writeln!(out, "next: afterstate dcnn train --out {path} --resume")?),
        }
    }
}

/// What the user sees: a bar on a terminal, and a line for each report.
struct Display {
    bar: ProgressBar,
}

impl Display {
    fn new(done: u64, samples: u64) -> Self {
        let target =
            if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(samples), target).with_position(done);
        let style = ProgressStyle::with_template(
            "{bar:40.cyan} {human_pos} of {human_len} records  {eta} left  {msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
        bar.reset_eta();
        Display { bar }
    }

    fn show(&mut self, event: Event<'_>) {
        match event {
            Event::Learning(done, _) => self.bar.set_position(done),
            Event::Logged(line) => self.print(&describe(line)),
            Event::Game(_) => self.bar.tick(),
            Event::Warning(error) => self.print(&format!("warning: {error}; training continues")),
            Event::Tested(test) => {
                let (games, score) = (test.report.games, &test.report.score);
                let tile = percent(test.report.tiles.get(&2048).copied().unwrap_or_default());
                let (games, mean, max) = (counted(games, "game"), whole(score.mean), thousands(score.max));
                self.print(&format!("  {games}: mean {mean}, highest {max}, 2048: {tile}"));
            }
        }
    }

    fn print(&self, text: &str) {
        if self.bar.is_hidden() {
            // A progress line that cannot be written does not matter.
            let _ = writeln!(stderr(), "{text}");
        } else {
            self.bar.println(text);
        }
    }
}

fn describe(line: &LearningLine) -> String {
    let accuracy =
        |accuracy: Option<f64>| accuracy.map_or(String::new(), |a| format!(", accuracy {}", percent(a)));
    let mut text =
        format!("{:>12}  error {:.4}{}", thousands(line.samples), line.error, accuracy(line.accuracy));
    if let Some(error) = line.held_out_error {
        text += &format!("; held out: error {error:.4}{}", accuracy(line.held_out_accuracy));
    }
    text + &format!("; {:.0} records/s", line.samples_per_second)
}

/// An error of training, for the user.
pub(in crate::commands) fn failure(error: DcnnError) -> Failure {
    match error {
        DcnnError::Device(error) => super::no_device(error),
        DcnnError::Records(error) => record::failure(error),
        DcnnError::File(error) => model::failure(error),
        DcnnError::Exists(_) => {
            Failure::input(error, "`--resume` continues it, and `--out` gives another directory")
        }
        DcnnError::Foreign(_) => {
            Failure::input(error, "give another directory with `--out`, or remove the file")
        }
        DcnnError::NoRun(_) => Failure::input(error, "leave out `--resume` to begin one"),
        DcnnError::Busy(_) => Failure::other(error, "wait for it, or give another directory with `--out`"),
        DcnnError::Changed => {
            Failure::input(error, "leave the other options out, or begin anew with `--out`")
        }
        DcnnError::OtherRecords(_) => {
            Failure::input(error, "put the records back as they were, or begin anew with `--out`")
        }
        DcnnError::OtherSettings(_) | DcnnError::Version { .. } => {
            Failure::input(error, "begin anew with `--out`")
        }
        DcnnError::Diverged { rate, .. } => {
            let hint = format!(
                "`--rate {}` is a smaller rate, for another run; the last checkpoint is as it was",
                rate / 2.0
            );
            Failure::input(error, hint)
        }
        DcnnError::Memory(_) => {
            Failure::input(error, "give a smaller `--buffer` or `--batch`, or fewer `--channels`")
        }
        DcnnError::Log(_) | DcnnError::Directory { .. } => {
            Failure::other(error, "is there room on the disk, and may you write there?")
        }
        _ => Failure::input(error, "`afterstate dcnn train --help` says what there is"),
    }
}
