//! One job: a training, then its evaluations.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::Sender,
    },
    time::Instant,
};

use afterstate_dcnn::{Dcnn, DcnnPlayer, Play, Work};
use afterstate_network::{
    Network,
    file::{atomic::write_atomically, safetensors::TensorFile},
};
use afterstate_search::{Limit, PlayerSpec};

use super::{
    super::{
        ReproduceError, TablePlan,
        training::{Entrant, Training},
    },
    Evaluation, Event, Job, Record, Trained,
    lesson::batches,
    run_path,
};
use afterstate_lab::{
    deal::{Deck, Part},
    evaluate::{
        Contest, Games, KeptGames, KeptHeader, PlayOutcome as Played, SEED, evaluate_players, header_checksum,
    },
    log::{Log, LogLine},
    recipe::{Recipe, Taught},
    run::{Directory, Observer, Run, RunError, Status},
    stats::GameResult,
};

/// The report of a lane: an event, `None` if it was stopped, or an error.
pub(super) type WorkOutcome = Result<Option<Event>, ReproduceError>;

/// A job in its lane.
pub(super) struct Worker<'a> {
    pub(super) plan: &'a TablePlan,
    pub(super) directory: &'a Path,
    pub(super) threads: usize,
    /// Whether no other job runs at the same time.
    pub(super) alone: bool,
    pub(super) job: Job,
    pub(super) stop: &'a AtomicBool,
    pub(super) events: Sender<(Job, WorkOutcome)>,
}

impl Worker<'_> {
    /// Trains and evaluates; `None` if stopped.
    pub(super) fn work(&self) -> WorkOutcome {
        let Some(record) = self.train()? else { return Ok(None) };
        let batches = Log::read(&batches(&self.place()))?;
        let games = self.evaluate()?;
        Ok(games.map(|games| Event::Done(Trained { record, batches, games })))
    }

    pub(super) fn training(&self) -> &Training {
        &self.plan.trainings[self.job.training]
    }

    /// The directory of the job.
    pub(super) fn place(&self) -> Directory {
        Directory::new(run_path(self.plan, self.directory, self.job))
    }

    pub(super) fn send(&self, event: Event) {
        // The receiver is gone if another lane has failed.
        let _ = self.events.send((self.job, Ok(Some(event))));
    }

    fn train(&self) -> Result<Option<Record>, ReproduceError> {
        let place = self.place();
        let stored = Run::stored_recipe(&place, &[])?;
        let recipe = self.recipe(stored.as_ref());
        stored.map_or(Ok(()), |stored| check(&place, stored, &recipe))?;
        if let Some(record) = finished(&place)? {
            return Ok(Some(record));
        }
        let outcome = match &recipe.lesson {
            Some(lesson) => self.teach(&place, &recipe, lesson)?,
            None => Run::resume(place.clone(), recipe)?.train(self.stop, &mut Watcher(self))?,
        };
        if !outcome.finished {
            return Ok(None);
        }
        let lines = Log::<LogLine>::read(&place.log())?;
        let highest = lines.iter().filter_map(|line| line.max_score).max();
        let progress = outcome.progress;
        let (actions, episodes, seconds) = (progress.actions, progress.episodes, progress.seconds);
        let record = Record { actions, episodes, seconds, highest, alone: self.alone };
        finish(&place, record).map(Some)
    }

    /// The recipe of this job. An interrupted run keeps its number of threads. A finished training is not continued, and
    /// the checkpoints of large networks would fill the disk.
    fn recipe(&self, stored: Option<&Recipe>) -> Recipe {
        let mut recipe = Recipe { seed: self.job.seed, ..self.training().recipe.clone() };
        recipe.parallel.threads = match stored {
            Some(stored) if recipe.lesson.is_none() => stored.parallel.threads,
            _ => self.threads,
        };
        recipe.checkpoint.keep = false;
        if let Some(after) = self.training().after {
            let first = Job { training: after, ..self.job };
            recipe.network.from = run_path(self.plan, self.directory, first).to_string_lossy().into_owned();
        }
        recipe
    }

    /// Plays the missing games; `None` if stopped.
    fn evaluate(&self) -> Result<Option<Vec<Evaluation>>, ReproduceError> {
        let mut evaluations = Vec::new();
        // One network serves all searches.
        let mut network = None;
        for &(entrant, games) in &self.training().evaluations {
            let mut kept = self.kept(entrant)?;
            if wanted(&kept, games).len() as u64 != games {
                let whole = match self.player(entrant) {
                    Some(player) => {
                        let network = match &mut network {
                            Some(network) => network,
                            None => network.insert(Network::load(&self.place().model())?),
                        };
                        self.play(entrant, games, &mut kept, |games, watch| {
                            let threads = self.threads;
                            Contest { network, player, endgames: None, games, threads, collect: None }
                                .play(watch)
                        })?
                    }
                    None => {
                        let (net, voting) =
                            (Dcnn::load(&self.model(entrant))?, matches!(entrant, Entrant::Voting(_)));
                        let play = if voting { Play::MajorityVote } else { Play::Plain };
                        let work = Work::on(self.plan.options.device).map_err(RunError::from)?;
                        let player = || DcnnPlayer::new(&net, play).with(work.clone());
                        self.play(entrant, games, &mut kept, |games, watch| {
                            evaluate_players(games, self.threads, player, watch)
                        })?
                    }
                };
                if !whole {
                    return Ok(None);
                }
            }
            evaluations.push((entrant, wanted(&kept, games)));
        }
        Ok(Some(evaluations))
    }

    /// How a tuple network plays; `None` for a convolutional network.
    fn player(&self, entrant: Entrant) -> Option<PlayerSpec> {
        let lesson = self.training().recipe.lesson.as_ref();
        match entrant {
            Entrant::Searching(player) => Some(player),
            Entrant::Valuing if lesson.is_some_and(|lesson| matches!(lesson.network, Taught::Tuples(_))) => {
                Some(PlayerSpec::new(Limit::Plies(1)))
            }
            _ => None,
        }
    }

    /// The model file of a player: that of the run, or a point of its course.
    pub(super) fn model(&self, entrant: Entrant) -> PathBuf {
        match (entrant, self.training().records()) {
            (Entrant::Voting(records), Some(all)) if records < all => {
                self.place().path().join(format!("model-{records}.safetensors"))
            }
            _ => self.place().model(),
        }
    }

    fn kept(&self, entrant: Entrant) -> Result<KeptGames, ReproduceError> {
        let checksum = header_checksum(&TensorFile::open(&self.model(entrant))?);
        let (model, search) = (self.training().name.clone(), entrant.search());
        let header = KeptHeader { model, checksum, search, seed: SEED, collect: None, share: None };
        // Damaged games are kept aside and played again.
        let (kept, _) =
            KeptGames::open(&self.place().path().join(format!("games-{entrant}.jsonl")), &header)?;
        Ok(kept)
    }

    /// Plays what is missing; returns `false` if stopped.
    fn play(
        &self,
        entrant: Entrant,
        count: u64,
        kept: &mut KeptGames,
        play: impl FnOnce(Games<'_>, &mut dyn FnMut(&Played) -> bool) -> Option<Played>,
    ) -> Result<bool, ReproduceError> {
        let (deck, before) = (Deck::part(Part::WHOLE, count, kept.played()), kept.seconds());
        let mut ended = wanted(kept, count).len() as u64;
        let (start, mut error) = (Instant::now(), None);
        let rules = self.training().recipe.game.rules();
        let outcome = play(Games { rules, seed: SEED, dealer: &deck }, &mut |finished| {
            ended += finished.results.len() as u64;
            let seconds = before + start.elapsed().as_secs_f64();
            if error.is_none() {
                error = kept.add(finished, seconds).err();
            }
            self.send(Event::Playing(entrant, ended, count));
            error.is_none() && !self.stop.load(Relaxed)
        });
        error.map_or(Ok(outcome.is_some()), |error| Err(error.into()))
    }
}

