//! Play by a policy network (kondo-2019, section 4.3).

use std::{fmt, str::FromStr, time::Instant};

use afterstate_game::{Board, Move, Moves, State, Symmetry};
use afterstate_search::{Advice, Player, PolicyAdvice};

use crate::{Architecture, Dcnn, ValuePlayer, Work, dcnn::IN_STEP, loss::softmax, spec::SpecError};

/// How the outputs of a network determine a move, among the legal ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Play {
    /// The most probable move of the board itself.
    Plain,
    /// The move that most of the eight symmetric boards find most probable; on ties, the one with
    /// the largest sum of probabilities.
    #[default]
    MajorityVote,
    /// The move with the largest sum of probabilities over the eight symmetric boards.
    Sum,
}

/// An unknown way to play.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a way for a DCNN to play: use majority, plain or sum")]
pub struct PlayError(String);

impl FromStr for Play {
    type Err = PlayError;

    fn from_str(text: &str) -> Result<Self, PlayError> {
        let known = [Play::Plain, Play::MajorityVote, Play::Sum];
        known.into_iter().find(|play| play.to_string() == text).ok_or_else(|| PlayError(text.into()))
    }
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Play::Plain => "plain",
            Play::MajorityVote => "majority",
            Play::Sum => "sum",
        })
    }
}

/// A player by a policy network. The values in its advice, by which it chooses, are not scores: for plain play they are
/// probabilities, for the sum the mean of eight probabilities, and for the majority vote that mean plus the number of
/// votes.
#[derive(Clone)]
pub struct PolicyPlayer<'a> {
    net: &'a Dcnn,
    play: Play,
    work: Work,
}

impl<'a> PolicyPlayer<'a> {
    /// Creates a player with this network.
    ///
    /// # Errors
    /// If it is not a policy network.
    pub fn new(net: &'a Dcnn, play: Play) -> Result<Self, SpecError> {
        net.spec().check_outputs(4)?;
        Ok(PolicyPlayer::unchecked(net, play))
    }

    fn unchecked(net: &'a Dcnn, play: Play) -> Self {
        PolicyPlayer { net, play, work: Work::default() }
    }

    /// The number of boards evaluated for a move.
    fn images(&self) -> usize {
        if self.play == Play::Plain { 1 } else { Symmetry::ALL.len() }
    }

    /// The boards to evaluate, beginning with the state itself.
    fn boards(&self, state: State<4>) -> impl Iterator<Item = Board<4>> + use<> {
        Symmetry::ALL.into_iter().take(self.images()).map(move |symmetry| state.board().image(symmetry))
    }
}

/// The advice for a state, given the outputs for its boards.
fn read(play: Play, state: State<4>, outputs: &[f32]) -> Advice {
    let boards = outputs.chunks_exact(4).zip(Symmetry::ALL).map(|(outputs, symmetry)| {
        let seen = softmax(outputs);
        Move::ALL.map(|a| seen[symmetry.image(a) as usize])
    });
    judge(play, state.legal_moves(), &boards.collect::<Vec<_>>())
}

/// The advice, given the probabilities of each symmetric board, mapped to the moves of the state itself.
fn judge(play: Play, legal: Moves, boards: &[[f32; 4]]) -> Advice {
    let mut probabilities = [0.0; 4];
    for board in boards {
        for (sum, probability) in probabilities.iter_mut().zip(board) {
            *sum += probability / boards.len() as f32;
        }
    }
    let votes = (play == Play::MajorityVote).then(|| votes(legal, boards));
    let value = |a: Move| probabilities[a as usize] + votes.map_or(0.0, |votes| f32::from(votes[a as usize]));
    let values = Move::ALL.map(|a| legal.contains(a).then(|| value(a)));
    Advice { values, policy: Some(PolicyAdvice { probabilities, votes }), ..Advice::default() }
}

/// For each move, the number of boards that find it the most probable legal one.
fn votes(legal: Moves, boards: &[[f32; 4]]) -> [u8; 4] {
    let mut votes = [0; 4];
    for board in boards {
        let best = legal.reduce(|best, a| if board[a as usize] > board[best as usize] { a } else { best });
        best.iter().for_each(|&best| votes[best as usize] += 1);
    }
    votes
}

