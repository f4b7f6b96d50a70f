//! The logs that a run writes: `log.jsonl` and `eval.jsonl`, with a JSON object on each line.
//!
//! Every file that grows line by line is a [`Log`]; all others are written whole, by
//! [`write_atomically`](afterstate_network::file::atomic::write_atomically).

mod file;
mod seal;

use afterstate_learning::{StepSizeSpec, rate_factor};
use serde::{Deserialize, Serialize};

use crate::{
    recipe::Learning,
    stats::{EvalReport, TileRates},
};

pub(crate) use file::is_at;
pub use file::{Header, Log, LogError, Repaired, read_lines};

/// A line of a kind of log.
pub trait Line: Serialize + serde::de::DeserializeOwned {
    /// The name of the lines in the log's header.
    const KIND: &'static str;

    /// Whether this is the header of such a log from before checksums were introduced.
    fn is_old_header(_: &serde_json::Map<String, serde_json::Value>) -> bool {
        false
    }
}

impl Line for LogLine {
    const KIND: &'static str = "training";
}

impl Line for EvalLine {
    const KIND: &'static str = "evaluations";
}

/// A report of training. Rates and scores cover the time since the previous line; games are episodes that were
/// played from the beginning.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LogLine {
    /// The moves made so far.
    pub actions: u64,
    /// The episodes finished so far, wherever they began.
    pub episodes: u64,
    /// The seconds of training so far, excluding evaluations and interruptions.
    pub seconds: f64,
    /// The share of the budget used, from 0 to 1.
    pub budget_share: f64,
    /// Moves per second, over all threads.
    pub moves_per_second: f64,
    /// The mean score of the games; `None` if no game ended.
    pub mean_score: Option<f64>,
    /// The highest score of the games; `None` if no game ended.
    pub max_score: Option<u64>,
    /// The share of the games that reached at least each tile.
    pub tiles: TileRates,
    /// The share of the time that games paused for merges with other replicas, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_share: Option<f64>,
    /// The bytes of changes merged per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_bytes_per_second: Option<f64>,
    /// The current learning rate.
    #[serde(flatten)]
    pub rate: Rate,
    /// How well the network does on records, where they teach it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// How well a network does on the records that teach it. Error and accuracy are of the records since the line before.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fit {
    /// The mean loss on the records that were learned from, before learning from them: cross entropy for policies, half the
    /// squared error in units of 1024 points for values.
    pub error: f64,
    /// The share of their moves that the network gave; none for values.
    pub accuracy: Option<f64>,
    /// The mean loss on records that are never learned from.
    pub held_out_error: Option<f64>,
    /// The share of their moves that the network gives.
    pub held_out_accuracy: Option<f64>,
}

/// The current learning rate, with its schedule applied.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rate {
    /// The rate of a fixed step size.
    Alpha(f64),
    /// The factor on the rates of temporal coherence.
    Beta(f64),
    /// The meta-learning rate of Autostep.
    Mu(f64),
    /// The rate of learning from records.
    Rate(f64),
}

impl Rate {
    /// The rate at a share of the budget. A second phase has no schedule, and neither has Autostep.
    pub(crate) fn at(learning: &Learning, share: f64) -> Rate {
        let factor = rate_factor(&learning.schedule, share);
        let is_second_phase = learning.step_size.is_second_phase(share);
        match learning.step_size {
            StepSizeSpec::FixedThenCoherence { beta, .. } if is_second_phase => Rate::Beta(beta),
            StepSizeSpec::Fixed { alpha } | StepSizeSpec::FixedThenCoherence { alpha, .. } => {
                Rate::Alpha(alpha * factor)
            }
            StepSizeSpec::TemporalCoherence { beta, .. } => Rate::Beta(beta * factor),
            StepSizeSpec::Autostep { mu, .. } => Rate::Mu(mu),
        }
    }
}

/// An evaluation during training.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvalLine {
    /// The moves of training before it.
    pub actions: u64,
    /// The games of training before it.
    pub episodes: u64,
    /// The result, in the format of `eval --json`.
    #[serde(flatten)]
    pub report: EvalReport,
}

/// The evaluations at the last evaluated point of training, one for each search.
pub fn last_evaluations(lines: &[EvalLine]) -> Vec<EvalLine> {
    let last = lines.last().map(|line| line.actions);
    lines.iter().filter(|line| Some(line.actions) == last).cloned().collect()
}

/// The searches of evaluations, in order of first occurrence.
pub fn searches(lines: &[EvalLine]) -> Vec<&str> {
    let mut searches: Vec<&str> = Vec::new();
    for line in lines {
        if !searches.contains(&line.report.search.as_str()) {
            searches.push(&line.report.search);
        }
    }
    searches
}

#[cfg(test)]
mod tests;