/// Rejects a directory that holds another training.
fn check(place: &Directory, stored: Recipe, recipe: &Recipe) -> Result<(), ReproduceError> {
    if stored.budget != recipe.budget {
        return Err(ReproduceError::OtherBudget(place.path().to_owned()));
    }
    match (stored.lesson, &recipe.lesson) {
        (Some(stored), Some(lesson)) if stored.records != lesson.records => {
            Err(ReproduceError::OtherRecords { path: place.path().to_owned(), found: stored.records })
        }
        _ => Ok(()),
    }
}

/// The relevant games, by number.
fn wanted(kept: &KeptGames, games: u64) -> Vec<GameResult> {
    let mut results: Vec<_> = kept.results().iter().filter(|result| result.game < games).copied().collect();
    results.sort_unstable_by_key(|result| result.game);
    results
}

/// The record of a run's training, if it is finished.
pub(super) fn finished(place: &Directory) -> Result<Option<Record>, ReproduceError> {
    let path = marker(place);
    match fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        bytes => bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(std::io::Error::from))
            .map(Some)
            .map_err(ReproduceError::file(&path)),
    }
}

/// Marks the training of a run as finished.
pub(super) fn finish(place: &Directory, record: Record) -> Result<Record, ReproduceError> {
    write_atomically(&marker(place), |file| {
        file.write_all(serde_json::to_string(&record).map_err(std::io::Error::from)?.as_bytes())
    })?;
    Ok(record)
}

fn marker(place: &Directory) -> PathBuf {
    place.path().join("trained.json")
}

/// Reports the progress of a training.
struct Watcher<'a, 'b>(&'a Worker<'b>);

impl Observer for Watcher<'_, '_> {
    fn training(&mut self, status: &Status) {
        self.0.send(Event::Training(status.share));
    }

    fn warning(&mut self, error: &RunError) {
        self.0.send(Event::Warning(error.to_string()));
    }
}
