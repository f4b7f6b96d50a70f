//! `afterstate bench`: speeds, and the signature.
//!
//! To add a group of figures, write a function that returns [`Figure`]s and add a line to [`GROUPS`].

mod dcnn;
mod networks;
mod rules;
mod search;
mod signature;
mod techniques;

use std::{
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use serde_json::{Map, json};

use crate::error::Failure;

/// Measure this machine's speed, and print the signature of the program's behaviour
///
/// Speeds of the rules are medians of several rounds on one thread; those of training, greedy play and search are of a few
/// seconds each, on one thread and on all. The signature is a number that depends on what the program computes,
/// never on the machine: it changes only when the behaviour does.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate bench                  everything, in about two minutes; training needs 1.5 GiB of memory\n  \
    afterstate bench --only training\n  \
    afterstate bench --json\n  \
    afterstate bench --signature      only the signature, without timing")]
pub(crate) struct Bench {
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
    /// Measure only this; can be repeated
    #[arg(long, value_enum, value_name = "GROUP", conflicts_with = "signature")]
    only: Vec<Kind>,
    /// Print only the signature
    #[arg(long)]
    signature: bool,
}

/// One measured figure.
struct Figure {
    /// Its name in JSON.
    key: String,
    /// The label for people.
    label: String,
    value: f64,
    unit: Unit,
}

#[derive(Clone, Copy)]
enum Unit {
    PerSecond,
    Ratio,
}

/// What can be requested.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The four slides of a board
    Slides,
    /// Random games
    Games,
    /// Training moves
    Training,
    /// Moves of greedy play
    Play,
    /// Training with each technique, beside training without it
    Techniques,
    /// Moves of expectimax search
    Search,
    /// Convolutional networks
    Dcnn,
}

/// A kind, a name for the progress line, and the function that measures it.
type Group = (Kind, &'static str, fn() -> Result<Vec<Figure>, Failure>);

/// The groups, in order.
const GROUPS: &[Group] = &[
    (Kind::Slides, "slides", || Ok(rules::slides())),
    (Kind::Games, "random games", || Ok(rules::games())),
    (Kind::Training, "training, 4x6 TD", networks::train_4x6_td),
    (Kind::Training, "training, 4x6 TC", networks::train_4x6_tc),
    (Kind::Training, "training, 8x6 TC", networks::train_8x6_tc),
    (Kind::Play, "greedy play", networks::play),
    (Kind::Techniques, "what techniques cost", techniques::ratios),
    (Kind::Search, "search", search::search),
    (Kind::Dcnn, "convolutional networks", dcnn::dcnn),
];

impl Bench {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut object = Map::new();
        for (kind, name, measure) in GROUPS {
            if self.signature || !(self.only.is_empty() || self.only.contains(kind)) {
                continue;
            }
            for figure in while_saying(name, measure)? {
                if !self.json {
                    writeln!(out, "{:<50} {:>12}", figure.label, figure.text())?;
                }
                object.insert(figure.key, json!(figure.value));
            }
            out.flush()?;
        }
        let signature = while_saying("the signature", signature::signature)?;
        object.insert("signature".into(), json!(signature));
        if self.json {
            writeln!(out, "{}", json!(object))?;
        } else {
            writeln!(out, "signature: {signature}")?;
        }
        Ok(())
    }
}

/// Runs work while the terminal shows what is being measured.
fn while_saying<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let mut terminal = stderr();
    if !terminal.is_terminal() {
        return work();
    }
    // Failing to show progress is no reason to stop.
    let _ = write!(terminal, "measuring {name} …");
    let result = work();
    let _ = write!(terminal, "\r\x1b[K");
    result
}

impl Figure {
    fn new(key: impl Into<String>, label: impl Into<String>, value: f64, unit: Unit) -> Self {
        Figure { key: key.into(), label: label.into(), value, unit }
    }

    fn text(&self) -> String {
        match self.unit {
            Unit::Ratio => format!("{:.3}   ", self.value),
            Unit::PerSecond if self.value >= 1e7 => format!("{:.1} M/s", self.value / 1e6),
            Unit::PerSecond if self.value >= 1e6 => format!("{:.2} M/s", self.value / 1e6),
            Unit::PerSecond if self.value >= 1e3 => format!("{:.1} k/s", self.value / 1e3),
            Unit::PerSecond => format!("{:.0}   /s", self.value),
        }
    }
}

/// Times rounds of several pieces of work, which alternate so that they meet the same disturbances, and
/// returns each one's median rate. A piece of work returns how many operations it did.
fn median_rates<const K: usize>(mut work: [&mut dyn FnMut() -> u64; K]) -> [f64; K] {
    // Shorter than a scheduler's time slice, so that most rounds are undisturbed even on a busy machine.
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
