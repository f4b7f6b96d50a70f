//! Runs whose network learns in several processes at once, which merge what they have learned at intervals.
//!
//! Each replica makes an equal share of the budget's moves, in games of its own. The first one is the run: it evaluates, and
//! writes checkpoints of what all have agreed on. The others keep a log in `replica-1` and so on.

use std::{
    str::FromStr,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use afterstate_learning::{
    Budget, StepSizeSpec, Trainer, TrainerState, TrainingProgress, TrainingSettings,
    replicas::{Agreed, Changes, Exchange},
};

use super::RunError;

/// The games of a replica are numbered from its rank times this on.
const GAMES_APART: u64 = 1 << 40;

/// What replicas say to one another at a merge.
const GOES_ON: u64 = 1;
const STOPS: u64 = 2;
const SAVES: u64 = 4;

/// The replicas of a network.
pub trait Replicas: Exchange + Send {
    /// Which of them this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// The states of all replicas, for the first of them.
    fn gather(&self, own: TrainerState) -> Vec<TrainerState>;
}

/// How often replicas merge.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum MergeEvery {
    /// After so many moves of each replica, which then wait for one another: with one thread each, the result is a function of
    /// the recipe, the seed and the number of replicas.
    Actions(u64),
    /// After so many seconds. The replicas keep playing while their changes are in flight.
    Seconds(f64),
}

/// A text that is no interval.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no interval of merges: write 5s for seconds, or a number of actions such as 100000")]
pub struct MergeEveryError(String);

impl FromStr for MergeEvery {
    type Err = MergeEveryError;

    fn from_str(text: &str) -> Result<Self, MergeEveryError> {
        let seconds = text.strip_suffix('s').and_then(|seconds| seconds.parse().ok());
        match (seconds, text.parse()) {
            (Some(seconds), _) if seconds > 0.0 && seconds < 1e6 => Ok(MergeEvery::Seconds(seconds)),
            (None, Ok(actions @ 1..)) => Ok(MergeEvery::Actions(actions)),
            _ => Err(MergeEveryError(text.to_owned())),
        }
    }
}

/// With whom to merge, and how often.
#[derive(Clone, Copy)]
pub struct Merging {
    /// The replicas.
    pub replicas: &'static dyn Replicas,
    /// How often to merge.
    pub every: MergeEvery,
}

impl Merging {
    /// Whether this is the run itself, which writes what all have learned.
    pub fn is_first(&self) -> bool {
        self.replicas.rank() == 0
    }

    /// Whether one of the replicas says so. Each waits for all others.
    pub fn any(&self, says_so: bool) -> bool {
        let mut word = [u64::from(says_so)];
        self.replicas.any(&mut word);
        word[0] != 0
    }

    /// The settings of one replica: its share of the budget.
    ///
    /// # Errors
    /// When the budget cannot be divided, or what is learned cannot be merged.
    pub(super) fn settings(&self, settings: TrainingSettings) -> Result<TrainingSettings, RunError> {
        let budget = match settings.budget {
            Budget::Actions(actions) => Budget::Actions(actions.div_ceil(self.replicas.size() as u64)),
            Budget::Seconds(seconds) => Budget::Seconds(seconds),
            Budget::Episodes(_) => return Err(RunError::Replicas("a budget in actions or seconds")),
        };
        if matches!(settings.step_size, StepSizeSpec::Autostep { .. }) {
            return Err(RunError::Replicas("a fixed step size or temporal coherence"));
        }
        Ok(TrainingSettings { budget, ..settings })
    }

    /// Gives a new trainer games of its own.
    pub(super) fn number(&self, trainer: &mut Trainer<'_>) {
        trainer.number_from(self.replicas.rank() as u64 * GAMES_APART);
    }
}

/// Goes on with a replica's own state, or with new games where there were fewer replicas. What has been done is divided
/// anew.
pub(super) fn restore(
    trainer: &mut Trainer<'_>,
    (rank, size): (usize, usize),
    first: &TrainerState,
    others: &[TrainerState],
) -> Result<(), RunError> {
    let share = |count: u64| count * (others.len() as u64 + 1) / size as u64;
    let TrainingProgress { actions, episodes, seconds } = first.progress;
    let progress = TrainingProgress { actions: share(actions), episodes: share(episodes), seconds };
    let own = if rank == 0 { Some(first) } else { others.get(rank - 1) };
    let mut state = own.cloned().unwrap_or_else(|| {
        trainer.number_from(rank as u64 * GAMES_APART + actions);
        trainer.state()
    });
    state.progress = progress;
    Ok(trainer.restore(&state)?)
}

/// What so many replicas have done, when each has done as much as this one.
pub(super) fn of_all(progress: TrainingProgress, replicas: usize) -> TrainingProgress {
    let size = replicas as u64;
    TrainingProgress { actions: progress.actions * size, episodes: progress.episodes * size, ..progress }
}

