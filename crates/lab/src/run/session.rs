//! A run in progress: training, interrupted by evaluations and checkpoints.

use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use afterstate_learning::{Budget, Progress, Settings, Trainer};
use afterstate_network::file::atomic::write_atomically;

use super::{Observer, Outcome, Run, RunError, checkpoint, finished, recorder::Recorder};
use crate::{
    evaluate::{self, Games, evaluate},
    log::{EvalLine, JsonLines},
    stats::{EvalReport, Summary, Tally},
};

/// A run in progress.
struct Session<'a> {
    run: &'a Run,
    recorder: Recorder<'a>,
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
    /// When the last checkpoint was written.
    saved: Instant,
}

/// Trains until the budget is used up or `stop` is set, and saves.
pub(super) fn train(run: &Run, stop: &AtomicBool, observer: &mut dyn Observer) -> Result<Outcome, RunError> {
    if let Some(progress) = run.finished {
        finished::remove_checkpoint(&run.directory)?;
        let evaluation = JsonLines::<EvalLine>::read(&run.directory.evaluations())?.pop();
        return Ok(Outcome { finished: true, progress, evaluation });
    }
    let settings = Settings { positions: run.positions.clone(), ..run.recipe.settings() };
    let mut trainer = Trainer::new(&run.network, settings)?;
    let (mut logged, mut tally) = (Progress::default(), Tally::default());
    if run.resumed {
        let state = checkpoint::load(&run.directory.checkpoint(), &run.network, &mut trainer)?;
        (logged, tally) = (state.logged, state.tally);
        check_extension(run, &trainer)?;
    }
    let recorder = Recorder::open(&run.directory, &run.recipe, trainer.progress(), logged, tally)?;
    let recipe = run.recipe.to_toml()?;
    write_atomically(&run.directory.recipe(), |file| file.write_all(recipe.as_bytes()))?;
    Session { run, recorder, observer, stop, saved: Instant::now() }.train(trainer)
}

/// A trainer that has dealt out all its games has none to go on with.
fn check_extension(run: &Run, trainer: &Trainer<'_>) -> Result<(), RunError> {
    let Some(stored) = Run::stored_recipe(&run.directory, &[])? else { return Ok(()) };
    match stored.settings().budget {
        Budget::Episodes(games) if trainer.progress().episodes >= games && !trainer.is_done() => {
            Err(RunError::Extended(games))
        }
        _ => Ok(()),
    }
}

impl Session<'_> {
    fn train(mut self, mut trainer: Trainer<'_>) -> Result<Outcome, RunError> {
        while !trainer.is_done() && !self.stop.load(Relaxed) {
            trainer.run(|progress, finished| {
                self.recorder.note(progress, finished, self.observer);
                let interrupted = self.evaluation_due(progress) || self.checkpoint_due() || self.diverged();
                !interrupted && !self.stop.load(Relaxed)
            });
            if self.diverged() {
                return Err(RunError::Diverged(trainer.progress().actions));
            }
            if trainer.is_done() || self.stop.load(Relaxed) {
                break;
            }
            if self.evaluation_due(trainer.progress()) {
                self.evaluate(trainer.progress());
            }
            if self.checkpoint_due()
                && let Err(error) = self.save(&trainer)
            {
                self.observer.warning(&error);
            }
        }
        self.finish(trainer)
    }

    /// Saves, and evaluates what came out.
    fn finish(mut self, trainer: Trainer<'_>) -> Result<Outcome, RunError> {
        let (progress, finished) = (trainer.progress(), trainer.is_done());
        if finished {
            self.recorder.add_line(progress, self.observer);
        }
        if finished && !self.run.recipe.checkpoint.keep {
            self.save_last(progress)?;
        } else {
            self.save(&trainer)?;
        }
        let last = self.recorder.evaluation().map(|line| line.actions);
        if finished && self.run.recipe.evaluation.every > 0 && last != Some(progress.actions) {
            self.evaluate(progress);
        }
        self.recorder.draw(self.observer);
        Ok(Outcome { finished, progress, evaluation: self.recorder.evaluation().cloned() })
    }

    /// Whether a multiple of the interval lies between the last evaluation and now.
    fn evaluation_due(&self, progress: Progress) -> bool {
        let last = self.recorder.evaluation().map_or(0, |line| line.actions);
        let interval = |actions: u64| actions.checked_div(self.run.recipe.evaluation.every);
        interval(progress.actions) > interval(last)
    }

    fn evaluate(&mut self, progress: Progress) {
        let Run { recipe, network, directory, .. } = self.run;
        let count = recipe.evaluation.games;
        let games = Games { rules: recipe.game.rules(), seed: evaluate::SEED, count };
        let start = Instant::now();
        let mut ended = Tally::default();
        let results = evaluate(network, games, recipe.parallel.thread_count(), |finished| {
            ended.extend(finished.iter().copied());
            self.observer.evaluating(&ended, count);
            !self.stop.load(Relaxed)
        });
        if let Some(summary) = results.and_then(|results| Summary::of(recipe.game.side, &results)) {
            let model = directory.path().to_string_lossy();
            let report = EvalReport::new(&model, "1ply", games.seed, &summary, start.elapsed().as_secs_f64());
            let line = EvalLine { actions: progress.actions, episodes: progress.episodes, report };
            self.recorder.add_evaluation(line, self.observer);
        }
    }

    /// Whether the weights are no longer finite. The first one, that of empty cells, takes part in every game, and what is
    /// not finite spreads to it at once.
    fn diverged(&self) -> bool {
        self.run.network.table(0).next().is_some_and(|weight| !weight.is_finite())
    }

    fn checkpoint_due(&self) -> bool {
        self.saved.elapsed() >= Duration::from_secs_f64(self.run.recipe.checkpoint.every_seconds)
    }

    /// Writes the checkpoint and the model, each even when there was no room for the other. After a
    /// failure the next try is an interval away.
    fn save(&mut self, trainer: &Trainer<'_>) -> Result<(), RunError> {
        let Run { recipe, network, directory, .. } = self.run;
        self.observer.saving();
        let (logged, tally) = (self.recorder.logged, self.recorder.tally.clone());
        let state = checkpoint::State { trainer: trainer.state(), logged, tally };
        let checkpoint = checkpoint::save(&directory.checkpoint(), network, recipe, trainer, &state);
        let model = checkpoint::save_model(&directory.model(), network, recipe, trainer.progress());
        self.saved = Instant::now();
        checkpoint.and(model)
    }

    /// Writes the model of a finished run, which takes the place of its checkpoint.
    fn save_last(&mut self, progress: Progress) -> Result<(), RunError> {
        let Run { recipe, network, directory, .. } = self.run;
        self.observer.saving();
        checkpoint::save_model(&directory.model(), network, recipe, progress)?;
        finished::write(directory, progress)
    }
}
