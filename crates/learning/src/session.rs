//! The threads of a trainer, and the hot loop of training.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use afterstate_network::{GameResult, Isa, Kernel, Level, Network, dispatch};

use crate::{
    Budget, Parallel, TargetSpec, TrainerError, TrainingProgress, TrainingSettings,
    actor::{Actor, GameNumbers},
    learner::Learner,
    private_hot::{HotCopy, Master},
    start::{Starts, StartsState},
    step_size::{StepSizes, WeightNumbers},
    trainer::ThreadState,
};

/// The number of games that alternate in a thread: the weights of one are prefetched during the other's turn.
const ACTORS_PER_THREAD: usize = 2;

/// The number of moves between checks of the budget and the stop flag: some milliseconds.
pub(crate) const CHUNK: u64 = 1 << 15;

/// The state that the threads of a run share.
pub(crate) struct Shared<'a> {
    pub(crate) network: &'a Network,
    pub(crate) settings: &'a TrainingSettings,
    pub(crate) next_game: &'a AtomicU64,
    /// The moves that have been made or are in progress.
    pub(crate) actions: AtomicU64,
    pub(crate) start: Instant,
    pub(crate) seconds_before: f64,
    pub(crate) stop: &'a AtomicBool,
    /// The number of moves at which all threads halt, for a task between chunks.
    pub(crate) halt: u64,
    pub(crate) level: Level,
}

impl Shared<'_> {
    /// The number of moves in the next chunk, and the share of the budget used so far; `None` when it is
    /// time to halt.
    fn next_chunk(&self) -> Option<(u64, f64)> {
        let seconds = self.seconds_before + self.start.elapsed().as_secs_f64();
        let over = matches!(self.settings.budget, Budget::Seconds(budget) if seconds >= budget);
        if over || self.stop.load(Relaxed) {
            return None;
        }
        let limit = match self.settings.budget {
            Budget::Actions(budget) => budget.min(self.halt),
            Budget::Seconds(_) | Budget::Episodes(_) => self.halt,
        };
        // Chunks end at multiples, wherever training was halted, so that a halt changes nothing.
        let end = |done: u64| (done / CHUNK + 1).saturating_mul(CHUNK).min(limit);
        let take = |done: u64| (done < limit).then(|| end(done));
        let actions = self.actions.fetch_update(Relaxed, Relaxed, take).ok()?;
        let progress = TrainingProgress { actions, seconds, ..TrainingProgress::default() };
        let share = self.settings.share(progress, self.next_game.load(Relaxed));
        Some((end(actions) - actions, share))
    }

    /// The learning rate at a share of the budget, divided by the number of active features.
    fn rate(&self, share: f64) -> f32 {
        let divisor = match self.settings.step_size.is_divided() {
            true => self.network.spec().active_features() as f32,
            false => 1.0,
        };
        self.settings.rate_at(share) / divisor
    }
}

/// Numbers for new games, as long as the budget has episodes left.
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

impl GameNumbers for Numbered<'_> {
    fn next(&mut self) -> Option<u64> {
        let below_limit = |game: u64| (game < self.limit).then_some(game + 1);
        self.next_game.fetch_update(Relaxed, Relaxed, below_limit).ok()
    }
}

/// What a thread has done since its last report.
#[derive(Default)]
pub(crate) struct News {
    pub(crate) actions: u64,
    pub(crate) episodes: u64,
    /// The results of those episodes that were whole games.
    pub(crate) finished: Vec<GameResult>,
    /// Whether this thread has met values that are not finite.
    pub(crate) diverged: bool,
}

