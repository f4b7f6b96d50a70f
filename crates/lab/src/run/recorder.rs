//! What a run writes down as it goes: log, evaluations, curve.

use std::{
    collections::VecDeque,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use afterstate_learning::TrainingProgress;
use afterstate_network::file::atomic::write_atomically;
use serde_json::json;

use super::{
    Directory, Observer, RunError, Status,
    learner::{LearningReport, News},
};
use crate::{
    curve,
    log::{EvalLine, Header, Line, Log, LogError, LogLine, Repaired},
    recipe::{Log as LogEvery, Recipe},
    stats::{GameResult, Tally},
};

/// How often the observer is told of progress.
const REPORT: Duration = Duration::from_millis(100);

/// The games that the present strength is judged by.
const RECENT_GAMES: usize = 1000;

/// The time that the present speed is measured over.
const RECENT_SECONDS: f64 = 5.0;

/// The written record of a run.
pub(super) struct Recorder<'a> {
    directory: &'a Directory,
    recipe: &'a Recipe,
    log: Log<LogLine>,
    lines: Vec<LogLine>,
    eval: Log<EvalLine>,
    evaluations: Vec<EvalLine>,
    /// Where the last line of the log was written.
    pub(super) logged: TrainingProgress,
    /// The games since.
    pub(super) tally: Tally,
    games: VecDeque<GameResult>,
    /// Where training was at recent reports, the latest one last.
    reports: VecDeque<TrainingProgress>,
    reported: Instant,
}

impl<'a> Recorder<'a> {
    /// Goes on with the record of a run; what was written after `progress` is cut off. Also gives what was wrong with it.
    pub(super) fn open(
        directory: &'a Directory,
        recipe: &'a Recipe,
        progress: TrainingProgress,
        logged: TrainingProgress,
        tally: Tally,
    ) -> Result<(Self, Vec<Repaired>), RunError> {
        let actions = progress.actions;
        let (log, lines, log_repaired) =
            Log::resume(&directory.log(), &header::<LogLine>(recipe), |line: &LogLine| {
                line.actions <= logged.actions
            })?;
        let (eval, evaluations, eval_repaired) =
            Log::resume(&directory.evaluations(), &header::<EvalLine>(recipe), |line: &EvalLine| {
                line.actions <= actions
            })?;
        let repaired = log_repaired.into_iter().chain(eval_repaired).collect();
        let (games, reports) = (VecDeque::new(), VecDeque::from([progress]));
        let reported = Instant::now();
        let recorder = Recorder {
            directory,
            recipe,
            log,
            lines,
            eval,
            evaluations,
            logged,
            tally,
            games,
            reports,
            reported,
        };
        Ok((recorder, repaired))
    }

    /// Writes everything again, where nothing of it is left.
    pub(super) fn write_again(&mut self) -> Result<(), LogError> {
        fn again<T: Line>(path: &Path, recipe: &Recipe, lines: &[T]) -> Result<Log<T>, LogError> {
            let (mut log, ..) = Log::resume(path, &header::<T>(recipe), |_| true)?;
            lines.iter().try_for_each(|line| log.append(line)).map(|()| log)
        }
        self.log = again(&self.directory.log(), self.recipe, &self.lines)?;
        self.eval = again(&self.directory.evaluations(), self.recipe, &self.evaluations)?;
        Ok(())
    }

    /// Takes note of how training goes, and of the games that have ended.
    pub(super) fn note(&mut self, news: News<'_>, observer: &mut dyn Observer) {
        let News { progress, games, batch, report } = news;
        batch.inspect(|batch| observer.learned(progress, batch));
        for &game in games {
            self.tally.add(&game);
            if self.games.len() == RECENT_GAMES {
                self.games.pop_front();
            }
            self.games.push_back(game);
        }
        let due = match self.recipe.log {
            LogEvery::EverySeconds(seconds) => progress.seconds - self.logged.seconds >= seconds,
            LogEvery::EveryEpisodes(episodes) => {
                progress.episodes / episodes > self.logged.episodes / episodes
            }
            LogEvery::EveryActions(actions) => progress.actions / actions > self.logged.actions / actions,
        };
        if due {
            self.add_line(progress, report, observer);
        }
        if self.reported.elapsed() >= REPORT {
            self.report(progress, observer);
        }
    }

