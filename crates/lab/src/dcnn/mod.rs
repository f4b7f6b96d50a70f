//! Networks taught by play records (kondo-2019, sections 4.2, 5.1 and 6), as a [run](crate::run) carries it out for a recipe
//! with a `[dcnn]` section.
//!
//! Records come in an order that is a function of the recipe, and the weights do not depend on the number of threads. So a
//! resumed run continues exactly from its checkpoint, with any number of threads; and on another device, to rounding.

mod by_records;
mod pupil;
mod tuples;

use std::path::{Path, PathBuf};

use afterstate_dcnn::{Architecture, CrossEntropy, Dcnn, Device, Sample, Step, Trainer};
use afterstate_network::{Layout, SpecError};

use crate::{
    recipe::{Lesson, Taught},
    records::{Record, RecordError, Shuffled, digest, shards},
    run::RunError,
};

pub(crate) use by_records::ByRecords;

impl Lesson {
    /// The number of weights.
    ///
    /// # Errors
    /// When there are no such tuples; never for a recipe that was read from a text.
    pub fn weights(&self) -> Result<u64, SpecError> {
        match &self.network {
            Taught::Convolutional(spec) => Ok(spec.weights() as u64),
            Taught::Tuples(name) => Ok(tuples::spec(name)?.weights()),
        }
    }

    /// About how many bytes the network and its optimizer take, and all of learning: also the records to choose from, a
    /// gradient for each part of the batch, and what a pass keeps for each thread.
    pub(crate) fn bytes(&self, threads: usize) -> Result<(u64, u64), SpecError> {
        let records = (self.buffer as u64).saturating_add(self.batch as u64);
        let records = records.saturating_mul(size_of::<Record>() as u64);
        let (network, work) = match &self.network {
            Taught::Tuples(name) => (4 * Layout::new(&tuples::spec(name)?).len(), 0),
            Taught::Convolutional(spec) => {
                let per_board = match spec.architecture {
                    Architecture::Dcnn { layers, channels } => PIXELS * layers * channels,
                    Architecture::Tjwei { first, second } => PIXELS * (first + second),
                };
                let parts = self.batch.div_ceil(Trainer::<CrossEntropy>::PART) as u64;
                let passes = threads as u64 * Trainer::<CrossEntropy>::PART as u64;
                let weights = 4 * spec.weights() as u64;
                (3 * weights, parts * weights + passes * PER_PIXEL * per_board as u64)
            }
        };
        Ok((network, network.saturating_add(work).saturating_add(records)))
    }

    /// The files of records, the first ones by name.
    fn files(&self) -> Result<Vec<PathBuf>, RecordError> {
        let mut files = shards(&self.records)?;
        if self.shards > 0 {
            files.truncate(self.shards);
        }
        Ok(files)
    }
}

/// The pixels of the widest layer.
const PIXELS: usize = 16;

/// The bytes that a pass keeps of each pixel and channel: the value, its slope, and what the filters see of it.
const PER_PIXEL: u64 = 4 * 10;

/// Takes note of the records that are there, or refuses others than a run began with.
pub(crate) fn settle(lesson: &mut Lesson) -> Result<(), RunError> {
    let files = lesson.files()?;
    let found = digest(&files)?;
    if !lesson.checksum.is_empty() && lesson.checksum != found {
        return Err(RunError::OtherRecords(lesson.records.clone()));
    }
    (lesson.shards, lesson.checksum) = (files.len(), found);
    Ok(())
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
) -> Result<Step, RunError> {
    let mut trainer = Trainer::<CrossEntropy>::new(net, threads)?.on(device)?;
    let mut records = Shuffled::new(shards(records)?, BUFFER, 0)?;
    let (mut total, mut left) = (Step::default(), samples);
    while left > 0 {
        let mut sample = || -> Result<_, RunError> {
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

/// The records that they are drawn from.
const BUFFER: usize = 2_000_000;
