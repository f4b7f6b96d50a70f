//! Grading moves and games.

use afterstate_endgame::Match;
use afterstate_game::{Move, State};
use afterstate_search::Advice;
use serde::Serialize;

use super::chance::{Chance, Reference};

/// The minimum share of the chance that a good move, an inaccuracy and a mistake keep; a blunder keeps less.
const KEPT: [f64; 3] = [0.98, 0.95, 0.85];

/// Without a chance to go by: the maximum share of the best move's value that each grade loses.
const LOST: [f32; 3] = [0.01, 0.03, 0.1];

/// There is no accuracy until random moves would have lost this much of the chance: about ten moves.
const LEAST_AT_STAKE: f64 = 0.01;

/// How good a move is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// None is better.
    Best,
    /// Hardly anything is lost.
    Good,
    /// Something is lost.
    Inaccuracy,
    /// Much is lost.
    Mistake,
    /// Very much is lost.
    Blunder,
}

impl Grade {
    /// All grades, the best one first.
    pub const ALL: [Grade; 5] = [Grade::Best, Grade::Good, Grade::Inaccuracy, Grade::Mistake, Grade::Blunder];

    /// Its name.
    pub fn name(self) -> &'static str {
        ["best", "good", "inaccuracy", "mistake", "blunder"][self as usize]
    }

    fn by_kept(kept: f64) -> Grade {
        let worse = KEPT.iter().filter(|least| kept < **least).count();
        Grade::ALL[1 + worse]
    }

    fn by_lost(share: f32) -> Grade {
        let worse = LOST.iter().filter(|most| share >= **most).count();
        Grade::ALL[1 + worse]
    }
}

/// A move's loss of an endgame's exact chance.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Regret {
    /// The endgame in words.
    pub endgame: String,
    /// The chance with the best move.
    pub best: f64,
    /// The chance with the move made.
    pub made: f64,
    /// The difference.
    pub regret: f64,
}

impl Regret {
    /// The loss by the first table that knows both the best move and this one.
    pub fn of(matches: &[Match<'_>], a: Move) -> Option<Regret> {
        let found = matches.iter().find_map(|known| Some((known, known.best()?, known.chances[a as usize]?)));
        let (known, best, made) = found?;
        let (best, made) = (f64::from(best), f64::from(made));
        Some(Regret { endgame: known.table.endgame().words(), best, made, regret: best - made })
    }
}

/// A graded move.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// Its loss of value against the best move, in points.
    pub loss: f32,
    /// The chance of the next large tile with each move, on 4×4.
    pub chance: Option<Chance>,
    /// The share of the best move's chance that it keeps.
    pub kept: Option<f64>,
    /// How much of the chance it loses against the best move, and how much a random move loses on average.
    pub lost: Option<Lost>,
    /// Its grade.
    pub grade: Grade,
    /// Whether there was another move.
    pub is_choice: bool,
    /// Its loss of an exact chance, if a table knows it.
    pub regret: Option<Regret>,
}

impl Judged {
    /// Lets the exact chances of a table, if known, decide the grade.
    pub fn with_regret(self, regret: Option<Regret>) -> Self {
        let Some(known) = regret.as_ref().filter(|regret| regret.best > 0.0) else {
            return Judged { regret, ..self };
        };
        let kept = known.made / known.best;
        let grade = if known.regret <= 0.0 { Grade::Best } else { Grade::by_kept(kept) };
        Judged { kept: Some(kept), grade, regret, ..self }
    }
}

/// Losses of a chance, from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Lost {
    /// By the move made.
    pub by_move: f64,
    /// By a random legal move, on average.
    pub at_random: f64,
}

/// Grades a legal move by the advice of a player with values; chances need the player's expectation for new games.
pub fn judge<const N: usize>(
    state: State<N>,
    a: Move,
    advice: &Advice,
    reference: Option<Reference>,
) -> Judged {
    let best = advice.value();
    let value = advice.values[a as usize].unwrap_or_default();
    let loss = (best - value).max(0.0);
    let chance = reference.and_then(|reference| Chance::of(state, advice, reference));
    let kept = chance.as_ref().and_then(|chance| chance.kept(a));
    let lost = chance.as_ref().and_then(|chance| chance.lost(a));
    let grade = match kept {
        _ if loss <= 0.0 => Grade::Best,
        Some(kept) => Grade::by_kept(kept),
        // If little score is left, little can be lost.
        None => Grade::by_lost(loss / best.abs().max(16.0)),
    };
    Judged { loss, chance, kept, lost, grade, is_choice: state.legal_moves().count() > 1, regret: None }
}

