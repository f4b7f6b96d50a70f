//! The columns of a table.

use serde::Deserialize;

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The search that plays, as for `eval --search`.
    #[serde(default = "greedy")]
    pub search: String,
    /// Measures the share of games that reach this tile, in percent, instead of the score.
    pub tile: Option<u64>,
    /// Measures the games per 1,000 whose largest tile is in this range, instead of the score.
    pub largest: Option<[u64; 2]>,
    /// The number of records of the policy that plays, if it differs from the row's.
    pub samples: Option<u64>,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// The paper's number of games.
    #[serde(default = "usual_games")]
    pub games: u64,
}

fn greedy() -> String {
    "1ply".to_owned()
}

fn usual_games() -> u64 {
    1000
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub enum Measure {
    /// The mean of the scores.
    #[default]
    #[serde(rename = "mean")]
    Mean,
    /// The highest score.
    #[serde(rename = "highest score")]
    Highest,
    /// The highest score of the training's games; for a network taught by records, of all its test plays.
    #[serde(rename = "highest score in training")]
    HighestInTraining,
    /// The mean error at the end of a training by records.
    #[serde(rename = "error")]
    Error,
    /// The share of the records' moves that the network predicted then.
    #[serde(rename = "accuracy")]
    Accuracy,
    /// The number of weights, computed without training.
    #[serde(rename = "weights")]
    Weights,
    /// The GiB of 64-bit weights, E and A in two stages (terauchi-2025, Table 2), computed without training.
    #[serde(rename = "memory")]
    Memory,
    /// The seconds of training.
    #[serde(rename = "seconds")]
    Seconds,
}

impl Measure {
    /// Whether it needs no training.
    pub fn is_counted(self) -> bool {
        matches!(self, Measure::Weights | Measure::Memory)
    }
}
