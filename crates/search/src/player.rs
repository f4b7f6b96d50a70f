//! Players: anything that can value each move.

use std::time::Duration;

use afterstate_game::{Move, Moves, State};
use serde::{Serialize, Serializer, ser::SerializeMap};

/// What a player thinks of a state.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Advice {
    /// The value of each move by number: its reward and the score expected after it; `None` where it is illegal. A policy has
    /// probabilities instead of scores, with its votes added.
    pub values: [Option<f32>; 4],
    /// What a policy says of the moves, which expects no score.
    pub policy: Option<PolicyAdvice>,
    /// The number of moves that the player looked ahead.
    pub plies: u32,
    /// The number of afterstates that were evaluated.
    pub evaluated: u64,
    /// How long it took.
    pub time: Duration,
}

/// What a policy says of moves, by their numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PolicyAdvice {
    /// How probable they are: the mean over the boards that were looked at.
    pub probabilities: [f32; 4],
    /// How many of the symmetric boards are for each, where they vote.
    pub votes: Option<[u8; 4]>,
}

impl Advice {
    /// The move with the largest value, the first one of equals; `None` when the game is over.
    pub fn best(&self) -> Option<Move> {
        // From a legal move on, so that values that are no numbers cannot lead to an illegal one.
        let legal = Move::ALL.into_iter().filter_map(|a| Some((a, self.values[a as usize]?)));
        legal.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(a, _)| a)
    }

    /// The value of the best move: the score that is expected from here on. 0 when the game is over.
    pub fn value(&self) -> f32 {
        self.best().and_then(|a| self.values[a as usize]).unwrap_or_default()
    }

    /// Figures of the legal moves.
    fn of_legal<T: Copy>(&self, figures: [T; 4]) -> ByMove<T> {
        ByMove(Move::ALL.map(|a| self.values[a as usize].map(|_| figures[a as usize])))
    }
}

/// As `afterstate advise --json` and the server give it. `expected` is null for a policy.
impl Serialize for Advice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("values", &ByMove(self.values))?;
        map.serialize_entry("best", &self.best().map(Move::name))?;
        map.serialize_entry("expected", &self.policy.is_none().then(|| self.value()))?;
        map.serialize_entry("plies", &self.plies)?;
        map.serialize_entry("evaluated", &self.evaluated)?;
        map.serialize_entry("seconds", &self.time.as_secs_f64())?;
        if let Some(PolicyAdvice { probabilities, votes }) = self.policy {
            map.serialize_entry("probabilities", &self.of_legal(probabilities))?;
            if let Some(votes) = votes {
                map.serialize_entry("votes", &self.of_legal(votes))?;
            }
        }
        map.end()
    }
}

/// A figure of each move, by its name; null where there is none.
pub struct ByMove<T>(pub [Option<T>; 4]);

impl<T: Serialize> Serialize for ByMove<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Move::ALL.iter().map(|&a| (a.name(), &self.0[a as usize])))
    }
}

/// Something that plays.
pub trait Player<const N: usize>: Send {
    /// The values of a state's moves.
    fn advise(&mut self, state: State<N>) -> Advice;

    /// The number of games that are best played in step, so that [`advise_all`](Self::advise_all) sees their states together.
    fn games_in_step(&self) -> usize {
        1
    }

    /// The values of the moves of several states, one of each game. The value of a state does not depend on the others.
    fn advise_all(&mut self, states: &[State<N>]) -> Vec<Advice> {
        states.iter().map(|&state| self.advise(state)).collect()
    }
}

impl<const N: usize, P: Player<N> + ?Sized> Player<N> for Box<P> {
    fn advise(&mut self, state: State<N>) -> Advice {
        (**self).advise(state)
    }

    fn games_in_step(&self) -> usize {
        (**self).games_in_step()
    }

    fn advise_all(&mut self, states: &[State<N>]) -> Vec<Advice> {
        (**self).advise_all(states)
    }
}

/// Values for the legal moves.
pub(crate) fn for_legal(legal: Moves, value: impl Fn(Move) -> f32) -> [Option<f32>; 4] {
    Move::ALL.map(|a| legal.contains(a).then(|| value(a)))
}
