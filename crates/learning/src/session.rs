//! The threads of a trainer, and the hot loop of training.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use afterstate_network::{Finished, Isa, Kernel, Level, Network, dispatch};

use crate::{
    Budget, EpsilonGreedy, Learner, Parallel, Progress, Settings, TargetSpec, TrainerError,
    actor::{Actor, Numbers},
    private_hot::{Copy, Master},
    start::{Starts, StartsState},
    step_size::{Current, Numbers as WeightNumbers, StepSize, StepSizes},
    target::Target,
    trainer::ThreadState,
};

/// Games that take turns in one thread: the weights of one are under way while the other has its turn.
const ACTORS_PER_THREAD: usize = 2;

/// Moves between two looks at the budget and the stop sign: some milliseconds.
const CHUNK: u64 = 1 << 15;

/// What the threads of a run share.
pub(crate) struct Shared<'a> {
    pub(crate) network: &'a Network,
    pub(crate) settings: &'a Settings,
    pub(crate) next_game: &'a AtomicU64,
    /// The moves that have been made or are being made.
    pub(crate) actions: AtomicU64,
    pub(crate) start: Instant,
    pub(crate) seconds_before: f64,
    pub(crate) stop: &'a AtomicBool,
    /// The number of moves after which all threads halt, for something to be done.
    pub(crate) halt: u64,
    pub(crate) level: Level,
}

impl Shared<'_> {
    /// The number of the next moves to make, and the share of the budget that is used up; `None` when it
    /// is time to halt.
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
        let take = |done: u64| (done < limit).then(|| (done + CHUNK).min(limit));
        let actions = self.actions.fetch_update(Relaxed, Relaxed, take).ok()?;
        let progress = Progress { actions, seconds, ..Progress::default() };
        let share = self.settings.share(progress, self.next_game.load(Relaxed));
        Some((CHUNK.min(limit - actions), share))
    }

    /// The learning rate at a share of the budget, over the number of active features.
    fn rate(&self, share: f64) -> f32 {
        let divisor = match self.settings.step_size.is_divided() {
            true => self.network.spec().active_features() as f32,
            false => 1.0,
        };
        self.settings.rate_at(share) / divisor
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
#[derive(Default)]
pub(crate) struct News {
    pub(crate) actions: u64,
    pub(crate) episodes: u64,
    /// Those of the episodes that were whole games.
    pub(crate) finished: Vec<Finished>,
}

/// A trainer's threads, with the types of board, target and step size hidden.
pub(crate) trait Session {
    fn start(&mut self, settings: &Settings, next_game: &AtomicU64);
    fn run(&mut self, shared: &Shared<'_>, report: &mut dyn FnMut(News));
    fn states(&self) -> (StartsState, Vec<ThreadState>);
    fn restore(&mut self, starts: &StartsState, threads: &[ThreadState]) -> Option<()>;
    fn numbers(&self) -> Vec<WeightNumbers<'_>>;
    fn reset(&mut self);
}

/// Resolves the settings to types, once.
pub(crate) fn session<'a>(
    network: &'a Network,
    settings: &Settings,
) -> Result<Box<dyn Session + 'a>, TrainerError> {
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
    let step_sizes = StepSizes::new(settings.step_size, network.weights().len() as u64)?;
    let starts = Starts::new(settings.start, &network.spec().stages, &settings.positions);
    let starts = starts.ok_or(TrainerError::Positions)?;
    Ok(Box::new(Typed::<N, T> { network, target, step_sizes, starts, threads: vec![] }))
}

/// A session with its types.
struct Typed<'a, const N: usize, T> {
    network: &'a Network,
    target: T,
    step_sizes: StepSizes,
    starts: Starts<N>,
    threads: Vec<Thread<N>>,
}

/// The games of one thread.
struct Thread<const N: usize> {
    /// Those that are being played come first.
    actors: Vec<Actor<N>>,
}

