//! A network that learns from records, batch by batch.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use afterstate_dcnn::{Device, Step};
use afterstate_game::{GameRng, Symmetry, game_rng};
use afterstate_learning::{Budget, TrainingProgress};
use afterstate_network::file::{FileError, safetensors::TensorFile};
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::pupil::Pupil;
use crate::{
    evaluate::{Games, PlayOutcome},
    log::{Fit, Rate},
    model::Search,
    recipe::{Lesson, Recipe},
    records::{Record, Shuffled},
    run::{Learner, LearningReport, News, RunError, State, check_origin, diverged, state_of},
    stats::Tally,
};

/// The records that the network is tested on without learning from them.
const HELD_OUT: usize = 10_000;

/// One shard of so many is held out.
const HELD_OUT_SHARE: usize = 50;

/// A network that learns from records. They are its actions.
pub(crate) struct ByRecords<'a> {
    recipe: &'a Recipe,
    lesson: &'a Lesson,
    device: Device,
    /// The number of records in all.
    budget: u64,
    pupil: Pupil,
    records: Shuffled,
    held_out: Vec<Record>,
    symmetries: GameRng,
    progress: TrainingProgress,
    /// How it has done since the last line of the log.
    since: Step,
}

/// What is kept beside the weights.
#[derive(Serialize, Deserialize)]
struct Kept {
    progress: TrainingProgress,
    /// Since the last line of the log: the number of records, the sum of their losses, and how often it was right.
    since: (u64, f64, u64),
}

impl<'a> ByRecords<'a> {
    pub(crate) fn new(recipe: &'a Recipe, lesson: &'a Lesson, device: Device) -> Result<Self, RunError> {
        let (learned, apart) = hold_out(lesson.files()?);
        Ok(ByRecords {
            recipe,
            lesson,
            device,
            budget: if let Budget::Actions(records) = recipe.budget { records } else { 0 },
            pupil: Pupil::new(lesson, recipe.seed, recipe.parallel.thread_count(), device)?,
            records: Shuffled::new(learned, lesson.buffer, recipe.seed)?,
            held_out: draw_some(apart)?,
            symmetries: game_rng(recipe.seed, 2),
            progress: TrainingProgress::default(),
            since: Step::default(),
        })
    }

    /// Learns from the next batch.
    fn step(&mut self) -> Result<Step, RunError> {
        let (begin, lesson) = (Instant::now(), self.lesson);
        let left = self.budget - self.progress.actions;
        let mut batch = Vec::with_capacity(lesson.batch);
        for _ in 0..left.min(lesson.batch as u64) {
            let record = self.records.draw()?;
            let symmetry = Symmetry::ALL[(self.symmetries.next_u64() >> 61) as usize];
            batch.push(if lesson.augment { image(record, symmetry) } else { record });
        }
        let step = self.pupil.step(&batch, self.rate());
        self.progress.actions += batch.len() as u64;
        self.progress.seconds += begin.elapsed().as_secs_f64();
        self.since.add(step);
        if step.loss.is_finite() { Ok(step) } else { Err(diverged(self.recipe, self.progress)) }
    }

    /// The learning rate now.
    fn rate(&self) -> f32 {
        let (rate, final_rate) = (self.lesson.rate as f32, self.lesson.final_rate as f32);
        rate * (final_rate / rate).powf((self.progress.actions as f64 / self.budget as f64) as f32)
    }
}

impl Learner for ByRecords<'_> {
    fn load(&mut self, path: &Path) -> Result<(TrainingProgress, Tally), RunError> {
        let file = TensorFile::open(path)?;
        check_origin(&file, self.recipe)?;
        let state: State<Kept> = state_of(&file)?;
        let threads = self.recipe.parallel.thread_count();
        self.pupil = Pupil::load(self.lesson, path, threads, self.device)?;
        let Kept { progress, since: (samples, loss, right) } = state.trainer;
        self.since = Step { loss, right, samples };
        self.progress = progress;
        self.records.skip(progress.actions)?;
        for _ in 0..progress.actions {
            self.symmetries.next_u64();
        }
        Ok((state.logged, state.tally))
    }

    fn state(&self, logged: TrainingProgress, tally: &Tally) -> serde_json::Result<String> {
        let Step { loss, right, samples } = self.since;
        let trainer = Kept { progress: self.progress, since: (samples, loss, right) };
        serde_json::to_string(&State { trainer, replicas: Vec::new(), logged, tally: tally.clone() })
    }

    fn save(&self, path: &Path, about: &BTreeMap<String, String>) -> Result<(), FileError> {
        self.pupil.save(path, about)
    }

    fn save_model(&self, path: &Path, about: &BTreeMap<String, String>) -> Result<(), FileError> {
        self.pupil.save_model(path, about)
    }

    fn progress(&self) -> TrainingProgress {
        self.progress
    }

    fn is_done(&self) -> bool {
        self.progress.actions >= self.budget
    }

    fn learn(&mut self, halt: u64, watch: &mut dyn FnMut(News<'_>) -> bool) -> Result<(), RunError> {
        while self.progress.actions < halt.min(self.budget) {
            let (batch, progress) = (Some(self.step()?), self.progress);
            if !watch(News { progress, games: &[], batch, report: &mut || self.report() }) {
                break;
            }
        }
        Ok(())
    }

    fn report(&mut self) -> LearningReport {
        let since = std::mem::take(&mut self.since);
        let held_out = (!self.held_out.is_empty()).then(|| self.pupil.test(&self.held_out));
        let gives_moves = self.lesson.network.is_policy();
        let accuracy = |step: &Step| gives_moves.then(|| step.accuracy());
        let fit = Fit {
            error: since.error(),
            accuracy: accuracy(&since),
            held_out_error: held_out.as_ref().map(Step::error),
            held_out_accuracy: held_out.as_ref().and_then(accuracy),
        };
        let rate = self.lesson.rate_at(self.recipe.budget.share(self.progress));
        LearningReport { rate: Rate::Rate(rate), fit: Some(fit), merges: None }
    }

    fn contests(&self) -> Vec<(Search, u64)> {
        self.recipe.evaluation.games.iter().map(|&games| (self.pupil.search(), games)).collect()
    }

    fn play(
        &self,
        _: Search,
        games: Games<'_>,
        watch: &mut dyn FnMut(&PlayOutcome) -> bool,
    ) -> Option<PlayOutcome> {
        self.pupil.play(games, self.recipe.parallel.thread_count(), watch)
    }
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
fn draw_some(shards: Vec<PathBuf>) -> Result<Vec<Record>, RunError> {
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
