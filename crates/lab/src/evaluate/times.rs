//! How long moves take, and how many boards they evaluate.

use std::time::Duration;

use afterstate_search::Advice;
use serde::{Deserialize, Serialize};

/// The number of bins in which a time doubles: percentiles are exact to 2%.
const STEPS: f64 = 32.0;

/// A histogram of times, with logarithmic bins.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Times {
    counts: Vec<u64>,
    total: Duration,
    longest: Duration,
    nodes: u64,
}

/// The times of moves, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct TimeSummary {
    /// The mean time.
    #[serde(default)]
    pub mean: f64,
    /// The median time.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The longest time.
    pub max: f64,
    /// The mean number of afterstates evaluated for a move.
    #[serde(default)]
    pub nodes: f64,
}

impl Times {
    /// Adds the time and nodes of a move.
    pub fn add_move(&mut self, advice: &Advice) {
        self.nodes += advice.evaluated;
        self.add(advice.time);
    }

    /// Adds a time.
    pub fn add(&mut self, time: Duration) {
        let step = ((time.as_nanos() as f64).max(1.0).log2() * STEPS) as usize;
        if self.counts.len() <= step {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += 1;
        self.total += time;
        self.longest = self.longest.max(time);
    }

    /// Adds the times of another histogram.
    pub fn merge(&mut self, other: &Times) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += other);
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
        self.nodes += other.nodes;
    }

    /// The time that this share of all times does not exceed; `None` if empty.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let total: u64 = self.counts.iter().sum();
        let needed = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let step = self.counts.iter().position(|count| {
            seen += count;
            seen >= needed
        })?;
        let upper = Duration::from_nanos(2f64.powf((step + 1) as f64 / STEPS) as u64);
        Some(upper.min(self.longest))
    }

    /// The reported figures; `None` if empty.
    pub fn summary(&self) -> Option<TimeSummary> {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        let percentile = |share| self.percentile(share).map(milliseconds);
        let moves = self.counts.iter().sum::<u64>() as f64;
        Some(TimeSummary {
            mean: milliseconds(self.total) / moves,
            nodes: self.nodes as f64 / moves,
            p50: percentile(0.5)?,
            p90: percentile(0.9)?,
            p99: percentile(0.99)?,
            max: milliseconds(self.longest),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_to_two_percent() {
        let (mut times, mut others) = (Times::default(), Times::default());
        assert_eq!(times.summary(), None);
        for microseconds in 1..=1000 {
            let half = if microseconds % 2 == 0 { &mut times } else { &mut others };
            half.add(Duration::from_micros(microseconds));
        }
        times.merge(&others);
        for share in [0.01, 0.5, 0.9, 0.99, 1.0] {
            let found = times.percentile(share).expect("some times").as_secs_f64() * 1e6;
            let expected = 1000.0 * share;
            assert!((expected..=expected * 1.023).contains(&found), "{share}: {found}");
        }
        let summary = times.summary().expect("some times");
        assert_eq!((summary.max, summary.mean), (1.0, 0.5005));
    }
}
