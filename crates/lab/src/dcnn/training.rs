//! A run: batches, reports, test plays, checkpoints.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use afterstate_dcnn::{Device, Step};
use afterstate_game::{GameRng, Rules, Symmetry, game_rng};
use afterstate_network::file::{FileError, FileProblem};
use rand_core::Rng;
use serde_json::json;

use super::{DcnnError, DcnnSettings, LearningLine, TestLine, learner::Learner};
use crate::{
    deal::Deck,
    evaluate::{self, Games, evaluate_players},
    log::{Header, Log},
    records::{Record, Shuffled, digest, shards},
    run::{Directory, RunError},
    stats::{EvalReport, GameResult, Summary},
};

/// The records between two lines of the log.
const LOG_EVERY: u64 = 50_000;

/// The time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

/// The records that the network is tested on without learning from them.
const HELD_OUT: usize = 10_000;

/// One shard of so many is held out.
const HELD_OUT_SHARE: usize = 50;

/// What a watcher is told.
pub enum Event<'a> {
    /// Progress of training: so many records so far, and how it did on the last batch of them.
    Learning(u64, Step),
    /// A line was added to the log.
    Logged(&'a LearningLine),
    /// A test game ended.
    Game(&'a GameResult),
    /// Test plays were added to `eval.jsonl`.
    Tested(&'a TestLine),
    /// Something failed that training survives, such as a checkpoint on a full disk.
    Warning(&'a DcnnError),
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub struct DcnnOutcome {
    /// Whether all records have been learned from; otherwise it was stopped, and can be resumed.
    pub finished: bool,
    /// The records learned from.
    pub samples: u64,
    /// The last test plays, if there were any.
    pub test: Option<TestLine>,
}

/// A run that is ready to go.
pub struct Training {
    directory: Directory,
    settings: DcnnSettings,
    threads: usize,
    learner: Learner,
    records: Shuffled,
    held_out: Vec<Record>,
    symmetries: GameRng,
    samples: u64,
    seconds: f64,
    log: Log<LearningLine>,
    tests: Log<TestLine>,
    last_test: Option<TestLine>,
    /// What was wrong with what it continues from.
    warnings: Vec<DcnnError>,
    _lock: File,
}

impl Training {
    /// Prepares a new run.
    ///
    /// # Errors
    /// When the directory holds a run or cannot be used, there is no such device, or the records cannot be read.
    pub fn start(
        directory: Directory,
        settings: DcnnSettings,
        threads: usize,
        device: Device,
    ) -> Result<Self, DcnnError> {
        if DcnnSettings::stored(&directory)?.is_some() || directory.holds_run() || directory.has_checkpoint()
        {
            return Err(DcnnError::Exists(directory.path().into()));
        }
        directory.check_unused().map_err(|_| DcnnError::Foreign(directory.path().into()))?;
        settings.check(threads)?;
        let shards = shards(&settings.records)?;
        let settings = DcnnSettings { shards: shards.len(), shards_checksum: digest(&shards)?, ..settings };
        let lock = lock(&directory)?;
        let learner = Learner::new(&settings, threads, device)?;
        settings.store(&directory)?;
        Training::prepare(directory, settings, threads, Point::start(learner), lock)
    }

    /// Prepares to continue a run; only the number of records and the test plays may have changed.
    ///
    /// # Errors
    /// When there is no run, something else has changed, there is no such device, or a file cannot be read.
    pub fn resume(
        directory: Directory,
        settings: DcnnSettings,
        threads: usize,
        device: Device,
    ) -> Result<Self, DcnnError> {
        let stored = DcnnSettings::stored(&directory)?;
        let stored = stored.ok_or_else(|| DcnnError::NoRun(directory.path().into()))?;
        let settings = DcnnSettings { shards_checksum: stored.shards_checksum.clone(), ..settings };
        if !settings.learns_like(&stored) {
            return Err(DcnnError::Changed);
        }
        settings.check(threads)?;
        let lock = lock(&directory)?;
        if !directory.has_checkpoint() {
            settings.store(&directory)?;
            let start = Point::start(Learner::new(&settings, threads, device)?);
            return Training::prepare(directory, settings, threads, start, lock);
        }
        let is_damaged = |error: &DcnnError| matches!(error, DcnnError::File(_) | DcnnError::Checkpoint(_));
        let load = |path: &Path| Point::load(path, &settings, threads, device);
        let (mut point, damaged) = directory.load_checkpoint(load, is_damaged)?;
        point.warnings.extend(damaged.map(|error| DcnnError::FellBack(error.into())));
        settings.store(&directory)?;
        Training::prepare(directory, settings, threads, point, lock)
    }

    fn prepare(
        directory: Directory,
        settings: DcnnSettings,
        threads: usize,
        point: Point,
        lock: File,
    ) -> Result<Self, DcnnError> {
        let Point { learner, samples, seconds, mut warnings } = point;
        let mut all: Vec<PathBuf> = shards(&settings.records)?;
        all.truncate(settings.shards);
        // A run from before there was a checksum cannot tell.
        if !settings.shards_checksum.is_empty() && digest(&all)? != settings.shards_checksum {
            return Err(DcnnError::OtherRecords(settings.records));
        }
        let (all, apart) = hold_out(all);
        let held_out = draw_some(apart)?;
        let mut records = Shuffled::new(all, settings.buffer, settings.seed)?;
        records.skip(samples)?;
        let mut symmetries = game_rng(settings.seed, 2);
        for _ in 0..samples {
            symmetries.next_u64();
        }
        let owner = json!({ "network": settings.network, "seed": settings.seed });
        let header = Header::of::<LearningLine>(&owner);
        let (log, _, log_repaired) =
            Log::resume(&directory.log(), &header, |line: &LearningLine| line.samples <= samples)?;
        let header = Header::of::<TestLine>(&owner);
        let (tests, before, tests_repaired) =
            Log::resume(&directory.evaluations(), &header, |line: &TestLine| line.samples <= samples)?;
        warnings.extend(log_repaired.into_iter().chain(tests_repaired).map(DcnnError::from));
        Ok(Training {
            directory,
            settings,
            threads,
            learner,
            records,
            held_out,
            symmetries,
            samples,
            seconds,
            log,
            tests,
            last_test: before.into_iter().last(),
            warnings,
            _lock: lock,
        })
    }

    /// The records learned from so far.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Its settings.
    pub fn settings(&self) -> &DcnnSettings {
        &self.settings
    }

    /// Learns until all records have been seen or `stop` is set, and saves.
    ///
    /// # Errors
    /// When records cannot be read or files cannot be written; the last checkpoint is then still there.
    pub fn train(
        mut self,
        stop: &AtomicBool,
        mut watch: impl FnMut(Event<'_>),
    ) -> Result<DcnnOutcome, DcnnError> {
        self.warnings.drain(..).for_each(|warning| watch(Event::Warning(&warning)));
        if self.is_at_test() {
            // Unless it has been made: games that were interrupted are played again.
            self.test(stop, &mut watch);
        }
        let (mut since, mut saved) = (Since::new(self.seconds), Instant::now());
        let mut saved_at = None;
        while self.samples < self.settings.samples && !stop.load(Relaxed) {
            let begin = Instant::now();
            let step = self.step()?;
            self.seconds += begin.elapsed().as_secs_f64();
            since.step.add(step);
            let is_last = self.samples == self.settings.samples;
            watch(Event::Learning(self.samples, step));
            if self.has_passed(LOG_EVERY, step.samples) || is_last {
                let line = self.report(&since);
                since = Since::new(self.seconds);
                match self.log.append(&line) {
                    Ok(()) => watch(Event::Logged(&line)),
                    Err(error) => watch(Event::Warning(&error.into())),
                }
            }
            let every = self.settings.test_every;
            let is_test = every > 0 && (self.has_passed(every, step.samples) || is_last);
            // Before test games, so that they need not be played again with other weights.
            if is_test || saved.elapsed() > CHECKPOINT_EVERY {
                match self.save() {
                    Err(error @ DcnnError::Diverged { .. }) => return Err(error),
                    Err(error) => watch(Event::Warning(&error)),
                    Ok(()) => saved_at = Some(self.samples),
                }
                saved = Instant::now();
            }
            if is_test {
                self.test(stop, &mut watch);
            }
        }
        if saved_at != Some(self.samples) {
            self.save()?;
        }
        let finished = self.samples >= self.settings.samples;
        Ok(DcnnOutcome { finished, samples: self.samples, test: self.last_test })
    }

    /// Learns from the next batch.
    fn step(&mut self) -> Result<Step, DcnnError> {
        let left = self.settings.samples - self.samples;
        let mut batch = Vec::with_capacity(self.settings.batch);
        for _ in 0..left.min(self.settings.batch as u64) {
            let record = self.records.draw()?;
            let symmetry = Symmetry::ALL[(self.symmetries.next_u64() >> 61) as usize];
            batch.push(if self.settings.augment { image(record, symmetry) } else { record });
        }
        let rate = self.rate();
        self.samples += batch.len() as u64;
        let step = self.learner.step(&batch, rate);
        if step.loss.is_finite() { Ok(step) } else { Err(self.diverged()) }
    }

    fn diverged(&self) -> DcnnError {
        DcnnError::Diverged { samples: self.samples, rate: self.rate() }
    }

    /// The learning rate now.
    fn rate(&self) -> f32 {
        let DcnnSettings { rate, final_rate, samples, .. } = self.settings;
        rate * (final_rate / rate).powf((self.samples as f64 / samples as f64) as f32)
    }

    /// Whether a multiple of so many records lies within the last ones.
    fn has_passed(&self, every: u64, last: u64) -> bool {
        self.samples / every > (self.samples - last) / every
    }

    /// Whether the run stands where a test is due, having been stopped there.
    fn is_at_test(&self) -> bool {
        let (every, samples) = (self.settings.test_every, self.samples);
        every > 0 && samples > 0 && (samples.is_multiple_of(every) || samples == self.settings.samples)
    }

    fn report(&mut self, since: &Since) -> LearningLine {
        let held_out = (!self.held_out.is_empty()).then(|| self.learner.test(&self.held_out));
        let gives_moves = self.learner.gives_moves();
        let accuracy = |step: &Step| gives_moves.then(|| step.accuracy());
        LearningLine {
            samples: self.samples,
            seconds: self.seconds,
            samples_per_second: since.step.samples as f64 / (self.seconds - since.seconds),
            rate: self.rate(),
            error: since.step.error(),
            accuracy: accuracy(&since.step),
            held_out_error: held_out.as_ref().map(Step::error),
            held_out_accuracy: held_out.as_ref().and_then(accuracy),
        }
    }

    /// Test plays; none when they are stopped.
    fn test(&mut self, stop: &AtomicBool, watch: &mut impl FnMut(Event<'_>)) {
        if self.last_test.as_ref().is_some_and(|line| line.samples == self.samples) {
            return;
        }
        let (begin, count) = (Instant::now(), self.settings.test_games);
        let deck = Deck::new(count);
        let games = Games { rules: Rules::default(), seed: evaluate::SEED, dealer: &deck };
        let player = || self.learner.player();
        let ended = |ended: &evaluate::PlayOutcome| {
            ended.results.iter().for_each(|result| watch(Event::Game(result)));
            !stop.load(Relaxed)
        };
        let outcome = evaluate_players(games, self.threads, player, ended);
        let Some(summary) = outcome.and_then(|outcome| Summary::of(4, &outcome.results)) else { return };
        let model = self.directory.path().to_string_lossy();
        let seconds = begin.elapsed().as_secs_f64();
        let report = EvalReport::new(&model, &self.learner.play_name(), games.seed, &summary, seconds);
        let line = TestLine { samples: self.samples, report };
        match self.tests.append(&line) {
            Ok(()) => watch(Event::Tested(&line)),
            Err(error) => watch(Event::Warning(&error.into())),
        }
        self.last_test = Some(line);
    }

    /// Writes the checkpoint and the model.
    fn save(&self) -> Result<(), DcnnError> {
        let settings = serde_json::to_string(&self.settings);
        let settings =
            settings.map_err(|source| DcnnError::Settings { path: self.directory.path().into(), source })?;
        let mut extra = BTreeMap::from([
            (VERSION.to_string(), env!("CARGO_PKG_VERSION").to_string()),
            (SAMPLES.to_string(), self.samples.to_string()),
            (SETTINGS.to_string(), settings),
        ]);
        let unsaved = |error: FileError| match error.problem {
            // Numbers that are not finite are not the file's fault.
            FileProblem::NotFinite { .. } => self.diverged(),
            _ => error.into(),
        };
        let model = self.learner.save_model(&self.directory.model(), &extra).map_err(unsaved);
        extra.insert(SECONDS.into(), self.seconds.to_string());
        let checkpoint =
            self.directory.save_checkpoint(|path| self.learner.save(path, &extra).map_err(unsaved));
        checkpoint.and(model)
    }
}

/// The metadata of checkpoints.
const VERSION: &str = "afterstate";
const SAMPLES: &str = "samples";
const SETTINGS: &str = "settings";
const SECONDS: &str = "seconds";

/// Where a run begins, or continues.
struct Point {
    learner: Learner,
    samples: u64,
    seconds: f64,
    /// What was wrong with what it continues from.
    warnings: Vec<DcnnError>,
}

impl Point {
    fn start(learner: Learner) -> Self {
        Point { learner, samples: 0, seconds: 0.0, warnings: Vec::new() }
    }

    /// Takes up a checkpoint of a run with these settings.
    fn load(path: &Path, settings: &DcnnSettings, threads: usize, device: Device) -> Result<Self, DcnnError> {
        let (learner, extra) = Learner::load(settings, path, threads, device)?;
        if let Some(found) = extra.get(VERSION).filter(|version| *version != env!("CARGO_PKG_VERSION")) {
            return Err(DcnnError::Version { path: path.into(), found: found.clone() });
        }
        let of = extra.get(SETTINGS).and_then(|text| serde_json::from_str::<DcnnSettings>(text).ok());
        if !of.is_some_and(|of| settings.learns_like(&of)) {
            return Err(DcnnError::OtherSettings(path.into()));
        }
        let samples = extra.get(SAMPLES).and_then(|text| text.parse().ok());
        let seconds = extra.get(SECONDS).and_then(|text| text.parse().ok());
        let (samples, seconds) = samples.zip(seconds).ok_or_else(|| DcnnError::Checkpoint(path.into()))?;
        Ok(Point { learner, samples, seconds, warnings: Vec::new() })
    }
}

/// What has happened since the last line of the log.
struct Since {
    step: Step,
    /// The seconds of learning before.
    seconds: f64,
}

impl Since {
    fn new(seconds: f64) -> Self {
        Since { step: Step::default(), seconds }
    }
}

fn lock(directory: &Directory) -> Result<File, DcnnError> {
    directory.lock().map_err(|error| match error {
        RunError::Directory { path, source } => DcnnError::Directory { path, source },
        _ => DcnnError::Busy(directory.path().into()),
    })
}

/// The shards to learn from, and the last ones of each directory, which are held out.
fn hold_out(shards: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut learned, mut held_out) = (Vec::new(), Vec::new());
    for shards in shards.chunk_by(|a, b| a.parent() == b.parent()) {
        let apart = if shards.len() > 1 { shards.len().div_ceil(HELD_OUT_SHARE) } else { 0 };
        let (learn, hold) = shards.split_at(shards.len() - apart);
        learned.extend_from_slice(learn);
        held_out.extend_from_slice(hold);
    }
    (learned, held_out)
}

/// A few records from all over these shards, always the same.
fn draw_some(shards: Vec<PathBuf>) -> Result<Vec<Record>, DcnnError> {
    if shards.is_empty() {
        return Ok(Vec::new());
    }
    let mut records = Shuffled::new(shards, 10 * HELD_OUT, 0)?;
    Ok((0..HELD_OUT).map(|_| records.draw()).collect::<Result<_, _>>()?)
}

/// A record seen through a symmetry.
fn image(record: Record, symmetry: Symmetry) -> Record {
    Record {
        state: record.state.image(symmetry),
        action: symmetry.image(record.action),
        spawn_cell: symmetry.cell::<4>(record.spawn_cell.into()) as u8,
        ..record
    }
}
