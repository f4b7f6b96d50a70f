//! The progress of a run on stderr: a bar on terminals, an occasional line elsewhere.

use std::{
    io::{IsTerminal, Write, stderr},
    time::{Duration, Instant},
};

use afterstate_lab::{
    chain::StepStatus,
    log::{EvalLine, Fit, LogLine},
    run::{Observer, RunError, Status},
    stats::Tally,
};
use indicatif::{ProgressBar, ProgressStyle};

use super::tiles;
use crate::format::{counted, duration, percent, thousands, whole};

/// The interval of plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// The length of the bar in steps.
const STEPS: u64 = 1000;

/// The progress display of a run.
pub(in crate::commands) struct Display {
    /// `None` if there is no terminal.
    bar: Option<ProgressBar>,
    line: Option<Instant>,
    /// The step of a chain.
    step: Option<StepStatus>,
}

impl Display {
    pub(in crate::commands) fn new() -> Self {
        let bar = || {
            let bar = ProgressBar::new(STEPS);
            let style = ProgressStyle::with_template("{bar:40.cyan} {percent:>3}%  {prefix}\n{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
            bar
        };
        Display { bar: stderr().is_terminal().then(bar), line: None, step: None }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// The remaining time of a step, and of its chain.
    fn left(&self, seconds: f64) -> String {
        let own = format!("{} left", duration(seconds));
        let Some(StepStatus { name, number, count, seconds_after }) = &self.step else { return own };
        let all = seconds_after.map(|after| format!(", {} in all", duration(seconds + after)));
        format!("{own}{} · step {number} of {count}, {name}", all.unwrap_or_default())
    }

    /// Prints a permanent line.
    pub(super) fn print(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            // Training continues even if progress cannot be shown.
            None => {
                let _ = writeln!(stderr(), "{text}");
            }
        }
    }

    /// Shows temporary text beside the bar.
    fn say(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_prefix(text);
        }
    }
}

impl Observer for Display {
    fn begins(&mut self, step: &StepStatus) {
        let StepStatus { name, number, count, seconds_after } = step;
        let after = seconds_after.filter(|_| number < count);
        let after = after.map(|after| format!(", then about {}", duration(after))).unwrap_or_default();
        self.print(&format!("step {number} of {count}: {name}{after}"));
        (self.step, self.line) = (Some(step.clone()), None);
    }

    fn collecting(&mut self, ended: &Tally, games: u64) {
        let (count, mean) = (ended.games(), thousands(ended.mean_score().unwrap_or_default() as u64));
        if let Some(bar) = &self.bar {
            bar.set_position(STEPS * count / games.max(1));
            bar.set_prefix(self.step.as_ref().map(|step| step.name.clone()).unwrap_or_default());
            bar.set_message(format!("collecting positions: {count} of {games} games, mean {mean}"));
        } else if self.line.is_none_or(|before| before.elapsed() >= PLAIN_EVERY) {
            self.line = Some(Instant::now());
            self.print(&format!("collecting positions: {count} of {games} games, mean {mean}"));
        }
    }

    fn training(&mut self, status: &Status) {
        let Some(bar) = &self.bar else { return };
        bar.set_position((STEPS as f64 * status.share) as u64);
        bar.set_prefix(self.left(status.seconds_left));
        let recent = &status.recent;
        let mut text = format!("{} actions · ", thousands(status.progress.actions));
        if status.progress.episodes > 0 {
            text += &format!("{} · ", counted(status.progress.episodes, "game"));
        }
        text += &pace(status.moves_per_second);
        if let (Some(mean), Some(max)) = (recent.mean_score(), recent.max_score()) {
            text += &format!(
                "\nlast {}: mean {}, max {} · {}",
                counted(recent.games(), "game"),
                whole(mean),
                thousands(max),
                tiles(&status.tiles)
            );
        }
        bar.set_message(text);
    }

    fn logged(&mut self, line: &LogLine) {
        let due = self.line.is_none_or(|before| before.elapsed() >= PLAIN_EVERY) || line.budget_share >= 1.0;
        if let Some(bar) = &self.bar {
            bar.set_position((STEPS as f64 * line.budget_share) as u64);
        }
        if self.bar.is_some() || !due {
            return;
        }
        self.line = Some(Instant::now());
        let mut text = format!("{:>5.1}%  {} actions  ", 100.0 * line.budget_share, thousands(line.actions));
        match &line.fit {
            Some(fit) => text += &format!("{}  ", describe(fit)),
            None => text += &format!("{}  ", counted(line.episodes, "game")),
        }
        text += &pace(line.moves_per_second);
        if let (Some(mean), Some(max)) = (line.mean_score, line.max_score) {
            text += &format!("  mean {}  max {}", whole(mean), thousands(max));
            text += &format!("  {}", tiles(&line.tiles));
        }
        self.print(&text);
    }

    fn evaluating(&mut self, ended: &Tally, games: u64) {
        let mean = ended.mean_score().unwrap_or_default();
        let (ended, games) = (thousands(ended.games()), counted(games, "game"));
        self.say(format!("evaluating: {ended} of {games}, mean {}", whole(mean)));
    }

    fn evaluated(&mut self, line: &EvalLine) {
        self.print(&format!(
            "evaluation after {} actions, {}: mean {} ± {}, {}",
            thousands(line.actions),
            line.report.search,
            whole(line.report.score.mean),
            whole(line.report.score.ci95.unwrap_or_default()),
            tiles(&line.report.tiles)
        ));
    }

    fn saving(&mut self) {
        self.say("saving".to_owned());
    }

    fn warning(&mut self, error: &RunError) {
        self.print(&format!("warning: {error}; training continues"));
    }
}

/// How well a network does on records.
fn describe(fit: &Fit) -> String {
    let of = |error: f64, accuracy: Option<f64>| {
        let accuracy = accuracy.map(|accuracy| format!(", accuracy {}", percent(accuracy)));
        format!("error {error:.4}{}", accuracy.unwrap_or_default())
    };
    let held_out =
        fit.held_out_error.map(|error| format!("; held out: {}", of(error, fit.held_out_accuracy)));
    of(fit.error, fit.accuracy) + &held_out.unwrap_or_default()
}

/// A speed: self-play makes millions of moves in a second, and convolutional networks learn from thousands of records.
fn pace(moves_per_second: f64) -> String {
    match moves_per_second {
        fast if fast >= 1e5 => format!("{:.2} M moves/s", fast / 1e6),
        slow => format!("{} moves/s", thousands(slow as u64)),
    }
}
