//! Networks taught by play records (kondo-2019, sections 4.2, 5.1 and 6): runs that can be interrupted and resumed.
//!
//! A run directory holds `dcnn.json` (the settings), `log.jsonl` (error and accuracy), `eval.jsonl` (test plays),
//! `model.safetensors` and `checkpoint/state.safetensors`, with the checkpoint before it. A resumed run continues exactly from its checkpoint: records come in an order
//! that is a function of the settings, and the weights do not depend on the number of threads. It may continue on another device.

mod learner;
mod training;
mod tuples;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use afterstate_dcnn::{
    Architecture, CrossEntropy, Dcnn, DcnnSpec, Device, DeviceError, Sample, SpecError, Step, Trainer,
};
use afterstate_network::{
    MemoryError, check_fits,
    file::{FileError, atomic::write_atomically},
};
use serde::{Deserialize, Serialize};

use crate::{
    log::{Line, LogError, Repaired},
    records::{Record, RecordError, Shuffled, shards},
    run::Directory,
    stats::EvalReport,
};

pub use training::{DcnnOutcome, Event, Training};

/// The network that is taught.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Taught {
    /// A policy network: which move the player of the records would make.
    Dcnn {
        /// The number of convolutions.
        layers: usize,
        /// The number of channels.
        channels: usize,
    },
    /// tjwei's value network at half size: the score from an afterstate to the end of the game.
    Tjwei,
    /// An n-tuple network of values, by the name of its tuples.
    Tuples(String),
}

/// What to teach, by which records, and how.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DcnnSettings {
    /// The directory of the records.
    pub records: PathBuf,
    /// How many of its shards are used, the first ones by name; all when the run begins.
    pub shards: usize,
    /// Their checksum, taken when the run begins.
    #[serde(default)]
    pub shards_checksum: String,
    /// The network.
    pub network: Taught,
    /// The number of input channels of a convolutional network: 16 is up to the 32768-tile.
    pub tile_values: usize,
    /// The number of records to learn from in all.
    pub samples: u64,
    /// The number of records in a batch.
    pub batch: usize,
    /// The learning rate at the beginning.
    pub rate: f32,
    /// The learning rate at the end; it changes by the same factor with each record.
    pub final_rate: f32,
    /// Whether each board is seen through a random symmetry.
    pub augment: bool,
    /// The seed of initial weights, of the order of records and of symmetries.
    pub seed: u64,
    /// The number of records that are shuffled at a time.
    pub buffer: usize,
    /// Test plays are made after each so many records; 0 for never.
    pub test_every: u64,
    /// The number of test games.
    pub test_games: u64,
}

impl Default for DcnnSettings {
    /// Those of kondo-2019 for five layers, and 2·10⁷ records.
    fn default() -> Self {
        DcnnSettings {
            records: PathBuf::new(),
            shards: 0,
            shards_checksum: String::new(),
            network: Taught::Dcnn { layers: 5, channels: 222 },
            tile_values: DcnnSpec::TILE_VALUES,
            samples: 20_000_000,
            batch: 1000,
            rate: 0.001,
            final_rate: 0.001,
            augment: false,
            seed: 1,
            buffer: 2_000_000,
            test_every: 2_000_000,
            test_games: 100,
        }
    }
}

impl DcnnSettings {
    /// What the convolutional network is; `None` for tuples.
    ///
    /// # Errors
    /// When there is no such network.
    pub fn spec(&self) -> Result<Option<DcnnSpec>, DcnnError> {
        let architecture = match self.network {
            Taught::Dcnn { layers, channels } => Architecture::Dcnn { layers, channels },
            Taught::Tjwei => DcnnSpec::HALF_TJWEI.architecture,
            Taught::Tuples(_) => return Ok(None),
        };
        Ok(Some(DcnnSpec { architecture, tile_values: self.tile_values }.checked()?))
    }

