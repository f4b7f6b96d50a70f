//! A run in progress: training, interrupted by evaluations and checkpoints.

use std::{
    fs::File,
    io::Write,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use afterstate_learning::{Budget, Trainer, TrainingProgress, TrainingSettings};
use afterstate_network::file::atomic::write_atomically;

use super::{
    Observer, Run, RunError, RunOutcome, checkpoint, finished, first_weights,
    recorder::Recorder,
    replicas::{Decision, Merger},
};
use afterstate_search::PlayerSpec;

use crate::{
    deal::Deck,
    evaluate::{self, Contest, Games},
    log::{EvalLine, Log, last_evaluations},
    stats::{EvalReport, Summary, Tally},
};

/// A run in progress.
struct RunSession<'a> {
    run: &'a Run,
    recorder: Recorder<'a>,
    /// Where there are several replicas.
    merger: Option<Merger>,
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
    let (positions, teacher) = (run.positions.clone(), run.teacher.clone());
    let settings = TrainingSettings { positions, teacher, ..run.recipe.settings() };
    let settings = run.merging.map_or(Ok(settings.clone()), |merging| merging.settings(settings))?;
    let mut trainer = Trainer::new(&run.network, settings)?;
    run.merging.inspect(|merging| merging.number(&mut trainer));
    let (mut logged, mut tally) = (TrainingProgress::default(), Tally::default());
    if run.resumed {
        let (state, damaged) = checkpoint::load(run, &mut trainer)?;
        damaged.into_iter().for_each(|error| observer.warning(&RunError::FellBack(error.into())));
        (logged, tally) = (state.logged, state.tally);
        check_extension(run, &trainer)?;
    } else {
        first_weights::continue_coherence(&run.recipe, &trainer, &run.network)?;
    }
    let merger = run.merging.map(|merging| Merger::new(merging, &trainer));
    let progress = of_all(&merger, trainer.progress());
    let (recorder, repaired) = Recorder::open(&run.directory, &run.recipe, progress, logged, tally)?;
    repaired.into_iter().for_each(|repaired| observer.warning(&repaired.into()));
    write_recipe(run)?;
    RunSession { run, recorder, merger, observer, stop, saved: Instant::now(), lock: None }.train(trainer)
}

/// How far all replicas have come.
fn of_all(merger: &Option<Merger>, progress: TrainingProgress) -> TrainingProgress {
    merger.as_ref().map_or(progress, |merger| merger.of_all(progress))
}

fn write_recipe(run: &Run) -> Result<(), RunError> {
    let recipe = run.recipe.to_toml()?;
    Ok(write_atomically(&run.directory.recipe(), |file| file.write_all(recipe.as_bytes()))?)
}

/// A trainer that has dealt out all its games has none to continue with.
fn check_extension(run: &Run, trainer: &Trainer<'_>) -> Result<(), RunError> {
    let Some(stored) = Run::stored_recipe(&run.directory, &[])? else { return Ok(()) };
    match stored.settings().budget {
        Budget::Episodes(games) if trainer.progress().episodes >= games && !trainer.is_done() => {
            Err(RunError::Extended(games))
        }
        _ => Ok(()),
    }
}