/// What all replicas have decided at a merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    GoOn,
    /// All agree, and a checkpoint is to be written.
    Save,
    /// All agree, and are done or, if not, stopped.
    End {
        done: bool,
    },
}

/// Changes on their way to the others, and those of all with their bytes, once they are there.
type Flight = (Arc<Changes>, JoinHandle<(Changes, u64)>);

/// Merges the network of one replica with those of the others.
pub(super) struct Merger {
    merging: Merging,
    agreed: Agreed,
    /// The changes in flight.
    flight: Option<Flight>,
    /// When the last merge was, and after how many moves.
    last: (Instant, u64),
    /// The time that games have stood still for merges since the last report, and when that was.
    waited: Duration,
    reported: Instant,
    /// The bytes of changes since then.
    bytes: u64,
}

impl Merger {
    pub(super) fn new(merging: Merging, trainer: &Trainer<'_>) -> Self {
        let (now, actions) = (Instant::now(), trainer.progress().actions);
        let agreed = Agreed::new(trainer);
        Merger {
            merging,
            agreed,
            flight: None,
            last: (now, actions),
            waited: Duration::ZERO,
            reported: now,
            bytes: 0,
        }
    }

    /// What all replicas have done.
    pub(super) fn of_all(&self, progress: TrainingProgress) -> TrainingProgress {
        of_all(progress, self.merging.replicas.size())
    }

    /// The moves of this replica when all have made so many.
    pub(super) fn own(&self, actions: u64) -> u64 {
        actions.div_ceil(self.merging.replicas.size() as u64)
    }

    pub(super) fn is_first(&self) -> bool {
        self.merging.is_first()
    }

    /// The moves after which the next merge is due, where moves count.
    pub(super) fn halt(&self) -> u64 {
        match self.merging.every {
            MergeEvery::Actions(actions) => self.last.1 + actions,
            MergeEvery::Seconds(_) => u64::MAX,
        }
    }

    /// Whether it is time for a merge.
    pub(super) fn is_due(&self, actions: u64) -> bool {
        match self.merging.every {
            MergeEvery::Actions(_) => actions >= self.halt(),
            MergeEvery::Seconds(seconds) => self.last.0.elapsed().as_secs_f64() >= seconds,
        }
    }

    /// Merges: receives the changes in flight and sends new ones.
    pub(super) fn merge(&mut self, trainer: &Trainer<'_>, stops: bool, saves: bool) -> Decision {
        let start = Instant::now();
        let goes_on = if trainer.is_done() { 0 } else { GOES_ON };
        let say = goes_on | if stops { STOPS } else { 0 } | if saves { SAVES } else { 0 };
        let mut said = self.receive(trainer);
        self.send(trainer, say);
        if matches!(self.merging.every, MergeEvery::Actions(_)) {
            said = self.receive(trainer);
        }
        let decision = match said {
            None => Decision::GoOn,
            Some(said) if said & GOES_ON == 0 => Decision::End { done: true },
            Some(said) if said & STOPS != 0 => Decision::End { done: false },
            Some(said) if said & SAVES != 0 => Decision::Save,
            Some(_) => Decision::GoOn,
        };
        if decision != Decision::GoOn {
            // Nothing is under way any more.
            self.receive(trainer);
            self.send(trainer, 0);
            self.receive(trainer);
        }
        self.last = (Instant::now(), trainer.progress().actions);
        self.waited += start.elapsed();
        decision
    }

    /// The states of all replicas but the first, for that one.
    pub(super) fn other_states(&self, trainer: &Trainer<'_>) -> Vec<TrainerState> {
        self.merging.replicas.gather(trainer.state()).split_off(usize::from(self.is_first()))
    }

    /// The share of the time that games stood still for merges, and the bytes of changes in each second, since the last report.
    pub(super) fn report(&mut self) -> (f64, f64) {
        let seconds = self.reported.elapsed().as_secs_f64().max(1e-9);
        let report = (self.waited.as_secs_f64() / seconds, self.bytes as f64 / seconds);
        (self.waited, self.bytes, self.reported) = (Duration::ZERO, 0, Instant::now());
        report
    }

    fn send(&mut self, trainer: &Trainer<'_>, say: u64) {
        let changes = Arc::new(self.agreed.changes(trainer));
        self.bytes += changes.bytes();
        let (sent, blocks, replicas) = (changes.clone(), self.agreed.blocks(), self.merging.replicas);
        let flight = std::thread::spawn(move || sent.exchange(blocks, say, replicas));
        self.flight = Some((changes, flight));
    }

    fn receive(&mut self, trainer: &Trainer<'_>) -> Option<u64> {
        let (own, flight) = self.flight.take()?;
        let (total, said) = flight.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.agreed.apply(trainer, &own, &total);
        Some(said)
    }
}