    /// The settings of the run in a directory; `None` when there is no run.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn stored(directory: &Directory) -> Result<Option<Self>, DcnnError> {
        let path = settings_path(directory);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|source| DcnnError::Directory { path: path.clone(), source })?,
        };
        serde_json::from_str(&text).map(Some).map_err(|source| DcnnError::Settings { path, source })
    }

    fn store(&self, directory: &Directory) -> Result<(), DcnnError> {
        let write = |file: &mut io::BufWriter<fs::File>| {
            serde_json::to_writer_pretty(file, self).map_err(io::Error::from)
        };
        Ok(write_atomically(&settings_path(directory), write)?)
    }

    /// Refuses settings that cannot be, and what does not fit into memory.
    fn check(&self, threads: usize) -> Result<(), DcnnError> {
        let rate = |rate: f32| rate > 0.0 && rate <= 1e9;
        let wrong = [
            (self.batch == 0 || self.batch > 1_000_000, "batch", "1 to 1000000 records"),
            (!rate(self.rate) || !rate(self.final_rate), "rate", "a number above 0, at most 10^9"),
            (self.test_every > 0 && self.test_games == 0, "test_games", "1 or more"),
            (self.samples > 1_000_000_000_000, "samples", "at most 10^12 records"),
        ];
        if let Some((_, key, right)) = wrong.into_iter().find(|(wrong, ..)| *wrong) {
            return Err(DcnnError::Setting { key, right });
        }
        Ok(check_fits("teaching this network with such a buffer and batch", self.bytes(threads)?)?)
    }

    /// About how much memory it takes: the records to choose from, the weights with the state of the optimizer and a gradient for each
    /// part of the batch, and what a pass keeps for each thread.
    fn bytes(&self, threads: usize) -> Result<u64, DcnnError> {
        let records = (self.buffer as u64).saturating_add(self.batch as u64);
        let records = records.saturating_mul(size_of::<Record>() as u64);
        let Some(spec) = self.spec()? else { return Ok(records) };
        let per_board = match spec.architecture {
            Architecture::Dcnn { layers, channels } => PIXELS * layers * channels,
            Architecture::Tjwei { first, second } => PIXELS * (first + second),
        };
        let parts = self.batch.div_ceil(Trainer::<CrossEntropy>::PART) as u64;
        let gradients = 4 * spec.weights() as u64 * (3 + parts);
        let passes = threads as u64 * Trainer::<CrossEntropy>::PART as u64 * PER_PIXEL * per_board as u64;
        Ok(records.saturating_add(gradients).saturating_add(passes))
    }

    /// Whether a run with these settings learns as one with others does.
    fn learns_like(&self, other: &DcnnSettings) -> bool {
        let DcnnSettings { samples, test_every, test_games, .. } = other.clone();
        let same = DcnnSettings { samples, test_every, test_games, ..self.clone() };
        same == *other
    }
}

/// The pixels of the widest layer.
const PIXELS: usize = 16;

/// The bytes that a pass keeps of each pixel and channel: the value, its slope, and what the filters see of it.
const PER_PIXEL: u64 = 4 * 10;

fn settings_path(directory: &Directory) -> PathBuf {
    directory.path().join("dcnn.json")
}

/// A report of training: a line of `log.jsonl`. Error and accuracy are of the records since the line before.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LearningLine {
    /// The records learned from so far.
    pub samples: u64,
    /// The seconds of learning so far, test plays and interruptions left out.
    pub seconds: f64,
    /// Records in each second, since the line before.
    pub samples_per_second: f64,
    /// The learning rate.
    pub rate: f32,
    /// The mean loss on the records that were learned from, before learning from them: cross entropy for policies, half the squared error in units
    /// of 1024 points for values.
    pub error: f64,
    /// The share of their moves that the network gave; none for values.
    pub accuracy: Option<f64>,
    /// The mean loss on records that are never learned from.
    pub held_out_error: Option<f64>,
    /// The share of their moves that the network gives.
    pub held_out_accuracy: Option<f64>,
}

/// Test plays: a line of `eval.jsonl`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestLine {
    /// The records learned from before.
    pub samples: u64,
    /// What came out, in the form of `eval --json`.
    #[serde(flatten)]
    pub report: EvalReport,
}

