//! The trainer: actors on several threads, sharing the tables without locks.
//!
//! Lock-free optimistic parallelism (jaskowski-2016, V.A.3): the threads read and write the same
//! weights; two of them rarely touch one weight at the same time, and when they do, one small step
//! is lost. In each thread a few games take turns, move by move, so that the memory accesses of one
//! are under way while the others compute.
//!
//! With one thread training is a function of the settings and the seed, bit for bit.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use afterstate_game::Rules;
use afterstate_network::{Finished, Isa, Kernel, Level, MemoryError, Network, dispatch};
use serde::{Deserialize, Serialize};

use crate::{
    ActorState, Learner, StepSizeSpec, TargetSpec,
    actor::{Actor, Numbers},
    step_size::{Fixed, StepSize, TemporalCoherence},
    target::Target,
};

/// Games that are played together in one thread.
const ACTORS_PER_THREAD: usize = 4;

/// Moves between two looks at the budget and the stop sign: some milliseconds.
const CHUNK: u64 = 1 << 15;

/// When training ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Budget {
    /// After this many moves in all.
    Actions(u64),
    /// After this many games in all.
    Episodes(u64),
    /// After this many seconds of training.
    Seconds(f64),
}

/// How threads share the weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parallel {
    /// All threads read and write the same tables (jaskowski-2016, V.A.3).
    LockFree,
    /// As lock-free, but every thread has its own copy of the weights that all of them would write
    /// all the time, merged at short intervals.
    PrivateHot,
}

/// How to learn.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The rules of the game.
    pub rules: Rules,
    /// The seed of all games.
    pub seed: u64,
    /// Which afterstates move towards what.
    pub target: TargetSpec,
    /// How far a weight goes.
    pub step_size: StepSizeSpec,
    /// From a share of the budget on, the rate is multiplied by a factor: (share, factor), ascending.
    pub schedule: Vec<(f64, f32)>,
    /// The number of threads, at least 1.
    pub threads: usize,
    /// How they share the weights; of no consequence for one thread.
    pub parallel: Parallel,
    /// When to stop.
    pub budget: Budget,
}

/// How far training has come.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Moves made.
    pub actions: u64,
    /// Games finished.
    pub episodes: u64,
    /// Seconds of training, without evaluation and checkpoints.
    pub seconds: f64,
}

/// Everything but the weights that training needs to go on where it was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrainerState {
    /// How far it has come.
    pub progress: Progress,
    next_game: u64,
    threads: Vec<ThreadState>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ThreadState {
    actors: Vec<ActorState>,
}

/// Why a trainer could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
    /// No memory for the learning state.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A checkpoint that does not fit the settings.
    #[error("the checkpoint does not fit: {0}")]
    State(&'static str),
}

/// A network in training.
pub struct Trainer<'a> {
    network: &'a Network,
    settings: Settings,
    session: Box<dyn Session + 'a>,
    next_game: AtomicU64,
    progress: Progress,
    level: Level,
}

impl<'a> Trainer<'a> {
    /// Prepares to train a network from its weights as they are.
    ///
    /// # Errors
    /// When there is no memory for the learning state.
    pub fn new(network: &'a Network, settings: Settings) -> Result<Self, TrainerError> {
        let session = session(network, &settings)?;
        let mut trainer = Trainer {
            network,
            settings,
            session,
            next_game: AtomicU64::new(0),
            progress: Progress::default(),
        };
        trainer.session.start(&trainer.settings, &trainer.next_game);
        Ok(trainer)
    }

    /// Goes on where [`Self::state`] was taken. The weights and the learning state are the caller's
    /// to restore.
    ///
    /// # Errors
    /// When the state does not fit the settings.
    pub fn restore(&mut self, state: &TrainerState) -> Result<(), TrainerError> {
        if state.threads.len() != self.settings.threads {
            return Err(TrainerError::State("it was made with another number of threads"));
        }
        self.session.restore(&state.threads).ok_or(TrainerError::State("its games are damaged"))?;
        self.next_game = AtomicU64::new(state.next_game);
        self.progress = state.progress;
        Ok(())
    }

