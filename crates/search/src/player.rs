//! Players: anything that can value each move.

use std::time::Duration;

use afterstate_game::{Move, Moves, State};
use serde::{Serialize, Serializer, ser::SerializeMap};

/// A player's evaluation of a state.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Advice {
    /// The value of each move by number: its reward plus the expected score after it; `None` if it is illegal. A policy
    /// has probabilities, plus votes, instead of scores.
    pub values: [Option<f32>; 4],
    /// The output of a policy, which expects no score.
    pub policy: Option<PolicyAdvice>,
    /// The number of moves that the player looked ahead.
    pub plies: u32,
    /// The number of afterstates that were evaluated.
    pub evaluated: u64,
    /// How long it took.
    pub time: Duration,
}

/// The output of a policy, by move number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PolicyAdvice {
    /// The probability of each move: the mean over the boards evaluated.
    pub probabilities: [f32; 4],
    /// The number of symmetric boards that vote for each move, if they vote.
    pub votes: Option<[u8; 4]>,
}

impl Advice {
    /// The move with the largest value, the first one on ties; `None` if the game is over.
    pub fn best(&self) -> Option<Move> {
        // Starts from a legal move, so that NaN values cannot lead to an illegal one.
        let legal = Move::ALL.into_iter().filter_map(|a| Some((a, self.values[a as usize]?)));
        legal.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(a, _)| a)
    }

    /// The value of the best move: the score expected from here on. 0 if the game is over.
    pub fn value(&self) -> f32 {
        self.best().and_then(|a| self.values[a as usize]).unwrap_or_default()
    }

    /// Restricts figures to the legal moves.
    fn of_legal<T: Copy>(&self, figures: [T; 4]) -> ByMove<T> {
        ByMove(Move::ALL.map(|a| self.values[a as usize].map(|_| figures[a as usize])))
    }
}

/// The format of `afterstate advise --json` and the server. `expected` is null for a policy.
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

/// A figure for each move, serialized by move name; null where there is none.
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

    /// The preferred number of games in step, so that [`advise_all`](Self::advise_all) sees their states together.
    fn games_in_step(&self) -> usize {
        1
    }

    /// The values of the moves of several states, one of each game. A state's values do not depend on the others.
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