/// The running accuracy of a game: of the chance that random moves would have lost in its positions, the
/// share that its own moves kept.
#[derive(Clone, Copy, Default, Debug)]
pub struct Accuracy {
    by_moves: f64,
    at_random: f64,
}

impl Accuracy {
    /// Adds a move. A forced move loses nothing, and has nothing at stake.
    pub fn add(&mut self, judged: &Judged) {
        if let Some(lost) = judged.lost {
            self.by_moves += lost.by_move;
            self.at_random += lost.at_random;
        }
    }

    /// The accuracy, from 0 to 100; play worse than random also has 0. `None` if little was at stake.
    pub fn percent(&self) -> Option<f64> {
        let is_known = self.at_random >= LEAST_AT_STAKE;
        is_known.then(|| 100.0 * (1.0 - self.by_moves / self.at_random).max(0.0))
    }
}

/// The summary of a game.
#[derive(Clone, Default, Debug)]
pub struct Summary {
    /// How much of the chances its moves kept.
    pub accuracy: Accuracy,
    /// The number of moves of each grade.
    pub grades: [u64; 5],
    /// The number of moves with exact chances from a table.
    pub exact_moves: u64,
    /// The total that these lost of their chances.
    pub regret: f64,
    /// How bad each move was: its grade and its loss.
    badness: Vec<(Grade, f64)>,
}

impl Summary {
    /// Adds a move.
    pub fn add(&mut self, judged: &Judged) {
        self.accuracy.add(judged);
        self.grades[judged.grade as usize] += 1;
        self.exact_moves += u64::from(judged.regret.is_some());
        self.regret += judged.regret.as_ref().map_or(0.0, |regret| regret.regret);
        let lost = judged.kept.map_or(f64::from(judged.loss), |kept| 1.0 - kept);
        self.badness.push((judged.grade, lost));
    }

    /// The numbers of the worst moves, worst first, without those that lost nothing.
    pub fn worst(&self, most: usize) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.badness.len()).filter(|&i| self.badness[i].0 > Grade::Best).collect();
        order.sort_by(|&a, &b| self.badness[b].1.total_cmp(&self.badness[a].1));
        order.truncate(most);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kept: f64) -> Judged {
        let grade = Grade::by_kept(kept);
        Judged { loss: 1.0, chance: None, kept: Some(kept), lost: None, grade, is_choice: true, regret: None }
    }

    #[test]
    fn exact_chances_decide() {
        let regret =
            |best: f64, made: f64| Some(Regret { endgame: "512".into(), best, made, regret: best - made });
        let good = judged(0.3).with_regret(regret(0.8, 0.8));
        assert_eq!((good.grade, good.kept), (Grade::Best, Some(1.0)));
        let bad = judged(1.0).with_regret(regret(0.8, 0.4));
        assert_eq!((bad.grade, bad.kept), (Grade::Blunder, Some(0.5)));
        // In a lost position, a table says nothing about the move.
        assert_eq!(judged(0.97).with_regret(regret(0.0, 0.0)).grade, Grade::Inaccuracy);
        let mut summary = Summary::default();
        [good, bad, judged(0.9)].iter().for_each(|judged| summary.add(judged));
        assert!(summary.exact_moves == 2 && (summary.regret - 0.4).abs() < 1e-9);
    }

    #[test]
    fn accuracy_is_measured_by_moves_at_random() {
        let lost = |by_move, at_random| Judged { lost: Some(Lost { by_move, at_random }), ..judged(1.0) };
        let mut accuracy = Accuracy::default();
        accuracy.add(&lost(0.0, 0.001));
        assert_eq!(accuracy.percent(), None, "hardly anything was at stake");
        (0..10).for_each(|_| accuracy.add(&lost(0.01, 0.04)));
        accuracy.add(&lost(0.0, 0.099));
        assert!((accuracy.percent().expect("moves") - 80.0).abs() < 1e-9);
        accuracy.add(&lost(0.9, 0.3));
        assert_eq!(accuracy.percent(), Some(0.0), "worse than at random");
    }

    #[test]
    fn grades_follow_what_is_kept() {
        let grades: Vec<_> = [1.0, 0.98, 0.97, 0.9, 0.5].map(Grade::by_kept).into();
        assert_eq!(grades, [Grade::Good, Grade::Good, Grade::Inaccuracy, Grade::Mistake, Grade::Blunder]);
        let mut summary = Summary::default();
        [0.9, 0.5, 0.99].map(judged).iter().for_each(|judged| summary.add(judged));
        assert_eq!((summary.worst(2), summary.grades), (vec![1, 0], [0, 1, 0, 1, 1]));
    }
}
