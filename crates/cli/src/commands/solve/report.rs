//! Results, as a table or as JSON.

use std::io::Write;

use afterstate_solver::{Evaluation, Objective, Solution};
use serde_json::{Map, Value, json};

use crate::{error::Failure, format::thousands};

/// A solved game, and the value of optimal play.
pub(super) struct Solved<'a, const N: usize> {
    pub(super) solution: &'a Solution<N>,
    pub(super) evaluation: &'a Evaluation<N>,
    pub(super) seconds: f64,
}

impl<const N: usize> Solved<'_, N> {
    pub(super) fn write(&self, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
        if as_json { Ok(writeln!(out, "{}", self.json())?) } else { self.table(out) }
    }

    /// The mean score of optimal play: by backward induction if the score was the objective.
    fn expected_score(&self) -> f64 {
        match self.solution.objective() {
            Objective::Score => self.solution.expected(),
            Objective::Goal(_) => self.evaluation.expected_score,
        }
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "board": format!("{N}x{N}"),
            "expected_score": self.expected_score(),
            "sd": self.evaluation.sd,
            "expected_moves": self.evaluation.expected_moves,
            "states": self.solution.states(),
            "afterstates": self.solution.afterstates(),
            "tiles": tiles_json(self.evaluation),
            "seconds": self.seconds,
        });
        if let Objective::Goal(exponent) = self.solution.objective() {
            object["goal"] = json!(1u32 << exponent);
            object["probability"] = json!(self.solution.expected());
        }
        object
    }

    fn table(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let rules = self.solution.rules();
        writeln!(out, "{N}×{N}, a new tile is a 4 with probability {}", rules.four)?;
        writeln!(out)?;
        if let Objective::Goal(exponent) = self.solution.objective() {
            let probability = percent(self.solution.expected());
            writeln!(out, "The best chance of a {}-tile: {probability}; games end there", 1u32 << exponent)?;
        }
        writeln!(out, "score        mean {:.2}, sd {:.2}", self.expected_score(), self.evaluation.sd)?;
        writeln!(out, "moves        mean {:.2}", self.evaluation.expected_moves)?;
        writeln!(out, "states       {} up to symmetry", thousands(self.solution.states()))?;
        writeln!(out, "afterstates  {}", thousands(self.solution.afterstates()))?;
        write_tiles(self.evaluation, out)?;
        Ok(writeln!(out, "time         {:.1} s", self.seconds)?)
    }
}

/// A map from tiles to the probability of reaching at least that tile.
pub(super) fn tiles_json<const N: usize>(evaluation: &Evaluation<N>) -> Value {
    let tiles = evaluation.tiles.iter().enumerate();
    Value::Object(tiles.map(|(i, &p)| ((2u32 << i).to_string(), json!(p))).collect::<Map<_, _>>())
}

/// The tiles from the first one that is not certain.
pub(super) fn write_tiles<const N: usize>(
    evaluation: &Evaluation<N>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "tile         probability that a game reaches it")?;
    for (i, &probability) in evaluation.tiles.iter().enumerate() {
        if probability < 1.0 - 1e-9 {
            writeln!(out, "{:<12} {:>12}", 2u32 << i, percent(probability))?;
        }
    }
    Ok(())
}

fn percent(probability: f64) -> String {
    format!("{:.6}%", 100.0 * probability)
}
