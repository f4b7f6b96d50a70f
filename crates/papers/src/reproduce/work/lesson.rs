//! A training by records, which stops at each point whose network is evaluated.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_dcnn::{Device, Step};
use afterstate_learning::TrainingProgress;
use afterstate_network::file::atomic::write_atomically;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    super::{ReproduceError, training::Entrant},
    Event,
    worker::Worker,
};
use afterstate_lab::{
    log::{Header, Line, Log, LogError},
    recipe::{Lesson, Recipe, Taught},
    run::{Directory, Observer, Run, RunError, RunOutcome, Status},
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
    /// Teaches from point to point and then to the end, unless stopped, and keeps the network of each point.
    pub(super) fn teach(
        &self,
        place: &Directory,
        recipe: &Recipe,
        lesson: &Lesson,
    ) -> Result<RunOutcome, ReproduceError> {
        // Tuples use no matrix products.
        let is_convolutional = matches!(lesson.network, Taught::Convolutional(_));
        let device = if is_convolutional { self.plan.options.device } else { Device::Cpu };
        let all = self.training().records().unwrap_or_default();
        let points = self.training().evaluations.iter().filter_map(|(entrant, _)| match entrant {
            Entrant::Voting(records) => Some(*records),
            Entrant::Searching(_) | Entrant::Valuing => None,
        });
        let mut points: Vec<u64> = points.filter(|&point| point < all).collect();
        points.sort_unstable();
        for point in points {
            let model = self.model(Entrant::Voting(point));
            if model.exists() {
                continue;
            }
            let outcome = self.teach_until(point, place, recipe, device)?;
            if outcome.progress.actions < point {
                return Ok(outcome);
            }
            let bytes = fs::read(place.model()).map_err(ReproduceError::file(place.model()))?;
            write_atomically(&model, |file| file.write_all(&bytes))?;
        }
        self.teach_until(all, place, recipe, device)
    }

    /// Teaches up to this many records, rounded to a whole batch, unless stopped before.
    fn teach_until(
        &self,
        point: u64,
        place: &Directory,
        recipe: &Recipe,
        device: Device,
    ) -> Result<RunOutcome, ReproduceError> {
        let halt = AtomicBool::new(false);
        let mut watch = Watch { worker: self, place, halt: &halt, point, batches: None, failure: None };
        let outcome = Run::resume(place.clone(), recipe.clone())?.on(device).train(&halt, &mut watch)?;
        watch.failure.map_or(Ok(outcome), |error| Err(error.into()))
    }
}

/// Records the last batches, and halts at a point.
struct Watch<'a> {
    worker: &'a Worker<'a>,
    place: &'a Directory,
    halt: &'a AtomicBool,
    point: u64,
    /// Open once it is known where the run continues.
    batches: Option<Log<Batch>>,
    failure: Option<LogError>,
}

impl Watch<'_> {
    /// Halts at the point, on a failure, or when stopped.
    fn look(&self, records: u64) {
        let halts = records >= self.point || self.failure.is_some() || self.worker.stop.load(Relaxed);
        self.halt.store(halts, Relaxed);
    }

    fn open(&self, records: u64) -> Result<Log<Batch>, LogError> {
        let (name, seed) = (&self.worker.training().name, self.worker.job.seed);
        let header = Header::of::<Batch>(&json!({ "training": name, "seed": seed }));
        let (log, ..) = Log::resume(&batches(self.place), &header, |line: &Batch| line.samples <= records)?;
        Ok(log)
    }
}

impl Observer for Watch<'_> {
    fn training(&mut self, status: &Status) {
        if self.batches.is_none() && self.failure.is_none() {
            match self.open(status.progress.actions) {
                Ok(batches) => self.batches = Some(batches),
                Err(error) => self.failure = Some(error),
            }
        }
        self.look(status.progress.actions);
    }

    fn learned(&mut self, progress: TrainingProgress, batch: &Step) {
        let (records, all) = (progress.actions, self.worker.training().records().unwrap_or_default());
        if let Some(batches) = self.batches.as_mut().filter(|_| records > all - all.div_ceil(LAST_PART)) {
            let line = Batch { samples: records, error: batch.error(), accuracy: batch.accuracy() };
            self.failure = self.failure.take().or_else(|| batches.append(&line).err());
        }
        self.worker.send(Event::Training(records as f64 / all as f64));
        self.look(records);
    }

    fn warning(&mut self, error: &RunError) {
        self.worker.send(Event::Warning(error.to_string()));
    }
}

pub(super) fn batches(place: &Directory) -> PathBuf {
    place.path().join("batches.jsonl")
}
