//! A training by records, which stops at each point whose network is evaluated.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_dcnn::Device;
use afterstate_network::file::atomic::write_atomically;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    super::{ReproduceError, training::Entrant},
    Event, Record,
    worker::{Worker, finish, finished},
};
use afterstate_lab::{
    dcnn::{self, DcnnSettings, LearningLine, Taught, Training},
    log::{Header, Line, Log},
    run::Directory,
};

/// Error and accuracy at the end are those of the last batches, this fraction of the training: kondo-2019,
/// Table 4, has them over 5.9·10⁸ to 6.0·10⁸ actions.
const LAST_PART: u64 = 60;

/// A network's result on a batch of records before learning from it: a line of `batches.jsonl`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Batch {
    /// The number of records so far, including these.
    pub samples: u64,
    /// The mean error.
    pub error: f64,
    /// The share of the moves that it predicted.
    pub accuracy: f64,
}

impl Line for Batch {
    const KIND: &'static str = "batches";
}

impl Worker<'_> {
    /// Teaches the network; `None` if stopped.
    pub(super) fn teach(
        &self,
        lesson: &DcnnSettings,
    ) -> Result<Option<(Record, Vec<Batch>)>, ReproduceError> {
        let place = self.place();
        let lesson = DcnnSettings { seed: self.job.seed, ..lesson.clone() };
        check(&place, &lesson)?;
        let record = match finished(&place)? {
            Some(record) => record,
            None if self.teach_all(&place, &lesson)? => {
                let log = Log::<LearningLine>::read(&place.log())?;
                let seconds = log.last().map_or(0.0, |line| line.seconds);
                let record = Record {
                    actions: lesson.samples,
                    episodes: 0,
                    seconds,
                    highest: None,
                    alone: self.alone,
                };
                let record = finish(&place, record)?;
                // It will not be resumed.
                place.remove_checkpoints().map_err(ReproduceError::file(place.checkpoint()))?;
                record
            }
            None => return Ok(None),
        };
        Ok(Some((record, Log::read(&batches(&place))?)))
    }

    /// Teaches from point to point, and saves the network of each; returns `false` if stopped.
    fn teach_all(&self, place: &Directory, lesson: &DcnnSettings) -> Result<bool, ReproduceError> {
        let points = self.training().evaluations.iter().filter_map(|(entrant, _)| match entrant {
            Entrant::Voting(records) => Some(*records),
            Entrant::Searching(_) | Entrant::Valuing => None,
        });
        let mut points: Vec<u64> = points.filter(|&point| point < lesson.samples).collect();
        points.sort_unstable();
        for point in points {
            let model = self.model(Entrant::Voting(point));
            if model.exists() {
                continue;
            }
            if !self.teach_until(point, place, lesson)? {
                return Ok(false);
            }
            let bytes = fs::read(place.model()).map_err(ReproduceError::file(place.model()))?;
            write_atomically(&model, |file| file.write_all(&bytes))?;
        }
        self.teach_until(lesson.samples, place, lesson)
    }

    /// Teaches up to this many records, rounded to a whole batch; returns `false` if stopped before.
    fn teach_until(
        &self,
        point: u64,
        place: &Directory,
        lesson: &DcnnSettings,
    ) -> Result<bool, ReproduceError> {
        let device = match lesson.network {
            // They use no matrix products.
            Taught::Tuples(_) => Device::Cpu,
            Taught::Dcnn { .. } | Taught::Tjwei => self.plan.options.device,
        };
        let training = match DcnnSettings::stored(place)? {
            Some(DcnnSettings { shards, .. }) => {
                let lesson = DcnnSettings { shards, ..lesson.clone() };
                Training::resume(place.clone(), lesson, self.threads, device)?
            }
            None => Training::start(place.clone(), lesson.clone(), self.threads, device)?,
        };
        let before = training.samples();
        let last_part = lesson.samples - lesson.samples.div_ceil(LAST_PART);
        let header = Header::of::<Batch>(&json!({ "training": self.training().name, "seed": lesson.seed }));
        let (mut lines, ..) = Log::resume(&batches(place), &header, |line: &Batch| line.samples <= before)?;
        let (halt, mut failure) = (AtomicBool::new(before >= point), None);
        let outcome = training.train(&halt, |event| {
            let dcnn::Event::Learning(samples, step) = event else { return };
            if samples > last_part {
                let line = Batch { samples, error: step.error(), accuracy: step.accuracy() };
                failure = failure.take().or_else(|| lines.append(&line).err());
            }
            self.send(Event::Training(samples as f64 / lesson.samples as f64));
            if samples >= point || failure.is_some() || self.stop.load(Relaxed) {
                halt.store(true, Relaxed);
            }
        })?;
        failure.map_or(Ok(outcome.samples >= point), |error| Err(error.into()))
    }
}

/// Rejects a directory that holds another lesson.
fn check(place: &Directory, lesson: &DcnnSettings) -> Result<(), ReproduceError> {
    match DcnnSettings::stored(place)? {
        Some(stored) if stored.samples != lesson.samples => {
            Err(ReproduceError::OtherBudget(place.path().to_owned()))
        }
        Some(stored) if stored.records != lesson.records => {
            Err(ReproduceError::OtherRecords { path: place.path().to_owned(), found: stored.records })
        }
        _ => Ok(()),
    }
}

fn batches(place: &Directory) -> PathBuf {
    place.path().join("batches.jsonl")
}