impl RunSession<'_> {
    fn train(mut self, mut trainer: Trainer<'_>) -> Result<RunOutcome, RunError> {
        let progress = of_all(&self.merger, trainer.progress());
        // A resumed run is shown where it was.
        self.recorder.report(progress, self.observer);
        // A run that was stopped between the searches of an evaluation has the rest of it still to do.
        if self.last_evaluation() == Some(progress.actions) {
            self.evaluate(progress);
        }
        loop {
            self.play(&mut trainer);
            if trainer.has_diverged() {
                return Err(checkpoint::diverged(&self.run.recipe, trainer.progress()));
            }
            let ends = trainer.is_done() || self.stop.load(Relaxed);
            if self.merger.is_none() && ends {
                let done = trainer.is_done();
                return self.finish(trainer, done);
            }
            let progress = of_all(&self.merger, trainer.progress());
            if progress.actions >= self.next_evaluation() && !ends {
                self.evaluate(progress);
            }
            match self.decide(&trainer) {
                Decision::GoOn => {}
                Decision::End { done } => return self.finish(trainer, done),
                Decision::Save => match self.save(&trainer) {
                    Err(error @ RunError::Diverged { .. }) => return Err(error),
                    Err(error) => self.observer.warning(&error),
                    Ok(()) => {}
                },
            }
        }
    }

    /// Plays until something else is to be done.
    fn play(&mut self, trainer: &mut Trainer<'_>) {
        if trainer.is_done() || self.stop.load(Relaxed) {
            return;
        }
        let next = self.next_evaluation();
        let halt = self.merger.as_ref().map_or(next, |merger| merger.own(next).min(merger.halt()));
        trainer.run_until(halt, |progress, finished| {
            let all = of_all(&self.merger, progress);
            self.recorder.note(all, finished, self.merger.as_mut(), self.observer);
            let is_due = match &self.merger {
                Some(merger) => merger.is_due(progress.actions),
                None => self.checkpoint_due(),
            };
            !is_due && !self.stop.load(Relaxed)
        });
    }

    /// Whether to save, or to end; with several replicas, what all of them say at a merge.
    fn decide(&mut self, trainer: &Trainer<'_>) -> Decision {
        let (stops, saves) = (self.stop.load(Relaxed), self.checkpoint_due());
        match &mut self.merger {
            None if saves => Decision::Save,
            None => Decision::GoOn,
            Some(merger) => {
                let is_over = stops || trainer.is_done();
                if !is_over && !merger.is_due(trainer.progress().actions) {
                    return Decision::GoOn;
                }
                let saves = saves && merger.is_first();
                merger.merge(trainer, stops, saves)
            }
        }
    }

    /// Saves, and evaluates what came out.
    fn finish(mut self, trainer: Trainer<'_>, finished: bool) -> Result<RunOutcome, RunError> {
        let progress = of_all(&self.merger, trainer.progress());
        self.recorder.report(progress, self.observer);
        if finished {
            self.recorder.add_line(progress, self.merger.as_mut(), self.observer);
        }
        if finished && !self.run.recipe.checkpoint.keep {
            self.save_last(progress)?;
        } else {
            self.save(&trainer)?;
        }
        if finished && self.run.recipe.evaluation.every > 0 {
            self.evaluate(progress);
        }
        self.recorder.draw(self.observer);
        let evaluations = last_evaluations(self.recorder.evaluations());
        Ok(RunOutcome { finished, progress, evaluations })
    }

    /// Whether this is the run itself, and not another replica.
    fn is_first(&self) -> bool {
        self.merger.as_ref().is_none_or(Merger::is_first)
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
    fn evaluate(&mut self, progress: TrainingProgress) {
        for (player, count) in self.run.recipe.evaluation.contests() {
            let search = player.to_string();
            let done = |line: &EvalLine| line.actions == progress.actions && line.report.search == search;
            if !self.recorder.evaluations().iter().any(done) && !self.stop.load(Relaxed) {
                self.evaluate_with(player, count, progress);
            }
        }
    }

    fn evaluate_with(&mut self, player: PlayerSpec, count: u64, progress: TrainingProgress) {
        let Run { recipe, network, directory, .. } = self.run;
        let games = Games { rules: recipe.game.rules(), seed: evaluate::SEED, dealer: &Deck::new(count) };
        let threads = recipe.parallel.thread_count();
        let contest = Contest { network, player, endgames: None, games, threads, collect: None };
        let start = Instant::now();
        let mut ended = Tally::default();
        let outcome = contest.play(|finished| {
            ended.extend(finished.results.iter().copied());
            self.observer.evaluating(&ended, count);
            !self.stop.load(Relaxed)
        });
        let summary = outcome.and_then(|outcome| Summary::of(recipe.game.side, &outcome.results));
        let Some(summary) = summary else { return };
        let (model, search) = (directory.path().to_string_lossy(), player.to_string());
        let report = EvalReport::new(&model, &search, games.seed, &summary, start.elapsed().as_secs_f64());
        let line = EvalLine { actions: progress.actions, episodes: progress.episodes, report };
        if recipe.checkpoint.best == Some(player) && self.is_best(&line) {
            self.observer.saving();
            let save = |()| checkpoint::save_model(&directory.best(), network, recipe, progress);
            if let Err(error) = self.make_again().and_then(save) {
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
        self.saved.elapsed() >= Duration::from_secs_f64(self.run.recipe.checkpoint.every_seconds)
    }

    /// Writes the checkpoint and the model, each even when there was no room for the other. After a
    /// failure the next try is an interval away.
    fn save(&mut self, trainer: &Trainer<'_>) -> Result<(), RunError> {
        let Run { recipe, network, directory, .. } = self.run;
        self.saved = Instant::now();
        let replicas = self.merger.as_ref().map(|merger| merger.other_states(trainer)).unwrap_or_default();
        if !self.is_first() {
            return Ok(());
        }
        self.observer.saving();
        self.make_again()?;
        let (logged, tally) = (self.recorder.logged, self.recorder.tally.clone());
        let progress = of_all(&self.merger, trainer.progress());
        let state = checkpoint::State { trainer: trainer.state(), replicas, logged, tally };
        let checkpoint = checkpoint::save(directory, network, recipe, trainer, progress, &state);
        let model = checkpoint::save_model(&directory.model(), network, recipe, progress);
        self.saved = Instant::now();
        checkpoint.and(model)
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
        let Run { recipe, network, directory, .. } = self.run;
        if !self.is_first() {
            return Ok(());
        }
        self.observer.saving();
        self.make_again()?;
        checkpoint::save_model(&directory.model(), network, recipe, progress)?;
        finished::write(directory, progress)
    }
}
