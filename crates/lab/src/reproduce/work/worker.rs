//! One job: a training, then its evaluations.

use std::{
    fs,
    io::Write,
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::Sender,
    },
    time::Instant,
};

use afterstate_network::{
    Network,
    file::{atomic::write_atomically, safetensors::TensorFile},
};
use afterstate_search::PlayerSpec;

use super::{
    super::{Plan, ReproduceError, Training},
    Evaluation, Event, Job, Record, Trained, run_path,
};
use crate::{
    evaluate::{Contest, Games, KeptGames, KeptHeader, SEED, header_checksum},
    log::{JsonLines, LogLine},
    recipe::Recipe,
    run::{Directory, Observer, Run, RunError, Status},
    stats::GameResult,
};

/// What a lane tells: an event, nothing when it was stopped, or a failure.
pub(super) type Outcome = Result<Option<Event>, ReproduceError>;

/// One job in its lane.
pub(super) struct Worker<'a> {
    pub(super) plan: &'a Plan,
    pub(super) directory: &'a Path,
    pub(super) threads: usize,
    pub(super) job: Job,
    pub(super) stop: &'a AtomicBool,
    pub(super) events: Sender<(Job, Outcome)>,
}

impl Worker<'_> {
    /// Trains and evaluates; nothing when it was stopped.
    pub(super) fn work(&self) -> Outcome {
        let Some(record) = self.train()? else { return Ok(None) };
        let games = self.evaluate()?;
        Ok(games.map(|games| Event::Done(Trained { record, games })))
    }

    fn training(&self) -> &Training {
        &self.plan.trainings[self.job.training]
    }

    fn send(&self, event: Event) {
        // Nobody listens any more when another lane has failed.
        let _ = self.events.send((self.job, Ok(Some(event))));
    }

    fn train(&self) -> Result<Option<Record>, ReproduceError> {
        let place = Directory::new(run_path(self.plan, self.directory, self.job));
        let stored = Run::stored_recipe(&place, &[])?;
        let recipe = self.recipe(stored.as_ref());
        if stored.is_some_and(|stored| stored.budget != recipe.budget) {
            return Err(ReproduceError::OtherBudget(place.path().to_owned()));
        }
        let marker = place.path().join("trained.json");
        if let Some(record) = read_record(&marker)? {
            return Ok(Some(record));
        }
        let outcome = Run::resume(place.clone(), recipe)?.train(self.stop, &mut Watcher(self))?;
        if !outcome.finished {
            return Ok(None);
        }
        let lines = JsonLines::<LogLine>::read(&place.log())?;
        let highest = lines.iter().filter_map(|line| line.max_score).max();
        let progress = outcome.progress;
        let (actions, episodes, seconds) = (progress.actions, progress.episodes, progress.seconds);
        let record = Record { actions, episodes, seconds, highest };
        write_atomically(&marker, |file| {
            file.write_all(serde_json::to_string(&record).map_err(std::io::Error::from)?.as_bytes())
        })?;
        // A finished training does not go on, and large networks would fill the disk.
        let checkpoint = place.checkpoint();
        fs::remove_file(&checkpoint).map_err(ReproduceError::file(&checkpoint))?;
        Ok(Some(record))
    }

    /// The recipe of this job. Of a run that was interrupted the number of threads stays.
    fn recipe(&self, stored: Option<&Recipe>) -> Recipe {
        let training = self.training();
        let mut recipe = Recipe { seed: self.job.seed, ..training.recipe.clone() };
        recipe.parallel.threads = stored.map_or(self.threads, |stored| stored.parallel.threads);
        if let Some(after) = training.after {
            let first = Job { training: after, ..self.job };
            recipe.network.from = run_path(self.plan, self.directory, first).to_string_lossy().into_owned();
        }
        recipe
    }

    /// Plays the games that have not been played; nothing when it was stopped.
    fn evaluate(&self) -> Result<Option<Vec<Evaluation>>, ReproduceError> {
        let evaluations = &self.training().evaluations;
        let mut kept = Vec::new();
        for &(player, games) in evaluations {
            kept.push((player, games, self.kept(player)?));
        }
        let complete = |(_, games, kept): &(_, u64, KeptGames)| wanted(kept, *games).len() as u64 == *games;
        if !kept.iter().all(complete) {
            let place = Directory::new(run_path(self.plan, self.directory, self.job));
            let network = Network::load(&place.model())?;
            for (player, games, kept) in &mut kept {
                if !self.play(&network, *player, *games, kept)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(kept.iter().map(|(player, games, kept)| (*player, wanted(kept, *games))).collect()))
    }

    fn kept(&self, player: PlayerSpec) -> Result<KeptGames, ReproduceError> {
        let path = run_path(self.plan, self.directory, self.job);
        let model = Directory::new(&path).model();
        let checksum = header_checksum(&TensorFile::open(&model)?);
        let header = KeptHeader {
            model: self.training().name.clone(),
            checksum,
            search: player.to_string(),
            seed: SEED,
        };
        Ok(KeptGames::open(&path.join(format!("games-{player}.jsonl")), &header)?)
    }

    /// Plays with one search; `false` when it was stopped.
    fn play(
        &self,
        network: &Network,
        player: PlayerSpec,
        games: u64,
        kept: &mut KeptGames,
    ) -> Result<bool, ReproduceError> {
        let played = kept.played();
        let before = kept.seconds();
        let mut ended = wanted(kept, games).len() as u64;
        let (start, mut error) = (Instant::now(), None);
        let contest = Contest {
            network,
            player,
            games: Games { rules: self.training().recipe.game.rules(), seed: SEED, count: games },
            played: &played,
            threads: self.threads,
            collect: None,
        };
        let outcome = contest.play(|finished| {
            ended += finished.len() as u64;
            let seconds = before + start.elapsed().as_secs_f64();
            error = finished.iter().try_for_each(|result| kept.add(result, seconds)).err();
            self.send(Event::Playing(player, ended, games));
            error.is_none() && !self.stop.load(Relaxed)
        });
        error.map_or(Ok(outcome.is_some()), |error| Err(error.into()))
    }
}

/// The games that count, by number.
fn wanted(kept: &KeptGames, games: u64) -> Vec<GameResult> {
    let mut results: Vec<_> = kept.results().iter().filter(|result| result.game < games).copied().collect();
    results.sort_unstable_by_key(|result| result.game);
    results
}

fn read_record(path: &Path) -> Result<Option<Record>, ReproduceError> {
    match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        bytes => bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(std::io::Error::from))
            .map(Some)
            .map_err(ReproduceError::file(path)),
    }
}

/// Tells the world how a training goes.
struct Watcher<'a, 'b>(&'a Worker<'b>);

impl Observer for Watcher<'_, '_> {
    fn training(&mut self, status: &Status) {
        self.0.send(Event::Training(status.share));
    }

    fn warning(&mut self, error: &RunError) {
        self.0.send(Event::Warning(error.to_string()));
    }
}