    /// Everything but the weights and the learning state that is needed to go on.
    pub fn state(&self) -> TrainerState {
        let next_game = self.next_game.load(Relaxed);
        TrainerState { progress: self.progress, next_game, threads: self.session.states() }
    }

    /// Uses another instruction set than the best one: the results are the same.
    pub fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// How far training has come.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// E and A, when the step size is temporal coherence.
    pub fn temporal_coherence(&self) -> Option<&TemporalCoherence> {
        self.session.temporal_coherence()
    }

    /// The learning rate in force, before the division by the number of active features.
    pub fn rate(&self) -> f32 {
        self.settings.rate(self.settings.share(self.progress, self.next_game.load(Relaxed)))
    }

    /// Whether the budget is used up.
    pub fn is_done(&self) -> bool {
        match self.settings.budget {
            Budget::Actions(actions) => self.progress.actions >= actions,
            Budget::Episodes(episodes) => self.progress.episodes >= episodes,
            Budget::Seconds(seconds) => self.progress.seconds >= seconds,
        }
    }

    /// Trains until the budget is used up or `watch` says to stop. `watch` is called some times a
    /// second with the progress and the games finished since; when it returns `false`, the threads
    /// come to a halt between two moves, and training can go on with another call.
    pub fn run(&mut self, mut watch: impl FnMut(Progress, &[Finished]) -> bool) {
        let (start, before) = (Instant::now(), self.progress);
        let stop = AtomicBool::new(false);
        let shared = Shared {
            network: self.network,
            settings: &self.settings,
            next_game: &self.next_game,
            actions: AtomicU64::new(before.actions),
            start,
            seconds_before: before.seconds,
            stop: &stop,
            level: self.level,
        };
        let progress = &mut self.progress;
        let mut report = |news: News| {
            progress.actions += news.actions;
            progress.episodes += news.finished.len() as u64;
            progress.seconds = before.seconds + start.elapsed().as_secs_f64();
            if !watch(*progress, &news.finished) {
                stop.store(true, Relaxed);
            }
        };
        self.session.run(&shared, &mut report);
    }
}

impl Settings {
    /// The share of the budget that is used up.
    fn share(&self, progress: Progress, next_game: u64) -> f64 {
        match self.budget {
            Budget::Actions(actions) => progress.actions as f64 / actions as f64,
            Budget::Episodes(episodes) => next_game as f64 / episodes as f64,
            Budget::Seconds(seconds) => progress.seconds / seconds,
        }
    }

    /// α or β at a share of the budget.
    fn rate(&self, share: f64) -> f32 {
        let step = self.schedule.iter().rev().find(|(from, _)| share >= *from);
        self.step_size.rate() * step.map_or(1.0, |(_, factor)| *factor)
    }
}

/// What the threads of a run share.
struct Shared<'a> {
    network: &'a Network,
    settings: &'a Settings,
    next_game: &'a AtomicU64,
    /// The moves that have been made or are being made.
    actions: AtomicU64,
    start: Instant,
    seconds_before: f64,
    stop: &'a AtomicBool,
    level: Level,
}

impl Shared<'_> {
    /// The next moves to make, and the rate to learn at; `None` when it is time to halt.
    fn next_chunk(&self) -> Option<(u64, f32)> {
        if self.stop.load(Relaxed) {
            return None;
        }
        let seconds = self.seconds_before + self.start.elapsed().as_secs_f64();
        let actions = match self.settings.budget {
            Budget::Actions(budget) => {
                let take = |done: u64| (done < budget).then(|| (done + CHUNK).min(budget));
                let before = self.actions.fetch_update(Relaxed, Relaxed, take).ok()?;
                return Some((CHUNK.min(budget - before), self.rate(before, seconds)));
            }
            Budget::Seconds(budget) if seconds >= budget => return None,
            Budget::Seconds(_) | Budget::Episodes(_) => CHUNK,
        };
        Some((actions, self.rate(self.actions.load(Relaxed), seconds)))
    }

    /// The learning rate over the number of active features.
    fn rate(&self, actions: u64, seconds: f64) -> f32 {
        let progress = Progress { actions, seconds, ..Progress::default() };
        let share = self.settings.share(progress, self.next_game.load(Relaxed));
        self.settings.rate(share) / self.network.spec().active_features() as f32
    }
}