/// A trainer's threads, independent of the side of the board.
pub(crate) trait TrainerSession {
    fn start(&mut self, settings: &TrainingSettings, next_game: &AtomicU64);
    fn run(&mut self, shared: &Shared<'_>, report: &mut dyn FnMut(News));
    fn states(&self) -> (StartsState, Vec<ThreadState>);
    fn restore(&mut self, starts: &StartsState, threads: &[ThreadState]) -> Option<()>;
    fn numbers(&self) -> Vec<WeightNumbers<'_>>;
    fn sums(&self) -> Option<&[AtomicU64]>;
    fn reset(&mut self);
}

/// Dispatches on the side of the board, once.
pub(crate) fn session<'a>(
    network: &'a Network,
    settings: &TrainingSettings,
) -> Result<Box<dyn TrainerSession + 'a>, TrainerError> {
    match network.spec().side {
        4 => with_side::<4>(network, settings),
        3 => with_side::<3>(network, settings),
        _ => with_side::<2>(network, settings),
    }
}

fn with_side<'a, const N: usize>(
    network: &'a Network,
    settings: &TrainingSettings,
) -> Result<Box<dyn TrainerSession + 'a>, TrainerError> {
    let (weights, active) = (network.weights().len() as u64, network.spec().active_features());
    let step_sizes = StepSizes::new(settings.step_size, weights, active)?;
    let starts = Starts::new(settings.start, &network.spec().stages, &settings.positions);
    let starts = starts.ok_or(TrainerError::Positions)?;
    let target = settings.target;
    Ok(Box::new(Sided::<N> { network, target, step_sizes, starts, threads: vec![] }))
}

/// A session on boards of one side.
struct Sided<'a, const N: usize> {
    network: &'a Network,
    target: TargetSpec,
    step_sizes: StepSizes,
    starts: Starts<N>,
    threads: Vec<Thread<N>>,
}

/// The games of a thread.
struct Thread<const N: usize> {
    /// Active games come first.
    actors: Vec<Actor<N>>,
}

