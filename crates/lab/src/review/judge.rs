//! Moves and games, judged.

use afterstate_endgame::Match;
use afterstate_game::{Move, State};
use afterstate_search::Advice;
use serde::Serialize;

use super::chance::{Chance, Reference};

/// The accuracy is what is left of the chance after so many moves like those of the game.
pub const ACCURACY_MOVES: u32 = 10;

/// What a move keeps at least of the chance to be good, an inaccuracy, a mistake; one that keeps less is a blunder.
const KEPT: [f64; 3] = [0.98, 0.95, 0.85];

/// Where there is no chance to go by: what a move loses of the best one's value, at most.
const LOST: [f32; 3] = [0.01, 0.03, 0.1];

/// A chance that is never quite gone: one blunder does not decide on a whole game.
const LEAST_KEPT: f64 = 1e-3;

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

    /// What it is called.
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

/// What a move loses of the exact chance of an endgame.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Regret {
    /// The endgame in words.
    pub endgame: String,
    /// The chance with the best move.
    pub best: f64,
    /// The chance with the move that was made.
    pub made: f64,
    /// What it lost.
    pub regret: f64,
}

impl Regret {
    /// What the first of the tables that know both the best move and this one says of it.
    pub fn of(matches: &[Match<'_>], a: Move) -> Option<Regret> {
        let found = matches.iter().find_map(|known| Some((known, known.best()?, known.chances[a as usize]?)));
        let (known, best, made) = found?;
        let (best, made) = (f64::from(best), f64::from(made));
        Some(Regret { endgame: known.table.endgame().words(), best, made, regret: best - made })
    }
}

/// A move, judged.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// The points that it is worth less than the best one.
    pub loss: f32,
    /// The chance of the next large tile with each move, on 4×4.
    pub chance: Option<Chance>,
    /// The share of the best move's chance that it keeps.
    pub kept: Option<f64>,
    /// Its grade.
    pub grade: Grade,
    /// Whether there was another move.
    pub is_choice: bool,
    /// What it loses of an exact chance, where a table knows.
    pub regret: Option<Regret>,
}

impl Judged {
    /// The same, but where a table knows the chances exactly, they decide.
    pub fn with_regret(self, regret: Option<Regret>) -> Self {
        let Some(known) = regret.as_ref().filter(|regret| regret.best > 0.0) else {
            return Judged { regret, ..self };
        };
        let kept = known.made / known.best;
        let grade = if known.regret <= 0.0 { Grade::Best } else { Grade::by_kept(kept) };
        Judged { kept: Some(kept), grade, regret, ..self }
    }
}

/// Judges a legal move by the advice of a player of values; chances need what the player expects of new games.
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
    let grade = match kept {
        _ if loss <= 0.0 => Grade::Best,
        Some(kept) => Grade::by_kept(kept),
        // Where hardly anything is to come, hardly anything is lost.
        None => Grade::by_lost(loss / best.abs().max(16.0)),
    };
    Judged { loss, chance, kept, grade, is_choice: state.legal_moves().count() > 1, regret: None }
}

/// The accuracy of a game as its moves come in.
#[derive(Clone, Copy, Default, Debug)]
pub struct Accuracy {
    logarithms: f64,
    moves: u64,
}

impl Accuracy {
    /// Adds a move; those without a choice do not count.
    pub fn add(&mut self, judged: &Judged) {
        if let Some(kept) = judged.kept.filter(|_| judged.is_choice) {
            self.logarithms += kept.max(LEAST_KEPT).ln();
            self.moves += 1;
        }
    }

    /// The accuracy, from 0 to 100; `None` without moves to go by.
    pub fn percent(&self) -> Option<f64> {
        let mean = (self.moves > 0).then(|| self.logarithms / self.moves as f64)?;
        Some(100.0 * (mean * f64::from(ACCURACY_MOVES)).exp())
    }
}

/// A game as a whole.
#[derive(Clone, Default, Debug)]
pub struct Summary {
    /// How much is left of the chances.
    pub accuracy: Accuracy,
    /// The number of moves of each grade.
    pub grades: [u64; 5],
    /// The number of moves whose chances a table knows.
    pub exact_moves: u64,
    /// What these lost of their chances, in all.
    pub regret: f64,
    /// How bad each move was, by its grade and what it lost.
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

    /// The numbers of the worst moves, the worst one first; those that lost nothing are none of them.
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
        Judged { loss: 1.0, chance: None, kept: Some(kept), grade, is_choice: true, regret: None }
    }

    #[test]
    fn exact_chances_decide() {
        let regret =
            |best: f64, made: f64| Some(Regret { endgame: "512".into(), best, made, regret: best - made });
        let good = judged(0.3).with_regret(regret(0.8, 0.8));
        assert_eq!((good.grade, good.kept), (Grade::Best, Some(1.0)));
        let bad = judged(1.0).with_regret(regret(0.8, 0.4));
        assert_eq!((bad.grade, bad.kept), (Grade::Blunder, Some(0.5)));
        // Where all is lost, a table says nothing of the move.
        assert_eq!(judged(0.97).with_regret(regret(0.0, 0.0)).grade, Grade::Inaccuracy);
        let mut summary = Summary::default();
        [good, bad, judged(0.9)].iter().for_each(|judged| summary.add(judged));
        assert!(summary.exact_moves == 2 && (summary.regret - 0.4).abs() < 1e-9);
    }

    #[test]
    fn accuracy_is_what_ten_such_moves_leave() {
        let mut accuracy = Accuracy::default();
        assert_eq!(accuracy.percent(), None);
        (0..7).for_each(|_| accuracy.add(&judged(0.95)));
        let left = 100.0 * 0.95f64.powi(10);
        assert!((accuracy.percent().expect("moves") - left).abs() < 1e-9);
        accuracy.add(&Judged { is_choice: false, ..judged(0.0) });
        assert!((accuracy.percent().expect("moves") - left).abs() < 1e-9, "no choice, no blame");
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
