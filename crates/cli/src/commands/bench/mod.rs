//! `afterstate bench`: speeds, and the signature.
//!
//! A further group of figures is a function that returns [`Figure`]s and a line in [`GROUPS`].

mod rules;
mod signature;

use std::{
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};

use clap::Args;
use serde_json::{Map, json};

use crate::error::Failure;

/// Measure this machine's speed, and print the signature of the program's behaviour
///
/// Speeds are medians of several rounds on one thread. The signature is a number that depends on what the
/// program computes, never on the machine: it changes only when the behaviour does.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate bench\n  \
    afterstate bench --json\n  \
    afterstate bench --signature      only the signature, without timing")]
pub(crate) struct Bench {
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
    /// Print only the signature
    #[arg(long)]
    signature: bool,
}

/// One measured figure.
struct Figure {
    /// Its name in JSON.
    key: &'static str,
    /// What a person reads.
    label: &'static str,
    value: f64,
    unit: Unit,
}

#[derive(Clone, Copy)]
enum Unit {
    PerSecond,
    Ratio,
}

/// A name for the progress line, and how to measure.
type Group = (&'static str, fn() -> Vec<Figure>);

/// What is measured, in order.
const GROUPS: &[Group] = &[("slides", rules::slides), ("random games", rules::games)];

impl Bench {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut object = Map::new();
        let groups = if self.signature { &[] } else { GROUPS };
        for (name, measure) in groups {
            let figures = while_saying(name, measure);
            for figure in &figures {
                object.insert(figure.key.into(), json!(figure.value));
                if !self.json {
                    writeln!(out, "{:<42} {:>12}", figure.label, figure.text())?;
                }
            }
            out.flush()?;
        }
        let signature = while_saying("the signature", signature::signature);
        object.insert("signature".into(), json!(signature));
        if self.json {
            writeln!(out, "{}", json!(object))?;
        } else {
            writeln!(out, "signature: {signature}")?;
        }
        Ok(())
    }
}

/// Works with a line on the terminal that says at what.
fn while_saying<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let mut terminal = stderr();
    if !terminal.is_terminal() {
        return work();
    }
    // Progress that cannot be shown is no reason to stop.
    let _ = write!(terminal, "measuring {name} …");
    let result = work();
    let _ = write!(terminal, "\r\x1b[K");
    result
}

impl Figure {
    fn text(&self) -> String {
        match self.unit {
            Unit::Ratio => format!("{:.3}   ", self.value),
            Unit::PerSecond if self.value >= 1e6 => format!("{:.1} M/s", self.value / 1e6),
            Unit::PerSecond => format!("{:.1} k/s", self.value / 1e3),
        }
    }
}

/// Times rounds of several pieces of work, taking turns so that they meet the same disturbances, and
/// gives each one's median rate. A piece of work returns how many operations it did.
fn median_rates<const K: usize>(mut work: [&mut dyn FnMut() -> u64; K]) -> [f64; K] {
    // Shorter than a scheduler's time slice: most rounds are undisturbed even on a busy machine.
    const ROUNDS: usize = 301;
    const ROUND: Duration = Duration::from_millis(2);
    let mut rates = [const { Vec::new() }; K];
    for _ in 0..ROUNDS {
        for (work, rates) in work.iter_mut().zip(&mut rates) {
            let start = Instant::now();
            let mut operations = 0;
            while start.elapsed() < ROUND {
                operations += work();
            }
            rates.push(operations as f64 / start.elapsed().as_secs_f64());
        }
    }
    rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[ROUNDS / 2]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_count_operations_in_time() {
        let mut slow = || {
            std::thread::sleep(Duration::from_millis(2));
            10
        };
        let [rate] = median_rates([&mut slow]);
        assert!((500.0..=5000.0).contains(&rate), "{rate}: ten operations take at least 2 ms");
    }
}