/// Numbers for new games, as long as the budget has episodes.
struct Numbered<'a> {
    next_game: &'a AtomicU64,
    limit: u64,
}

impl<'a> Numbered<'a> {
    fn new(next_game: &'a AtomicU64, budget: Budget) -> Self {
        let limit = if let Budget::Episodes(episodes) = budget { episodes } else { u64::MAX };
        Numbered { next_game, limit }
    }
}

impl Numbers for Numbered<'_> {
    fn next(&mut self) -> Option<u64> {
        let below_limit = |game: u64| (game < self.limit).then_some(game + 1);
        self.next_game.fetch_update(Relaxed, Relaxed, below_limit).ok()
    }
}

/// What a thread has done since it last told.
struct News {
    actions: u64,
    finished: Vec<Finished>,
}

/// A trainer's threads, with the types of board, target and step size hidden.
trait Session {
    fn start(&mut self, settings: &Settings, next_game: &AtomicU64);
    fn run(&mut self, shared: &Shared<'_>, report: &mut dyn FnMut(News));
    fn states(&self) -> Vec<ThreadState>;
    fn restore(&mut self, threads: &[ThreadState]) -> Option<()>;
    fn temporal_coherence(&self) -> Option<&TemporalCoherence>;
}

/// Resolves the settings to types, once.
fn session<'a>(network: &'a Network, settings: &Settings) -> Result<Box<dyn Session + 'a>, TrainerError> {
    match network.spec().side {
        4 => with_side::<4>(network, settings),
        3 => with_side::<3>(network, settings),
        _ => with_side::<2>(network, settings),
    }
}

fn with_side<'a, const N: usize>(
    network: &'a Network,
    settings: &Settings,
) -> Result<Box<dyn Session + 'a>, TrainerError> {
    match settings.target {
        TargetSpec::TdLambda(target) => with_target::<N, _>(network, settings, target),
        TargetSpec::DelayedTdLambda(target) => with_target::<N, _>(network, settings, target),
        TargetSpec::NStep(target) => with_target::<N, _>(network, settings, target),
        TargetSpec::Backward(target) => with_target::<N, _>(network, settings, target),
    }
}

fn with_target<'a, const N: usize, T: Target + 'a>(
    network: &'a Network,
    settings: &Settings,
    target: T,
) -> Result<Box<dyn Session + 'a>, TrainerError> {
    Ok(match settings.step_size {
        StepSizeSpec::Fixed { .. } => {
            Box::new(Typed::<N, T, Fixed> { network, target, step_size: Fixed, threads: vec![] })
        }
        StepSizeSpec::TemporalCoherence { .. } => {
            let step_size = TemporalCoherence::new(network.layout().len())?;
            Box::new(Typed::<N, T, TemporalCoherence> { network, target, step_size, threads: vec![] })
        }
    })
}

/// A session with its types.
struct Typed<'a, const N: usize, T, S> {
    network: &'a Network,
    target: T,
    step_size: S,
    threads: Vec<Thread<N>>,
}

/// The games of one thread.
struct Thread<const N: usize> {
    /// Those that are being played come first.
    actors: Vec<Actor<N>>,
}