impl<const N: usize, T: Target> Session for Typed<'_, N, T> {
    fn start(&mut self, settings: &Settings, next_game: &AtomicU64) {
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
        // A network without areas (c is not 16, or it is too large) is shared as a whole.
        let has_areas = self.network.private_lookups(threads - 1).is_some();
        let private = shared.settings.parallel == Parallel::PrivateHot && threads > 1 && has_areas;
        let master = private.then(|| Master::new(self.network, self.step_sizes.sums()));
        std::thread::scope(|scope| {
            for (i, thread) in self.threads.iter_mut().enumerate() {
                let (sender, target, step_sizes) = (sender.clone(), self.target, &self.step_sizes);
                let (master, starts) = (&master, &self.starts);
                scope.spawn(move || {
                    let copy = master.as_ref().and_then(|master| master.copy(i, threads));
                    thread.run(shared, target, step_sizes, starts, copy, &sender);
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
        let values = self.network.spec().values;
        let actors = |thread: &Thread<N>| thread.actors.iter().map(|actor| actor.state(values)).collect();
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

    fn reset(&mut self) {
        self.step_sizes.reset();
    }
}

impl<const N: usize> Thread<N> {
    /// Plays and learns, chunk by chunk, until it is time to halt.
    fn run<T: Target>(
        &mut self,
        shared: &Shared<'_>,
        target: T,
        step_sizes: &StepSizes,
        starts: &Starts<N>,
        mut copy: Option<Copy<'_, '_>>,
        sender: &Sender<News>,
    ) {
        while let Some((actions, share)) = shared.next_chunk() {
            let (task, copy) = (Task { shared, target, starts, actions, share }, &mut copy);
            let news = match step_sizes.at(&shared.settings.step_size, share) {
                Current::Fixed(fixed) => self.chunk(task, fixed, copy),
                Current::TemporalCoherence(coherence) => self.chunk(task, coherence, copy),
                Current::Autostep(autostep) => self.chunk(task, autostep, copy),
            };
            let idle = news.actions == 0;
            if sender.send(news).is_err() || idle {
                break;
            }
        }
        copy.iter_mut().for_each(Copy::merge_all);
    }

    /// Makes the moves of a task, and merges the thread's own weights at their intervals.
    fn chunk<T: Target, S: StepSize>(
        &mut self,
        task: Task<'_, N, T>,
        step_size: &S,
        copy: &mut Option<Copy<'_, '_>>,
    ) -> News {
        let Task { shared, target, starts, actions, share } = task;
        let frozen = shared.settings.start.frozen(shared.network.spec());
        let mut news = News::default();
        while news.actions < actions {
            let view = shared.network.training_view();
            let view = copy.as_ref().map_or(view, |copy| view.with_lookups(&copy.lookups));
            let interval = copy.as_ref().map_or(actions, |copy| copy.interval);
            let learner = Learner { view, step_size, rate: shared.rate(share), frozen };
            let before = news.actions;
            let until = actions.min(before + interval);
            dispatch(
                shared.level,
                Chunk { thread: self, shared, target, learner: &learner, starts, until, news: &mut news },
            );
            copy.iter_mut().for_each(Copy::merge_slice);
            if news.actions == before {
                break;
            }
        }
        news
    }
}

/// Moves to make, at a share of the budget.
struct Task<'a, const N: usize, T> {
    shared: &'a Shared<'a>,
    target: T,
    starts: &'a Starts<N>,
    actions: u64,
    share: f64,
}

/// The hot loop of training: so many moves, by the thread's games in turn.
struct Chunk<'a, const N: usize, T, S> {
    thread: &'a mut Thread<N>,
    shared: &'a Shared<'a>,
    target: T,
    learner: &'a Learner<'a, S>,
    starts: &'a Starts<N>,
    /// The number of moves to be reached.
    until: u64,
    news: &'a mut News,
}

impl<const N: usize, T: Target, S: StepSize> Kernel for Chunk<'_, N, T, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<I: Isa>(self) {
        let Chunk { thread, shared, target, learner, starts, until, news } = self;
        let settings = shared.settings;
        let explores = settings.policy != EpsilonGreedy::GREEDY;
        let mut numbers = Numbered::new(shared.next_game, settings.budget);
        // The weights of a game's next moves are asked for as soon as its state is known, and needed when its
        // turn comes again: they are under way while the other games have theirs.
        // SAFETY: inside a kernel.
        thread.actors.iter_mut().for_each(|game| unsafe { game.look_up::<I>(&learner.view) });
        while news.actions < until {
            let playing = thread.actors.iter().filter(|actor| actor.playing).count();
            let round = playing.min((until - news.actions) as usize);
            if round == 0 {
                break;
            }
            for game in &mut thread.actors[..round] {
                // SAFETY: inside a kernel.
                unsafe {
                    game.evaluate::<I>(&learner.view, &settings.rules);
                    if let Some(downgrade) = settings.downgrade {
                        game.downgrade(I::LEVEL, &learner.view, downgrade);
                    }
                    if explores {
                        game.explore(&settings.policy);
                    }
                    game.learn::<I, T, S>(&target, learner);
                    game.advance(&settings.rules);
                    if starts.watches() {
                        game.watch(starts);
                    }
                    if game.is_over(starts) {
                        news.episodes += 1;
                        let rules = &settings.rules;
                        let finished = game.finish::<I, T, S>(
                            rules,
                            settings.seed,
                            &target,
                            learner,
                            starts,
                            &mut numbers,
                        );
                        news.finished.extend(finished);
                    }
                    game.look_up::<I>(&learner.view);
                }
            }
            news.actions += round as u64;
            // Games that have no successor go to the end.
            if round != thread.actors.len() || thread.actors.iter().any(|game| !game.playing) {
                thread.actors.sort_by_key(|game| !game.playing);
            }
        }
    }
}
