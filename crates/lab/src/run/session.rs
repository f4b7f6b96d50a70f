//! A run in progress: training, interrupted by evaluations and checkpoints.

use std::{
    fs::File,
    io::Write,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use afterstate_dcnn::Device;
use afterstate_learning::TrainingProgress;
use afterstate_network::file::atomic::write_atomically;

use super::{
    Material, Observer, Run, RunError, RunOutcome, checkpoint, finished, learner::Learner,
    recorder::Recorder, replicas::Decision, self_play::SelfPlay,
};
use crate::{
    dcnn::ByRecords,
    deal::Deck,
    evaluate::{self, Games},
    log::{EvalLine, Log, last_evaluations},
    model::Search,
    stats::{EvalReport, Summary, Tally},
};

/// A run in progress.
struct RunSession<'a> {
    run: &'a Run,
    learner: Box<dyn Learner + 'a>,
    recorder: Recorder<'a>,
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
    /// When the last checkpoint was written.
    saved: Instant,
    /// The lock on a directory that had to be made again.
    lock: Option<File>,
}

/// Trains until the budget is used up or `stop` is set, and saves.
pub(super) fn train(
    run: &Run,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<RunOutcome, RunError> {
    if let Some(progress) = run.finished {
        finished::remove_checkpoints(&run.directory)?;
        let evaluations = last_evaluations(&Log::read(&run.directory.evaluations())?);
        return Ok(RunOutcome { finished: true, progress, evaluations });
    }
    train_from(run, stop, observer).inspect_err(|_| run.directory.remove_if_empty())
}

fn train_from(run: &Run, stop: &AtomicBool, observer: &mut dyn Observer) -> Result<RunOutcome, RunError> {
    let mut learner: Box<dyn Learner> = match &run.material {
        Material::Records(_) if run.merging.is_some() => {
            return Err(RunError::Replicas("self-play, not records"));
        }
        Material::Records(lesson) => Box::new(ByRecords::new(&run.recipe, lesson, run.device)?),
        Material::SelfPlay(_) if run.device != Device::Cpu => return Err(RunError::CpuOnly),
        Material::SelfPlay(beginning) => Box::new(SelfPlay::new(run, beginning)?),
    };
    let (mut logged, mut tally) = (TrainingProgress::default(), Tally::default());
    if run.resumed {
        let (found, damaged) = checkpoint::load(&run.origin, &mut *learner)?;
        damaged.into_iter().for_each(|error| observer.warning(&RunError::FellBack(error.into())));
        (logged, tally) = found;
    }
    let (recorder, repaired) =
        Recorder::open(&run.directory, &run.recipe, learner.progress(), logged, tally)?;
    repaired.into_iter().for_each(|repaired| observer.warning(&repaired.into()));
    write_recipe(run)?;
    RunSession { run, learner, recorder, observer, stop, saved: Instant::now(), lock: None }.train()
}

fn write_recipe(run: &Run) -> Result<(), RunError> {
    let recipe = run.recipe.to_toml()?;
    Ok(write_atomically(&run.directory.recipe(), |file| file.write_all(recipe.as_bytes()))?)
}

impl RunSession<'_> {
    fn train(mut self) -> Result<RunOutcome, RunError> {
        let progress = self.learner.progress();
        // A resumed run is shown where it was.
        self.recorder.report(progress, self.observer);
        // A run that was stopped between the searches of an evaluation has the rest of it still to do.
        if self.last_evaluation() == Some(progress.actions) {
            self.evaluate();
        }
        loop {
            self.learn()?;
            let done = self.learner.is_done();
            let ends = done || self.stop.load(Relaxed);
            if ends && !self.learner.is_replica() {
                return self.finish(done);
            }
            if self.learner.progress().actions >= self.next_evaluation() && !ends {
                self.evaluate();
            }
            match self.learner.decide(self.stop.load(Relaxed), self.checkpoint_due()) {
                Decision::GoOn => {}
                Decision::End { done } => return self.finish(done),
                Decision::Save => match self.save() {
                    Err(error @ RunError::Diverged { .. }) => return Err(error),
                    Err(error) => self.observer.warning(&error),
                    Ok(()) => {}
                },
            }
        }
    }

    /// Learns until something else is to be done.
    fn learn(&mut self) -> Result<(), RunError> {
        if self.learner.is_done() || self.stop.load(Relaxed) {
            return Ok(());
        }
        let (next, is_replica) = (self.next_evaluation(), self.learner.is_replica());
        let RunSession { run, learner, recorder, observer, stop, saved, .. } = self;
        learner.learn(next, &mut |news| {
            recorder.note(news, *observer);
            !stop.load(Relaxed) && (is_replica || !checkpoint_due(run, *saved))
        })
    }

    /// Saves, and evaluates what came out.
    fn finish(mut self, finished: bool) -> Result<RunOutcome, RunError> {
        let progress = self.learner.progress();
        self.recorder.report(progress, self.observer);
        if finished {
            self.recorder.add_line(progress, &mut || self.learner.report(), self.observer);
        }
        if finished && !self.run.recipe.checkpoint.keep {
            self.save_last(progress)?;
        } else {
            self.save()?;
        }
        if finished && self.run.recipe.evaluation.every > 0 {
            self.evaluate();
        }
        self.recorder.draw(self.observer);
        let evaluations = last_evaluations(self.recorder.evaluations());
        Ok(RunOutcome { finished, progress, evaluations })
    }

    /// The actions after which the next evaluation is due: a multiple of the interval.
    fn next_evaluation(&self) -> u64 {
        let passed = self.last_evaluation().unwrap_or(0).checked_div(self.run.recipe.evaluation.every);
        passed.map_or(u64::MAX, |passed| (passed + 1).saturating_mul(self.run.recipe.evaluation.every))
    }

    /// The actions before the last evaluation.
    fn last_evaluation(&self) -> Option<u64> {
        self.recorder.evaluations().last().map(|line| line.actions)
    }

    /// Evaluates the network with every search that it has not been evaluated with at this point.
    fn evaluate(&mut self) {
        let progress = self.learner.progress();
        for (search, count) in self.learner.contests() {
            let name = search.to_string();
            let done = |line: &EvalLine| line.actions == progress.actions && line.report.search == name;
            if !self.recorder.evaluations().iter().any(done) && !self.stop.load(Relaxed) {
                self.evaluate_with(search, count, progress);
            }
        }
    }

    fn evaluate_with(&mut self, search: Search, count: u64, progress: TrainingProgress) {
        let Run { recipe, directory, .. } = self.run;
        let games = Games { rules: recipe.game.rules(), seed: evaluate::SEED, dealer: &Deck::new(count) };
        let start = Instant::now();
        let mut ended = Tally::default();
        let outcome = self.learner.play(search, games, &mut |finished| {
            ended.extend(finished.results.iter().copied());
            self.observer.evaluating(&ended, count);
            !self.stop.load(Relaxed)
        });
        let summary = outcome.and_then(|outcome| Summary::of(recipe.game.side, &outcome.results));
        let Some(summary) = summary else { return };
        let (model, name) = (directory.path().to_string_lossy(), search.to_string());
        let report = EvalReport::new(&model, &name, games.seed, &summary, start.elapsed().as_secs_f64());
        let line = EvalLine { actions: progress.actions, episodes: progress.episodes, report };
        if recipe.checkpoint.best.map(Search::Player) == Some(search) && self.is_best(&line) {
            self.observer.saving();
            if let Err(error) = self.make_again().and_then(|()| self.save_model(&directory.best())) {
                self.observer.warning(&error);
            }
        }
        self.recorder.add_evaluation(line, self.observer);
    }

    /// Whether no evaluation so far with the same search has a higher mean score.
    fn is_best(&self, line: &EvalLine) -> bool {
        let same = |other: &&EvalLine| other.report.search == line.report.search;
        let mut others = self.recorder.evaluations().iter().filter(same);
        others.all(|other| other.report.score.mean < line.report.score.mean)
    }

    fn checkpoint_due(&self) -> bool {
        checkpoint_due(self.run, self.saved)
    }

    /// Writes the checkpoint and the model, each even when there was no room for the other. After a
    /// failure the next try is an interval away.
    fn save(&mut self) -> Result<(), RunError> {
        let Run { recipe, directory, .. } = self.run;
        self.saved = Instant::now();
        let state = self.learner.state(self.recorder.logged, &self.recorder.tally);
        if !self.learner.is_first() {
            return Ok(());
        }
        self.observer.saving();
        self.make_again()?;
        let state = state.map_err(|error| checkpoint::unusable(&directory.checkpoint(), error))?;
        let checkpoint = checkpoint::save(directory, &*self.learner, recipe, state);
        let model = self.save_model(&directory.model());
        self.saved = Instant::now();
        checkpoint.and(model)
    }

    fn save_model(&self, path: &Path) -> Result<(), RunError> {
        checkpoint::save_model(path, &*self.learner, &self.run.recipe)
    }

    /// Makes the directory again, with all that the run knows, if it has been removed. Where another run has begun there, it
    /// is left alone.
    fn make_again(&mut self) -> Result<(), RunError> {
        let Run { directory, lock, .. } = self.run;
        if directory.is_locked_by(self.lock.as_ref().unwrap_or(lock)) {
            return Ok(());
        }
        let lock = directory.lock()?;
        if directory.is_taken() {
            return Err(RunError::Exists(directory.path().to_owned()));
        }
        self.lock = Some(lock);
        write_recipe(self.run)?;
        self.recorder.write_again()?;
        self.observer.warning(&RunError::MadeAgain(directory.path().to_owned()));
        Ok(())
    }

    /// Writes the model of a finished run, which takes the place of its checkpoint.
    fn save_last(&mut self, progress: TrainingProgress) -> Result<(), RunError> {
        let directory = &self.run.directory;
        if !self.learner.is_first() {
            return Ok(());
        }
        self.observer.saving();
        self.make_again()?;
        self.save_model(&directory.model())?;
        finished::write(directory, progress)
    }
}

fn checkpoint_due(run: &Run, saved: Instant) -> bool {
    saved.elapsed() >= Duration::from_secs_f64(run.recipe.checkpoint.every_seconds)
}
