//! Cooperating processes: the ranks that `mpirun` starts.
//!
//! Without the feature `mpi` there are no ranks, only a clear error message if `mpirun` starts the program anyway. The
//! first rank leads: it answers the questions of the others while it does its own work.

#[cfg(feature = "mpi")]
#[path = "mpi.rs"]
mod backend;
#[cfg(not(feature = "mpi"))]
#[path = "none.rs"]
mod backend;

use std::{
    env,
    sync::{Mutex, OnceLock, PoisonError},
    thread::sleep,
    time::Duration,
};

use backend::Backend;
use serde::{Serialize, de::DeserializeOwned};

/// How long a rank sleeps between polls for a message: MPI itself would spin.
const PAUSE: Duration = Duration::from_micros(100);

/// The kind of a message.
#[derive(Clone, Copy)]
#[repr(i32)]
enum Tag {
    Question = 1,
    Answer,
    Done,
    Gathered,
}

/// Why the ranks cannot cooperate.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The program was built without MPI.
    #[error("mpirun started {0} of these processes, but this program was built without MPI")]
    WithoutMpi(usize),
    /// The library does not see the other processes.
    #[error("mpirun started {started} of these processes, but their MPI library finds {found}")]
    OtherLibrary {
        /// The number of processes according to the environment.
        started: usize,
        /// The number of processes according to the library.
        found: usize,
    },
    /// The library cannot be used.
    #[error("MPI: {0}")]
    Library(&'static str),
}

/// The ranks, and the number of this process among them.
pub struct World {
    backend: Backend,
    rank: usize,
    size: usize,
}

static WORLD: OnceLock<Option<World>> = OnceLock::new();

fn asked(name: &str) -> Option<usize> {
    env::var(name).ok()?.parse().ok()
}

/// Whether PMIx started the process, as `mpirun` and Slurm's `srun --mpi=pmix` do.
fn has_pmix() -> bool {
    env::var_os("PMIX_RANK").is_some()
}

/// The rank that `mpirun` assigned to this process, whether or not it joins the others; `None` without `mpirun`.
pub fn rank_asked_for() -> Option<usize> {
    asked("OMPI_COMM_WORLD_RANK").or_else(|| asked("PMI_RANK")).or_else(|| asked("PMIX_RANK"))
}

/// The number of processes that `mpirun` started. PMIx itself does not put it in the environment, but Slurm does.
fn size_asked_for() -> Option<usize> {
    let of_step = || asked("SLURM_STEP_NUM_TASKS").filter(|_| has_pmix());
    asked("OMPI_COMM_WORLD_SIZE").or_else(|| asked("PMI_SIZE")).or_else(of_step)
}

/// Joins the other processes that `mpirun` started, if any, until the returned guard is dropped.
///
/// # Errors
/// If the program was built without MPI, or the library does not support threads.
pub fn join() -> Result<impl Sized, JoinError> {
    let started = size_asked_for();
    let joined = match (started, has_pmix()) {
        (Some(1), _) | (None, false) => None,
        (size, _) => backend::join(size.unwrap_or(1))?,
    };
    if let (Some(started), Some(&(.., found))) = (started, joined.as_ref())
        && started != found
    {
        return Err(JoinError::OtherLibrary { started, found });
    }
    let (guard, world) = joined.map_or((None, None), |(guard, backend, rank, size)| {
        (Some(guard), (size > 1).then_some(World { backend, rank, size }))
    });
    // There is only one caller.
    let _ = WORLD.set(world);
    Ok(guard)
}

/// The world of ranks; `None` if this process is alone.
pub fn world() -> Option<&'static World> {
    WORLD.get().and_then(Option::as_ref)
}

impl World {
    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether this is the leading rank.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Works as the first rank, and answers the others until each of them has finished its work too.
    pub fn lead<Q, A, R>(&self, mut answer: impl FnMut(Q) -> A + Send, work: impl FnOnce() -> R) -> R
    where
        Q: DeserializeOwned,
        A: Serialize,
    {
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut at_work = self.size - 1;
                while at_work > 0 {
                    if let Some((from, question)) = self.backend.poll(None, Tag::Question) {
                        // All ranks run the same program, so each can parse what another one writes.
                        if let Ok(question) = serde_json::from_slice(&question) {
                            let answer = serde_json::to_vec(&answer(question)).unwrap_or_default();
                            self.backend.send(from, Tag::Answer, &answer);
                        }
                    } else if self.backend.poll(None, Tag::Done).is_some() {
                        at_work -= 1;
                    } else {
                        sleep(PAUSE);
                    }
                }
            });
            work()
        })
    }

    /// Works as one of the other ranks, which can send questions to the first.
    pub fn follow<R>(&self, work: impl FnOnce(&Caller<'_>) -> R) -> R {
        let result = work(&Caller { world: self, turn: Mutex::new(()) });
        self.backend.send(0, Tag::Done, &[]);
        result
    }

    /// Waits until all ranks have arrived.
    pub fn barrier(&self) {
        self.backend.barrier(PAUSE);
    }

    /// The bitwise OR of the words of all ranks.
    pub fn all_or(&self, words: &mut [u64]) {
        self.backend.all_or(words, PAUSE);
    }

    /// The sums of the numbers of all ranks, added in rank order.
    pub fn all_sum(&self, numbers: &mut [f32]) {
        self.backend.all_sum(numbers, PAUSE);
    }

    /// Collects a value from each rank, in rank order; only the first rank receives them.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, own: T) -> Vec<T> {
        if !self.is_first() {
            self.backend.send(0, Tag::Gathered, &serde_json::to_vec(&own).unwrap_or_default());
            return Vec::new();
        }
        let mut all = vec![own];
        for rank in 1..self.size {
            let bytes = self.wait_for(rank, Tag::Gathered);
            all.extend(serde_json::from_slice::<T>(&bytes));
        }
        all
    }

    /// Ends all ranks at once.
    pub fn abort(&self, code: i32) -> ! {
        self.backend.abort(code)
    }

    fn wait_for(&self, rank: usize, tag: Tag) -> Vec<u8> {
        loop {
            match self.backend.poll(Some(rank), tag) {
                Some((_, bytes)) => return bytes,
                None => sleep(PAUSE),
            }
        }
    }
}

/// Sends questions to the first rank.
pub struct Caller<'a> {
    world: &'a World,
    /// One question at a time.
    turn: Mutex<()>,
}

impl Caller<'_> {
    /// Sends a question and waits for the answer; `None` if it cannot be parsed.
    pub fn ask<Q: Serialize, A: DeserializeOwned>(&self, question: &Q) -> Option<A> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.world.backend.send(0, Tag::Question, &serde_json::to_vec(question).ok()?);
        serde_json::from_slice(&self.world.wait_for(0, Tag::Answer)).ok()
    }
}