impl Line for LearningLine {
    const KIND: &'static str = "learning";
}

impl Line for TestLine {
    const KIND: &'static str = "tests";
}

/// Why a network cannot be taught.
#[derive(Debug, thiserror::Error)]
pub enum DcnnError {
    /// No such network.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No such device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No such tuples, or no room for them.
    #[error("`{name}` is no network to teach: {problem}")]
    Tuples {
        /// The requested one.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A setting out of range.
    #[error("`{key}` should be {right}")]
    Setting {
        /// The setting.
        key: &'static str,
        /// What would be right.
        right: &'static str,
    },
    /// The records cannot be read.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// A file of the run cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The directory cannot be used.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory, or a file in it.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The settings are damaged.
    #[error("{}: {source}", path.display())]
    Settings {
        /// Their file.
        path: PathBuf,
        /// What is wrong with them.
        source: serde_json::Error,
    },
    /// There is a run already.
    #[error("{} holds a run already", .0.display())]
    Exists(PathBuf),
    /// A new run would replace files that are of no run.
    #[error("{} holds a model or a curve that belongs to no run; it is left as it is", .0.display())]
    Foreign(PathBuf),
    /// Another process is at it.
    #[error("another process trains in {}", .0.display())]
    Busy(PathBuf),
    /// There is nothing to resume.
    #[error("{} holds no run", .0.display())]
    NoRun(PathBuf),
    /// Settings that a resumed run cannot change.
    #[error("a resumed run learns as it did before: only samples, test_every and test_games can change")]
    Changed,
    /// The shards are others than when the run began.
    #[error("the records in {} have changed since the run began, so that it would not go on as it was", .0.display())]
    OtherRecords(PathBuf),
    /// The checkpoint is of another run.
    #[error("{} is the checkpoint of a run with other settings than dcnn.json says", .0.display())]
    OtherSettings(PathBuf),
    /// The checkpoint is of another version of the program.
    #[error("{} was written by afterstate {found}, and this is afterstate {}", path.display(), env!("CARGO_PKG_VERSION"))]
    Version {
        /// The checkpoint.
        path: PathBuf,
        /// The version that wrote it.
        found: String,
    },
    /// The error is no number any more.
    #[error(
        "learning has diverged within {samples} records: numbers are no longer finite with a rate of {rate}"
    )]
    Diverged {
        /// How far it came.
        samples: u64,
        /// The learning rate.
        rate: f32,
    },
    /// The newest checkpoint is damaged; a warning.
    #[error("{0}; it goes on from the checkpoint before")]
    FellBack(Box<DcnnError>),
    /// A log was damaged; a warning.
    #[error(transparent)]
    Repaired(#[from] Repaired),
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A checkpoint without the number of records.
    #[error("{} does not say how many records it has learned from", .0.display())]
    Checkpoint(PathBuf),
}

/// How often a policy network gives the moves of records: of so many from all over a directory, or from one file.
///
/// # Errors
/// When it is no policy network, there is no such device, or the records cannot be read.
pub fn accuracy(
    net: Dcnn,
    records: &Path,
    samples: u64,
    threads: usize,
    device: Device,
) -> Result<Step, DcnnError> {
    let mut trainer = Trainer::<CrossEntropy>::new(net, threads)?.on(device)?;
    let mut records = Shuffled::new(shards(records)?, DcnnSettings::default().buffer, 0)?;
    let (mut total, mut left) = (Step::default(), samples);
    while left > 0 {
        let mut sample = || -> Result<_, DcnnError> {
            let record = records.draw()?;
            Ok(Sample { board: record.state.board(), target: record.action })
        };
        let some: Vec<_> = (0..left.min(TESTED)).map(|_| sample()).collect::<Result<_, _>>()?;
        total.add(trainer.test(&some));
        left -= some.len() as u64;
    }
    Ok(total)
}

/// The records that are looked at together.
const TESTED: u64 = 100_000;
