//! Players: whoever can say what each move is worth.

use std::time::Duration;

use afterstate_game::{Move, Moves, State};

/// What a player thinks of a state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Advice {
    /// The value of each move by number: its reward and the score expected after it; `None` where it is illegal.
    pub values: [Option<f32>; 4],
    /// The number of moves that the player looked ahead.
    pub plies: u32,
    /// The number of afterstates that were evaluated.
    pub evaluated: u64,
    /// How long it took.
    pub time: Duration,
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
