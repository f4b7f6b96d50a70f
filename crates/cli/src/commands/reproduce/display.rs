//! The progress of a table on stderr: a bar on terminals, a line for each training elsewhere.

use std::io::{IsTerminal, Write, stderr};

use crate::format::thousands;
use afterstate_lab::stats::Summary;
use afterstate_papers::reproduce::{
    TablePlan,
    work::{Event, Job, Trained},
};
use indicatif::{ProgressBar, ProgressStyle};

/// The number of steps of a training on the bar.
const STEPS: u64 = 1000;

/// The progress display.
pub(super) struct Display<'a> {
    plan: &'a TablePlan,
    /// `None` if there is no terminal.
    bar: Option<ProgressBar>,
    /// The finished share of each job.
    shares: Vec<f64>,
    done: usize,
}

impl<'a> Display<'a> {
    pub(super) fn new(plan: &'a TablePlan) -> Self {
        let jobs = plan.trainings.len() * plan.seeds() as usize;
        let bar = || {
            let bar = ProgressBar::new(jobs as u64 * STEPS);
            let style = ProgressStyle::with_template("{bar:40.cyan} {percent:>3}%  {eta} left  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
            bar
        };
        Display { plan, bar: stderr().is_terminal().then(bar), shares: vec![0.0; jobs], done: 0 }
    }

    pub(super) fn show(&mut self, job: Job, event: Event) {
        let name = format!("{}, seed {}", self.plan.trainings[job.training].name, job.seed);
        let index = job.training * self.plan.seeds() as usize + job.seed as usize - 1;
        // Playing counts as a tenth of a job.
        let (share, text) = match event {
            Event::Training(share) => (0.9 * share, format!("training {name}")),
            Event::Playing(entrant, ended, games) => {
                (0.9 + 0.1 * ended as f64 / games as f64, format!("playing {name}, {entrant}"))
            }
            Event::Done(trained) => {
                self.done += 1;
                let jobs = self.shares.len();
                self.print(&format!("[{}/{jobs}] {name}: {}", self.done, self.summary(job, &trained)));
                (1.0, String::new())
            }
            Event::Warning(text) => return self.print(&format!("warning: {name}: {text}; it continues")),
        };
        self.shares[index] = share;
        if let Some(bar) = &self.bar {
            bar.set_position((self.shares.iter().sum::<f64>() * STEPS as f64) as u64);
            bar.set_message(text);
        }
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn summary(&self, job: Job, trained: &Trained) -> String {
        let recipe = &self.plan.trainings[job.training].recipe;
        let (side, what) = (recipe.game.side, if recipe.lesson.is_some() { "records" } else { "actions" });
        let record = trained.record;
        let mut text = format!("{} {what} in {:.1} s", thousands(record.actions), record.seconds);
        for (player, games) in &trained.games {
            if let Some(summary) = Summary::of(side, games) {
                text += &format!(", {player} {}", thousands(summary.score.mean.round() as u64));
            }
        }
        text
    }

    /// Prints a permanent line.
    fn print(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            // The work continues even if progress cannot be shown.
            None => {
                let _ = writeln!(stderr(), "{text}");
            }
        }
    }
}
