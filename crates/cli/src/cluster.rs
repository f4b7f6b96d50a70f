//! Commands whose work is distributed over the ranks that `mpirun` has started.

use std::{
    collections::VecDeque,
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
    sync::{Mutex, PoisonError},
    thread::sleep,
    time::Duration,
};

use afterstate_cluster::{Caller, JoinError, World};
use afterstate_lab::deal::Dealer;
use serde::{Deserialize, Serialize};

use crate::{
    commands::{Command, Ranks},
    error::{self, Failure},
    mistake,
};

/// The maximum batch of numbers for a rank: many short games are not worth a message each.
const MOST_AT_A_TIME: u64 = 64;

/// How long the other ranks wait for the first one to report an error.
const PATIENCE: Duration = Duration::from_secs(10);

/// Joins the other ranks, if there are any.
pub(crate) fn join() -> Result<impl Sized, Failure> {
    afterstate_cluster::join().map_err(|error| {
        let hint = match error {
            JoinError::WithoutMpi(_) => {
                "build it with `cargo build --release --features mpi`, or divide the work with `--part K/N`"
            }
            JoinError::OtherLibrary { .. } => "start it by the mpirun of the library that it was built with",
            JoinError::Library(_) => "docs/cluster.md names the libraries that it is tested with",
        };
        Failure::input(error, hint)
    })
}

/// Whether another process reports this error or help: all ranks find the same, and those after the first leave it to
/// that one. They wait, because `mpirun` ends all ranks when one fails.
pub(crate) fn leaves_it_to_first(failure: &Failure) -> bool {
    let is_other = afterstate_cluster::rank_asked_for().is_some_and(|rank| rank > 0);
    if is_other && !matches!(failure, Failure::Help(_)) {
        sleep(PATIENCE);
    }
    is_other
}

/// Runs a command together with the other ranks; the first one prints. A rank that fails ends all of them.
pub(crate) fn run(world: &World, command: Command, out: &mut dyn Write) -> Result<(), Failure> {
    let is_alone = match command.ranks() {
        Ranks::All => false,
        Ranks::First => true,
        Ranks::None(message, hint) if world.is_first() => return Err(Failure::input(message, hint)),
        Ranks::None(..) => return Ok(()),
    };
    let result = panic::catch_unwind(AssertUnwindSafe(|| match world.is_first() {
        true => command.run(out),
        false if is_alone => Ok(()),
        false => command.run(&mut io::sink()),
    }));
    match result.unwrap_or_else(|_| Err(mistake())) {
        Err(failure @ (Failure::Input { .. } | Failure::Other { .. })) => {
            if !world.is_first() {
                // All ranks find the same error in the input. The first one reports it, and ends them.
                sleep(PATIENCE);
            }
            let code = if matches!(failure, Failure::Input { .. }) { 2 } else { 1 };
            error::exit_code(Err(failure));
            world.abort(code)
        }
        result => {
            world.barrier();
            result
        }
    }
}

/// A question of another rank to the first.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "T: serde::de::DeserializeOwned"))]
enum Question<T> {
    /// For numbers.
    Deal,
    /// Whether to continue, along with a report.
    Tell(T),
}

/// The answer: some numbers, and whether to continue.
type Answer = (Vec<u64>, bool);

/// Deals out numbers to all ranks. The first rank works by `lead`, the others by `follow`, each with its own dealer.
/// What `follow` reports reaches `hear` in the first rank; both return whether to continue.
pub(crate) fn deal<T, R>(
    world: &World,
    deck: &dyn Dealer,
    mut hear: impl FnMut(T) -> bool + Send,
    lead: impl FnOnce(&dyn Dealer) -> R,
    follow: impl FnOnce(&dyn Dealer, &dyn Fn(T) -> bool) -> R,
) -> R
where
    T: Serialize + serde::de::DeserializeOwned,
{
    if !world.is_first() {
        return world.follow(|caller| {
            let remote = Remote { caller, hand: Mutex::default() };
            follow(&remote, &|news| {
                let answer: Option<Answer> = caller.ask(&Question::Tell(news));
                answer.is_some_and(|(_, goes_on)| goes_on)
            })
        });
    }
    let mut goes_on = true;
    let answer = |question: Question<T>| -> Answer {
        match question {
            Question::Tell(news) => {
                goes_on &= hear(news);
                (Vec::new(), goes_on)
            }
            Question::Deal => {
                let fair = deck.left() / (8 * world.size() as u64);
                let numbers = (0..fair.clamp(1, MOST_AT_A_TIME)).map_while(|_| deck.next());
                (if goes_on { numbers.collect() } else { Vec::new() }, goes_on)
            }
        }
    };
    world.lead(answer, || lead(deck))
}

/// A dealer that gets its numbers from the first rank.
struct Remote<'a> {
    caller: &'a Caller<'a>,
    hand: Mutex<Hand>,
}

#[derive(Default)]
struct Hand {
    numbers: VecDeque<u64>,
    is_last: bool,
}

impl Dealer for Remote<'_> {
    fn next(&self) -> Option<u64> {
        let mut hand = self.hand.lock().unwrap_or_else(PoisonError::into_inner);
        if hand.numbers.is_empty() && !hand.is_last {
            let answer: Option<Answer> = self.caller.ask(&Question::<()>::Deal);
            hand.numbers.extend(answer.map(|(numbers, _)| numbers).unwrap_or_default());
            hand.is_last = hand.numbers.is_empty();
        }
        hand.numbers.pop_front()
    }

    fn left(&self) -> u64 {
        u64::MAX
    }
}