impl<const N: usize, T: Target, S: StepSize> Session for Typed<'_, N, T, S> {
    fn start(&mut self, settings: &Settings, next_game: &AtomicU64) {
        let mut numbers = Numbered::new(next_game, settings.budget);
        let mut actor =
            |_| Actor::new(self.network, &settings.rules, self.target, settings.seed, numbers.next());
        let mut thread = |_| Thread { actors: (0..ACTORS_PER_THREAD).map(&mut actor).collect() };
        self.threads = (0..settings.threads).map(&mut thread).collect();
    }

    fn run(&mut self, shared: &Shared<'_>, report: &mut dyn FnMut(News)) {
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for thread in &mut self.threads {
                let (sender, target, step_size) = (sender.clone(), self.target, &self.step_size);
                scope.spawn(move || thread.run(shared, target, step_size, &sender));
            }
            drop(sender);
            loop {
                match receiver.recv_timeout(Duration::from_millis(100)) {
                    Ok(news) => report(news),
                    Err(RecvTimeoutError::Timeout) => report(News { actions: 0, finished: vec![] }),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
    }

    fn states(&self) -> Vec<ThreadState> {
        let state =
            |thread: &Thread<N>| ThreadState { actors: thread.actors.iter().map(Actor::state).collect() };
        self.threads.iter().map(state).collect()
    }

    fn restore(&mut self, threads: &[ThreadState]) -> Option<()> {
        let restored = threads.iter().map(|thread| {
            let actors = thread.actors.iter().map(|state| Actor::restore(self.network, self.target, state));
            actors.collect::<Option<_>>().map(|actors| Thread { actors })
        });
        self.threads = restored.collect::<Option<_>>()?;
        Some(())
    }

    fn temporal_coherence(&self) -> Option<&TemporalCoherence> {
        self.step_size.temporal_coherence()
    }
}

impl<const N: usize> Thread<N> {
    /// Plays and learns, chunk by chunk, until it is time to halt.
    fn run<T: Target, S: StepSize>(
        &mut self,
        shared: &Shared<'_>,
        target: T,
        step_size: &S,
        sender: &Sender<News>,
    ) {
        while let Some((actions, rate)) = shared.next_chunk() {
            let learner = Learner { network: shared.network, step_size, rate };
            let news =
                dispatch(shared.level, Chunk { thread: self, shared, target, learner: &learner, actions });
            let idle = news.actions == 0;
            if sender.send(news).is_err() || idle {
                return;
            }
        }
    }
}

/// The hot loop of training: so many moves, by the thread's games in turn.
struct Chunk<'a, const N: usize, T, S> {
    thread: &'a mut Thread<N>,
    shared: &'a Shared<'a>,
    target: T,
    learner: &'a Learner<'a, S>,
    actions: u64,
}

impl<const N: usize, T: Target, S: StepSize> Kernel for Chunk<'_, N, T, S> {
    type Output = News;

    #[inline(always)]
    unsafe fn run<I: Isa>(self) -> News {
        let Chunk { thread, shared, target, learner, actions } = self;
        let settings = shared.settings;
        let mut numbers = Numbered::new(shared.next_game, settings.budget);
        let mut news = News { actions: 0, finished: Vec::new() };
        let network = learner.network;
        // Each step is taken by all games before the next one: neighbouring instructions then belong
        // to independent games, and the processor works on several of them at once.
        while news.actions < actions {
            let playing = thread.actors.iter().filter(|actor| actor.playing).count();
            let round = playing.min((actions - news.actions) as usize);
            if round == 0 {
                break;
            }
            // SAFETY: inside a kernel.
            unsafe {
                let games = &mut thread.actors[..round];
                games.iter_mut().for_each(|game| game.evaluate::<I>(network));
                games.iter_mut().for_each(|game| game.learn::<I, T, S>(&target, learner));
                games.iter_mut().for_each(|game| game.advance(&settings.rules));
                for game in games.iter_mut().filter(|game| game.is_over()) {
                    let rules = &settings.rules;
                    news.finished.push(game.finish::<I, T, S>(
                        rules,
                        settings.seed,
                        &target,
                        learner,
                        &mut numbers,
                    ));
                }
            }
            news.actions += round as u64;
            // Games that have no successor go to the end.
            if round != thread.actors.len() || thread.actors.iter().any(|game| !game.playing) {
                thread.actors.sort_by_key(|game| !game.playing);
            }
        }
        news
    }
}
