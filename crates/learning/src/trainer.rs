//! The trainer: actors on several threads, sharing the tables without locks.
//!
//! Lock-free optimistic parallelism (jaskowski-2016, V.A.3): the threads read and write the same
//! weights. Two threads rarely update one weight at the same time, and when they do, one small step
//! is lost. In each thread two games alternate, so that one computes while the memory accesses of the other are in
//! flight.
//!
//! With one thread, training is a bit-exact function of the settings and the seed.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use afterstate_game::Rules;
use afterstate_network::{GameResult, Level, MemoryError, Network};
use afterstate_search::Downgrade;
use serde::{Deserialize, Serialize};

use crate::{
    ActorState, EndgameTeacher, EpsilonGreedy, StartSpec, StepSizeSpec, TargetSpec,
    session::{CHUNK, News, Shared, TrainerSession, session},
    start::StartsState,
    step_size::WeightNumbers,
};

/// When training ends.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// After this many moves in total.
    Actions(u64),
    /// After this many episodes in total, wherever they begin.
    Episodes(u64),
    /// After this many seconds of training.
    Seconds(f64),
}

impl Budget {
    /// The share of the budget, from 0 to 1, that this progress has used.
    pub fn share(&self, progress: TrainingProgress) -> f64 {
        let share = match *self {
            Budget::Actions(actions) => progress.actions as f64 / actions as f64,
            Budget::Episodes(episodes) => progress.episodes as f64 / episodes as f64,
            Budget::Seconds(seconds) => progress.seconds / seconds,
        };
        share.min(1.0)
    }
}

/// The factor on the rate (α or β) at a share of the budget, by a schedule of (share, factor), ascending.
pub fn rate_factor(schedule: &[(f64, f64)], share: f64) -> f64 {
    schedule.iter().rev().find(|(from, _)| *from <= share).map_or(1.0, |(_, factor)| *factor)
}

/// How threads share the weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Parallel {
    /// All threads read and write the same tables (jaskowski-2016, V.A.3).
    LockFree,
    /// Like lock-free, but every thread has its own copy of the weights that all of them write constantly,
    /// merged at short intervals.
    PrivateHot,
}

/// How to learn.
#[derive(Clone, PartialEq, Debug)]
pub struct TrainingSettings {
    /// The rules of the game.
    pub rules: Rules,
    /// The seed of all games.
    pub seed: u64,
    /// Which afterstates move towards what.
    pub target: TargetSpec,
    /// Which moves are made.
    pub policy: EpsilonGreedy,
    /// Learning from downgraded play, which is our own method: the best move is that of the downgraded board
    /// (guei-2021, IV.C.3), while the learned values are those of the actual boards. For networks of afterstates; see
    /// `docs/techniques/tile_downgrading.md`.
    pub downgrade: Option<Downgrade>,
    /// How far each weight moves.
    pub step_size: StepSizeSpec,
    /// Where episodes begin.
    pub start: StartSpec,
    /// The initial states of stages, as text, for a carousel that uses given ones.
    pub positions: Vec<String>,
    /// Solved endgames in which episodes end, for networks of afterstates on 4×4.
    pub teacher: Option<EndgameTeacher>,
    /// Factors on the rate by share of the budget: (share, factor), ascending.
    pub schedule: Vec<(f64, f64)>,
    /// The number of threads, at least 1.
    pub threads: usize,
    /// How they share the weights; irrelevant for one thread.
    pub parallel: Parallel,
    /// When to stop.
    pub budget: Budget,
}

/// The progress of training.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TrainingProgress {
    /// Moves made.
    pub actions: u64,
    /// Episodes finished, wherever they began.
    pub episodes: u64,
    /// Seconds of training, without evaluation and checkpoints.
    pub seconds: f64,
}

