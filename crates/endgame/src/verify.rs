//! Checks a table by its own definition: positions solved again, spawn by spawn and move by move.

use afterstate_game::Rules;

use crate::{Position, Precision, Table, TableError, space::NO_SHAPE};

/// What a check of a table found.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// The number of positions that were solved again.
    pub positions: u64,
    /// The largest difference, counted in steps of the table's precision.
    pub largest: f64,
    /// A position that differs by more than rounding, with its chance in the table and the one found.
    pub wrong: Option<(Position, f32, f32)>,
}

/// Rounded chances give a rounded chance: so many steps.
const TOLERANCE: f64 = 1.5;

impl Table {
    /// Checks every byte of the table, and solves some positions of each layer again from the layers that they lead to. Where goals count
    /// what a network says, positions that a goal is one move away from are left out.
    ///
    /// # Errors
    /// When a layer is damaged.
    pub fn verify(&self, positions: u64) -> Result<Verified, TableError> {
        self.check()?;
        let mut verified = Verified::default();
        let every = (self.positions() / positions.max(1)).max(1) as usize;
        for (sum, _) in self.layers() {
            let window = self.window(sum, 3)?;
            for (position, chance) in self.sample(sum, every)? {
                let Some(found) = self.solve_again(position, &window) else { continue };
                let steps = self.steps_between(chance, found);
                verified.positions += 1;
                verified.largest = verified.largest.max(steps);
                if steps > TOLERANCE && verified.wrong.is_none() {
                    verified.wrong = Some((position, chance, found));
                }
            }
            self.forget(sum);
        }
        Ok(verified)
    }

    /// The chance of a position by those that it leads to; `None` where that is a goal of unknown value.
    fn solve_again(&self, position: Position, window: &crate::Window) -> Option<f32> {
        let space = self.space();
        let word = space.orient(position.0);
        let empty: Vec<_> = (0..16).filter(|cell| position_at(word, *cell) == 0).collect();
        let four = Rules::default().four;
        let mut sum = 0.0;
        for cell in &empty {
            for (tile, probability) in [(1, 1.0 - four), (2, four)] {
                let state = word | tile << (4 * cell);
                let slides =
                    (0..4).map(|direction| space.slide(state, direction)).filter(|&after| after != state);
                let allowed =
                    slides.filter(|&after| space.by_walls[usize::from(Position(after).walls())] != NO_SHAPE);
                let mut best: f32 = 0.0;
                for after in allowed {
                    best = best.max(match (space.is_goal(after), self.tiles()) {
                        (true, Some(_)) => return None,
                        (true, None) => 1.0,
                        (false, _) => window.chance(self, Position(space.orient(after))).unwrap_or_default(),
                    });
                }
                sum += probability * f64::from(best);
            }
        }
        Some((sum / empty.len() as f64) as f32)
    }

    /// How many steps of the table's precision lie between two chances.
    fn steps_between(&self, a: f32, b: f32) -> f64 {
        match self.precision() {
            Precision::F32 => f64::from((a - b).abs()) / 1e-6,
            precision => f64::from(precision.code(a).abs_diff(precision.code(b))),
        }
    }
}

fn position_at(word: u64, cell: usize) -> u64 {
    word >> (4 * cell) & 15
}