impl Player<4> for PolicyPlayer<'_> {
    fn advise(&mut self, state: State<4>) -> Advice {
        let start = Instant::now();
        let boards: Vec<_> = self.boards(state).collect();
        let advice = read(self.play, state, self.net.forward(&boards, &mut self.work));
        Advice { evaluated: boards.len() as u64, time: start.elapsed(), ..advice }
    }

    fn games_in_step(&self) -> usize {
        IN_STEP / self.images()
    }

    fn advise_all(&mut self, states: &[State<4>]) -> Vec<Advice> {
        let (start, images) = (Instant::now(), self.images());
        let boards: Vec<_> = states.iter().flat_map(|&state| self.boards(state)).collect();
        let outputs = self.net.forward_in_step(&boards, &mut self.work);
        let time = start.elapsed() / states.len().max(1) as u32;
        let each = states.iter().zip(outputs.chunks_exact(4 * images));
        let advice = each.map(|(&state, outputs)| read(self.play, state, outputs));
        advice.map(|advice| Advice { evaluated: images as u64, time, ..advice }).collect()
    }
}

/// A player with any network: by a policy, or greedily by values.
#[derive(Clone)]
pub enum DcnnPlayer<'a> {
    /// By a policy.
    Policy(PolicyPlayer<'a>),
    /// By a value.
    Value(ValuePlayer<'a>),
}

impl<'a> DcnnPlayer<'a> {
    /// Creates a player with this network.
    pub fn new(net: &'a Dcnn, play: Play) -> Self {
        match net.spec().architecture {
            Architecture::Dcnn { .. } => DcnnPlayer::Policy(PolicyPlayer::unchecked(net, play)),
            Architecture::Tjwei { .. } => DcnnPlayer::Value(ValuePlayer::unchecked(net)),
        }
    }

    /// Uses these buffers for its passes, which may be on another device.
    pub fn with(mut self, work: Work) -> Self {
        match &mut self {
            DcnnPlayer::Policy(player) => player.work = work,
            DcnnPlayer::Value(player) => player.work = work,
        }
        self
    }
}

impl Player<4> for DcnnPlayer<'_> {
    fn advise(&mut self, state: State<4>) -> Advice {
        match self {
            DcnnPlayer::Policy(player) => player.advise(state),
            DcnnPlayer::Value(player) => player.advise(state),
        }
    }

    fn games_in_step(&self) -> usize {
        match self {
            DcnnPlayer::Policy(player) => player.games_in_step(),
            DcnnPlayer::Value(player) => player.games_in_step(),
        }
    }

    fn advise_all(&mut self, states: &[State<4>]) -> Vec<Advice> {
        match self {
            DcnnPlayer::Policy(player) => player.advise_all(states),
            DcnnPlayer::Value(player) => player.advise_all(states),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(play: Play, legal: Moves, probabilities: &[[f32; 4]]) -> Option<Move> {
        judge(play, legal, probabilities).best()
    }

    #[test]
    fn votes_count_before_probabilities_and_probabilities_break_ties() {
        let state: State<4> = "1230/0000/0100/0000".parse().expect("a board");
        let legal = state.legal_moves();
        assert_eq!(legal.count(), 4);
        // Five uncertain votes for up against three certain ones for down.
        let mut boards = [[0.4, 0.3, 0.3, 0.0]; 8];
        boards[5..].fill([0.0, 0.0, 1.0, 0.0]);
        assert_eq!(best(Play::MajorityVote, legal, &boards), Some(Move::Up));
        assert_eq!(best(Play::Sum, legal, &boards), Some(Move::Down));
        boards[4..].fill([0.0, 0.0, 1.0, 0.0]);
        assert_eq!(best(Play::MajorityVote, legal, &boards), Some(Move::Down), "four against four");
        assert_eq!(best(Play::Plain, legal, &boards[..1]), Some(Move::Up));
    }

    #[test]
    fn illegal_moves_have_no_votes() {
        let state: State<4> = "1230/0000/0000/0000".parse().expect("a board");
        let boards = [[0.9, 0.04, 0.03, 0.03]; 8];
        for play in [Play::Plain, Play::MajorityVote, Play::Sum] {
            assert_eq!(best(play, state.legal_moves(), &boards), Some(Move::Right), "{play}: up is illegal");
        }
    }
}