/// All state except the weights that training needs to continue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TrainerState {
    /// The progress so far.
    pub progress: TrainingProgress,
    next_game: u64,
    #[serde(default)]
    starts: StartsState,
    threads: Vec<ThreadState>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ThreadState {
    pub(crate) actors: Vec<ActorState>,
}

/// Why a trainer could not be created.
#[derive(Debug, thiserror::Error)]
pub enum TrainerError {
    /// Not enough memory for the learning state.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Starts that the network does not support.
    #[error("invalid starts: {0}")]
    Start(&'static str),
    /// Invalid initial positions.
    #[error("one of the initial positions is not one from which a game can continue")]
    Positions,
    /// A checkpoint that does not match the settings.
    #[error("the checkpoint does not fit: {0}")]
    State(&'static str),
}

/// A network in training.
pub struct Trainer<'a> {
    network: &'a Network,
    settings: TrainingSettings,
    session: Box<dyn TrainerSession + 'a>,
    next_game: AtomicU64,
    progress: TrainingProgress,
    diverged: bool,
    level: Level,
}

impl<'a> Trainer<'a> {
    /// Prepares to train a network from its current weights.
    ///
    /// # Errors
    /// If there is not enough memory for the learning state, or the network does not support the starts.
    pub fn new(network: &'a Network, settings: TrainingSettings) -> Result<Self, TrainerError> {
        if let Some(reason) = settings.start.refusal(network.spec()) {
            return Err(TrainerError::Start(reason));
        }
        let session = session(network, &settings)?;
        let mut trainer = Trainer {
            network,
            settings,
            session,
            next_game: AtomicU64::new(0),
            progress: TrainingProgress::default(),
            diverged: false,
            level: Level::best(),
        };
        trainer.session.start(&trainer.settings, &trainer.next_game);
        Ok(trainer)
    }

    /// Restarts with games numbered from this one: a replica plays none of another one's games.
    pub fn number_from(&mut self, first_game: u64) {
        self.next_game = AtomicU64::new(first_game);
        self.session.start(&self.settings, &self.next_game);
    }

    /// The network, and E and A of its weights if there are any.
    pub(crate) fn learned(&self) -> (&'a Network, Option<&[AtomicU64]>) {
        (self.network, self.session.sums())
    }

    /// Continues from where [`Self::state`] was taken. The caller restores the weights and the learning
    /// state.
    ///
    /// # Errors
    /// If the state does not match the settings.
    pub fn restore(&mut self, state: &TrainerState) -> Result<(), TrainerError> {
        if state.threads.len() != self.settings.threads {
            return Err(TrainerError::State("it was made with another number of threads"));
        }
        let TrainingProgress { actions, episodes, seconds } = state.progress;
        if [actions, episodes, state.next_game].iter().any(|&n| n > 1 << 60) || !seconds.is_finite() {
            return Err(TrainerError::State("its counters are damaged"));
        }
        let restored = self.session.restore(&state.starts, &state.threads);
        restored.ok_or(TrainerError::State("its games are damaged"))?;
        self.next_game = AtomicU64::new(state.next_game);
        self.progress = state.progress;
        Ok(())
    }

    /// All state except the weights and the learning state that training needs to continue.
    pub fn state(&self) -> TrainerState {
        let next_game = self.next_game.load(Relaxed);
        let (starts, threads) = self.session.states();
        TrainerState { progress: self.progress, next_game, starts, threads }
    }

    /// Uses another instruction set than the best one; the results are the same.
    pub fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// The progress of training.
    pub fn progress(&self) -> TrainingProgress {
        self.progress
    }

    /// The numbers that the step size stores for every weight: E and A of temporal coherence, α, h and v
    /// of Autostep.
    pub fn numbers(&self) -> Vec<WeightNumbers<'_>> {
        self.session.numbers()
    }

    /// The current learning rate, before the division by the number of active features.
    pub fn rate(&self) -> f32 {
        self.settings.rate_at(self.settings.share(self.progress, self.next_game.load(Relaxed)))
    }

