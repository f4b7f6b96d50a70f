//! Where a policy loses against optimal play.
//!
//! A policy's total loss against the optimum is the sum, over the boards that it reaches,
//! of the probability of reaching the board times the loss of its move there. Each board therefore has
//! a share of the total loss.

use afterstate_game::{Move, State};

use crate::{Solution, solution::best_of, word::Word};

/// The number of boards kept.
const WORST: usize = 10;

/// The loss of a policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Regret<const N: usize> {
    /// The mean loss against optimal play.
    pub total: f64,
    /// The probability, over the moves made, that a move is a mistake.
    pub mistakes: f64,
    /// The most costly boards, with images of one another combined, the worst first.
    pub worst: Vec<Mistake<N>>,
}

/// A board on which a policy makes a mistake.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mistake<const N: usize> {
    /// The board; of its images, the one that costs most.
    pub state: State<N>,
    /// The move of the policy.
    pub played: Move,
    /// The best move.
    pub best: Move,
    /// The loss of the move against the best one.
    pub regret: f64,
    /// The expected number of times that a game makes this mistake.
    pub probability: f64,
    /// The mean cost: the mistake's share of the total loss.
    pub loss: f64,
}

/// Mistakes being collected for a [`Regret`].
pub(crate) struct Losses<const N: usize> {
    /// Those of the current layer, with their canonical boards.
    layer: Vec<(Word<N>, Mistake<N>)>,
    worst: Vec<Mistake<N>>,
    total: f64,
    moves: f64,
    mistaken: f64,
}

impl<const N: usize> Default for Losses<N> {
    fn default() -> Self {
        Losses { layer: Vec::new(), worst: Vec::new(), total: 0.0, moves: 0.0, mistaken: 0.0 }
    }
}

impl<const N: usize> Losses<N> {
    /// Evaluates a move.
    pub(crate) fn visit(&mut self, optimum: &Solution<N>, state: State<N>, played: Move, probability: f64) {
        self.moves += probability;
        let values = optimum.move_values(state);
        let Some(((best, most), value)) = best_of(&values).zip(values[played as usize]) else { return };
        let regret = most - value;
        if regret > 0.0 {
            let mistake = Mistake { state, played, best, regret, probability, loss: probability * regret };
            self.layer.push((Word::pack(&state.board()).canonical(), mistake));
        }
    }

    /// Adds the mistakes that another thread has found in the same layer.
    pub(crate) fn extend(&mut self, other: Self) {
        self.moves += other.moves;
        self.layer.extend(other.layer);
    }

    /// Combines images of the same board; these occur in no other layer.
    pub(crate) fn end_layer(&mut self) {
        self.layer.sort_by_key(|&(word, _)| word);
        for images in self.layer.chunk_by(|a, b| a.0 == b.0) {
            let most = images.iter().map(|image| image.1).reduce(|a, b| if b.loss > a.loss { b } else { a });
            let Some(most) = most else { continue };
            let probability = images.iter().map(|image| image.1.probability).sum();
            let loss = images.iter().map(|image| image.1.loss).sum();
            self.total += loss;
            self.mistaken += probability;
            self.worst.push(Mistake { probability, loss, ..most });
        }
        self.layer.clear();
        self.worst.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        self.worst.truncate(WORST);
    }

    pub(crate) fn finish(self) -> Regret<N> {
        let mistakes = if self.moves > 0.0 { self.mistaken / self.moves } else { 0.0 };
        Regret { total: self.total, mistakes, worst: self.worst }
    }
}