impl<const N: usize> TrainerSession for Sided<'_, N> {
    fn start(&mut self, settings: &TrainingSettings, next_game: &AtomicU64) {
        let mut numbers = Numbered::new(next_game, settings.budget);
        let rules = &settings.rules;
        let mut actor =
            |_| Actor::new(self.network, rules, self.target, settings.seed, &self.starts, numbers.next());
        let mut thread = |_| Thread { actors: (0..ACTORS_PER_THREAD).map(&mut actor).collect() };
        self.threads = (0..settings.threads).map(&mut thread).collect();
    }

    fn run(&mut self, shared: &Shared<'_>, report: &mut dyn FnMut(News)) {
        let (sender, receiver) = channel();
        let threads = self.threads.len();
        // A network without areas (c is not 16, or it is too large) is shared completely.
        let has_areas = self.network.private_lookups(threads - 1).is_some();
        let private = shared.settings.parallel == Parallel::PrivateHot && threads > 1 && has_areas;
        let master = private.then(|| Master::new(self.network, self.step_sizes.sums()));
        std::thread::scope(|scope| {
            for (i, thread) in self.threads.iter_mut().enumerate() {
                let (sender, step_sizes) = (sender.clone(), &self.step_sizes);
                let (master, starts) = (&master, &self.starts);
                scope.spawn(move || {
                    let copy = master.as_ref().and_then(|master| master.copy(shared.level, i, threads));
                    thread.run(shared, step_sizes, starts, copy, &sender);
                });
            }
            drop(sender);
            loop {
                match receiver.recv_timeout(Duration::from_millis(100)) {
                    Ok(news) => report(news),
                    Err(RecvTimeoutError::Timeout) => report(News::default()),
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        if let Some(master) = master {
            master.store();
        }
    }

    fn states(&self) -> (StartsState, Vec<ThreadState>) {
        let actors = |thread: &Thread<N>| thread.actors.iter().map(Actor::state).collect();
        let states = self.threads.iter().map(|thread| ThreadState { actors: actors(thread) }).collect();
        (self.starts.state(), states)
    }

    fn restore(&mut self, starts: &StartsState, threads: &[ThreadState]) -> Option<()> {
        if threads.iter().any(|thread| thread.actors.len() != ACTORS_PER_THREAD) {
            return None;
        }
        self.starts.restore(starts)?;
        let restored = threads.iter().map(|thread| {
            let restore = |state| Actor::restore(self.network, self.target, &self.starts, state);
            let actors = thread.actors.iter().map(restore);
            actors.collect::<Option<_>>().map(|actors| Thread { actors })
        });
        self.threads = restored.collect::<Option<_>>()?;
        Some(())
    }

    fn numbers(&self) -> Vec<WeightNumbers<'_>> {
        self.step_sizes.numbers()
    }

    fn sums(&self) -> Option<&[AtomicU64]> {
        self.step_sizes.sums()
    }

    fn reset(&mut self) {
        self.step_sizes.reset();
    }
}

impl<const N: usize> Thread<N> {
    /// Plays and learns, chunk by chunk, until it is time to halt.
    fn run(
        &mut self,
        shared: &Shared<'_>,
        step_sizes: &StepSizes,
        starts: &Starts<N>,
        mut copy: Option<HotCopy<'_, '_>>,
        sender: &Sender<News>,
    ) {
        while let Some((actions, share)) = shared.next_chunk() {
            let learner = Learner {
                view: shared.network.training_view(),
                step_size: step_sizes.at(&shared.settings.step_size, share),
                rate: shared.rate(share),
                frozen: shared.settings.start.frozen(shared.network.spec()),
            };
            let news = self.chunk(shared, learner, starts, actions, &mut copy);
            let idle = news.actions == 0;
            if sender.send(news).is_err() || idle {
                break;
            }
        }
        copy.iter_mut().for_each(HotCopy::merge_all);
    }

    /// Makes this many moves, and merges the thread's private weights at their intervals.
    fn chunk(
        &mut self,
        shared: &Shared<'_>,
        learner: Learner<'_>,
        starts: &Starts<N>,
        actions: u64,
        copy: &mut Option<HotCopy<'_, '_>>,
    ) -> News {
        let mut news = News::default();
        while news.actions < actions {
            let before = news.actions;
            let interval = copy.as_ref().map_or(actions, |copy| copy.interval);
            let view = copy.as_ref().map_or(learner.view, |copy| learner.view.with_private(&copy.lookups));
            let learner = &Learner { view, ..learner };
            let (thread, news_of, until) = (&mut *self, &mut news, actions.min(before + interval));
            dispatch(shared.level, Chunk { thread, shared, learner, starts, until, news: news_of });
            copy.iter_mut().for_each(HotCopy::merge_slice);
            if news.actions == before {
                break;
            }
        }
        news.diverged = self.actors.iter().any(|actor| !actor.is_finite());
        news
    }
}

/// The hot loop of training: this many moves, by the thread's games in turn.
struct Chunk<'a, const N: usize> {
    thread: &'a mut Thread<N>,
    shared: &'a Shared<'a>,
    learner: &'a Learner<'a>,
    starts: &'a Starts<N>,
    /// The number of moves to reach.
    until: u64,
    news: &'a mut News,
}

impl<const N: usize> Kernel for Chunk<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Chunk { thread, shared, learner, starts, until, news } = self;
        let settings = shared.settings;
        let mut numbers = Numbered::new(shared.next_game, settings.budget);
        // The weights of a game's next moves are prefetched as soon as its state is known, and needed on its next turn:
        // they load during the turns of the other games.
        thread.actors.iter_mut().for_each(|game| game.look_up(isa, &learner.view));
        while news.actions < until {
            let playing = thread.actors.iter().filter(|actor| actor.playing).count();
            let round = playing.min((until - news.actions) as usize);
            if round == 0 {
                break;
            }
            for game in &mut thread.actors[..round] {
                game.turn(isa, settings, learner);
                if starts.watches() {
                    game.watch(starts);
                }
                if game.is_over(starts) {
                    news.episodes += 1;
                    news.finished.extend(game.finish(isa, settings, learner, starts, &mut numbers));
                }
                game.look_up(isa, &learner.view);
            }
            news.actions += round as u64;
            // Games without a successor move to the end.
            if round != thread.actors.len() || thread.actors.iter().any(|game| !game.playing) {
                thread.actors.sort_by_key(|game| !game.playing);
            }
        }
    }
}
