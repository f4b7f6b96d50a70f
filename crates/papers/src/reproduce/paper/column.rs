//! What a column of a table measures.

use serde::Deserialize;

/// What is measured in a column.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The search that plays, as for `eval --search`.
    #[serde(default = "greedy")]
    pub search: String,
    /// The share of games that reach this tile, in percent, instead of the score.
    pub tile: Option<u64>,
    /// The games of 1,000 whose largest tile is within these, instead of the score.
    pub largest: Option<[u64; 2]>,
    /// The policy that plays is that after so many records, where it is not the row's.
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
    /// The highest of the games of training; of a network that is taught, of all its test plays.
    #[serde(rename = "highest score in training")]
    HighestInTraining,
    /// The mean error at the end of a training by records.
    #[serde(rename = "error")]
    Error,
    /// The share of the records' moves that the network gave then.
    #[serde(rename = "accuracy")]
    Accuracy,
    /// The number of weights, which is counted.
    #[serde(rename = "weights")]
    Weights,
    /// The GiB of weights with 64 bits, E and A in two stages (terauchi-2025, Table 2), which are counted.
    #[serde(rename = "memory")]
    Memory,
    /// The seconds of training.
    #[serde(rename = "seconds")]
    Seconds,
}

impl Measure {
    /// Whether nothing is trained for it.
    pub fn is_counted(self) -> bool {
        matches!(self, Measure::Weights | Measure::Memory)
    }
}