    /// Whether the budget is used up.
    pub fn is_done(&self) -> bool {
        match self.settings.budget {
            Budget::Actions(actions) => self.progress.actions >= actions,
            Budget::Episodes(episodes) => self.progress.episodes >= episodes,
            Budget::Seconds(seconds) => self.progress.seconds >= seconds,
        }
    }

    /// Whether values are no longer finite; training has then halted.
    pub fn has_diverged(&self) -> bool {
        self.diverged
    }

    /// Trains until the budget is used up, values are no longer finite, or `watch` stops it. `watch` is called several
    /// times a second with the progress and the whole games finished since its last call; when it returns `false`, the
    /// threads halt between two moves, and another call continues training.
    pub fn run(&mut self, watch: impl FnMut(TrainingProgress, &[GameResult]) -> bool) {
        self.run_until(u64::MAX, watch);
    }

    /// The same, but also halts after this many actions, rounded up to the next check of the threads.
    /// Halting there and continuing changes nothing.
    pub fn run_until(
        &mut self,
        actions: u64,
        mut watch: impl FnMut(TrainingProgress, &[GameResult]) -> bool,
    ) {
        let stop = AtomicBool::new(false);
        let actions = actions.div_ceil(CHUNK).saturating_mul(CHUNK);
        let reset = self.settings.step_size.reset().unwrap_or(u64::MAX);
        while self.progress.actions < actions {
            let reset_at = (self.progress.actions / reset + 1).saturating_mul(reset);
            let halt = actions.min(reset_at);
            self.run_to(halt, &stop, &mut watch);
            if self.progress.actions < halt || self.diverged {
                break;
            }
            if halt == reset_at {
                self.session.reset();
            }
        }
    }

    /// Trains until this many actions have been made, or [`Self::run`] would end.
    fn run_to(
        &mut self,
        halt: u64,
        stop: &AtomicBool,
        watch: &mut impl FnMut(TrainingProgress, &[GameResult]) -> bool,
    ) {
        let (start, before) = (Instant::now(), self.progress);
        let shared = Shared {
            network: self.network,
            settings: &self.settings,
            next_game: &self.next_game,
            actions: AtomicU64::new(before.actions),
            start,
            seconds_before: before.seconds,
            stop,
            halt,
            level: self.level,
        };
        let (progress, diverged) = (&mut self.progress, &mut self.diverged);
        let mut report = |news: News| {
            *diverged |= news.diverged;
            progress.actions += news.actions;
            progress.episodes += news.episodes;
            progress.seconds = before.seconds + start.elapsed().as_secs_f64();
            if !watch(*progress, &news.finished) || *diverged {
                stop.store(true, Relaxed);
            }
        };
        self.session.run(&shared, &mut report);
        // A budget in seconds may have run out after the last report.
        self.progress.seconds = before.seconds + start.elapsed().as_secs_f64();
    }
}

impl TrainingSettings {
    /// Greedy self-play of whole games under the usual rules, on one thread.
    pub fn new(target: TargetSpec, step_size: StepSizeSpec, budget: Budget) -> Self {
        TrainingSettings {
            rules: Rules::default(),
            seed: 1,
            target,
            policy: EpsilonGreedy::GREEDY,
            downgrade: None,
            step_size,
            start: StartSpec::Fresh,
            positions: vec![],
            teacher: None,
            schedule: vec![],
            threads: 1,
            parallel: Parallel::LockFree,
            budget,
        }
    }

    /// The share of the budget used so far. Episodes count when they begin: their learning rate is that of their start.
    pub(crate) fn share(&self, progress: TrainingProgress, next_game: u64) -> f64 {
        self.budget.share(TrainingProgress { episodes: next_game, ..progress })
    }

    /// α or β at a share of the budget.
    pub(crate) fn rate_at(&self, share: f64) -> f32 {
        self.step_size.rate(share, rate_factor(&self.schedule, share) as f32)
    }
}