    /// Tells the observer how training goes.
    pub(super) fn report(&mut self, progress: TrainingProgress, observer: &mut dyn Observer) {
        self.reported = Instant::now();
        observer.training(&self.status(progress));
    }

    /// Adds a line to the log, unless there is nothing new.
    pub(super) fn add_line(
        &mut self,
        progress: TrainingProgress,
        report: &mut dyn FnMut() -> LearningReport,
        observer: &mut dyn Observer,
    ) {
        if progress.actions == self.logged.actions {
            return;
        }
        let share = self.share(progress);
        let LearningReport { rate, fit, merges } = report();
        let line = LogLine {
            merge_share: merges.map(|(share, _)| share),
            merge_bytes_per_second: merges.map(|(_, bytes)| bytes),
            actions: progress.actions,
            episodes: progress.episodes,
            seconds: progress.seconds,
            budget_share: share,
            moves_per_second: speed(self.logged, progress),
            mean_score: self.tally.mean_score(),
            max_score: self.tally.max_score(),
            tiles: self.tally.tile_rates(self.recipe.game.side),
            rate,
            fit,
        };
        (self.logged, self.tally) = (progress, Tally::default());
        match self.log.append(&line) {
            Ok(()) => observer.logged(&line),
            Err(error) => observer.warning(&error.into()),
        }
        self.lines.push(line);
    }

    /// Adds an evaluation, and draws the curve.
    pub(super) fn add_evaluation(&mut self, line: EvalLine, observer: &mut dyn Observer) {
        match self.eval.append(&line) {
            Ok(()) => observer.evaluated(&line),
            Err(error) => observer.warning(&error.into()),
        }
        self.evaluations.push(line);
        self.draw(observer);
    }

    /// All evaluations.
    pub(super) fn evaluations(&self) -> &[EvalLine] {
        &self.evaluations
    }

    /// Draws the curve.
    pub(super) fn draw(&self, observer: &mut dyn Observer) {
        let draw = || -> Result<(), RunError> {
            let svg = curve::svg(&self.recipe.name, &self.lines, &self.evaluations)?;
            write_atomically(&self.directory.curve(), |file| file.write_all(svg.as_bytes()))?;
            Ok(())
        };
        if let Err(error) = draw() {
            observer.warning(&error);
        }
    }

    fn share(&self, progress: TrainingProgress) -> f64 {
        self.recipe.budget.share(progress)
    }

    fn status(&mut self, progress: TrainingProgress) -> Status {
        self.reports.push_back(progress);
        let is_old = |report: &TrainingProgress| progress.seconds - report.seconds > RECENT_SECONDS;
        while self.reports.len() > 2 && is_old(&self.reports[0]) {
            self.reports.pop_front();
        }
        let before = self.reports[0];
        let share = self.share(progress);
        let gain = share - self.share(before);
        // Nothing is known before the first gain.
        let seconds_left = match gain {
            gain if gain > 0.0 => (1.0 - share) * (progress.seconds - before.seconds) / gain,
            _ => f64::INFINITY,
        };
        let mut recent = Tally::default();
        recent.extend(self.games.iter().copied());
        let tiles = recent.tile_rates(self.recipe.game.side);
        Status { progress, share, seconds_left, moves_per_second: speed(before, progress), recent, tiles }
    }
}

/// What the logs of a run belong to.
fn header<T: Line>(recipe: &Recipe) -> Header {
    Header::of::<T>(&json!({ "recipe": recipe.fingerprint(), "seed": recipe.seed }))
}

/// Moves in each second between two instants.
fn speed(before: TrainingProgress, now: TrainingProgress) -> f64 {
    (now.actions - before.actions) as f64 / (now.seconds - before.seconds).max(1e-9)
}
