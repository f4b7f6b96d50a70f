//! How fast a recipe trains here.

use afterstate_learning::{Budget, Trainer};
use afterstate_network::Network;

use super::RunError;
use crate::recipe::{Recipe, Start};

/// The rate is taken over spans of this many seconds …
const SPAN: f64 = 0.4;
/// … until it rises by less than this from one to the next: at first the system has to find memory.
const SETTLED: f64 = 1.1;
/// After this many seconds it is taken as it is.
pub const LONGEST: f64 = 6.0;

/// Trains for a moment, from nothing, and gives the moves in each second; none when not a move was made.
///
/// # Errors
/// When the recipe cannot be trained.
pub fn moves_per_second(recipe: &Recipe) -> Result<Option<f64>, RunError> {
    let mut recipe = Recipe { budget: Budget::Seconds(LONGEST), start: Start::Fresh, ..recipe.clone() };
    // Without a first value the memory is not written before it is used, and without first weights none are read.
    (recipe.network.initial_value, recipe.network.from) = (vec![0.0], String::new());
    let network = Network::new(recipe.network.spec(recipe.game.side)?)?;
    let mut trainer = Trainer::new(&network, recipe.settings())?;
    let mut spans = Spans::default();
    trainer.run(|now, _| spans.goes_on(now.actions, now.seconds));
    Ok(spans.rate())
}

/// A rate from reports on how much has been done and when, the last one being what counts.
#[derive(Debug, Default)]
pub struct Spans {
    /// What had been done when the span began, and when that was.
    since: (u64, f64),
    /// What has been done at the last report that brought anything, and when that was.
    last: (u64, f64),
    /// The rate of the last whole span.
    rate: Option<f64>,
}

impl Spans {
    /// Takes a report; `false` when the rate has settled. What is done comes in pieces, and a span ends with one of
    /// them, however long it took.
    pub fn goes_on(&mut self, done: u64, seconds: f64) -> bool {
        if done == self.last.0 {
            return true;
        }
        self.last = (done, seconds);
        if seconds - self.since.1 < SPAN {
            return true;
        }
        let before = self.rate.unwrap_or(0.0);
        let rate = (done - self.since.0) as f64 / (seconds - self.since.1);
        (self.rate, self.since) = (Some(rate), self.last);
        rate > SETTLED * before
    }

    /// The rate of the last whole span, or of what was done without one; none when nothing was done.
    pub fn rate(&self) -> Option<f64> {
        let (done, seconds) = self.last;
        self.rate.or((done > 0).then(|| done as f64 / seconds.max(1e-3)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate after these reports, as far as requested.
    fn rate(reports: &[(u64, f64)]) -> Option<f64> {
        let mut spans = Spans::default();
        reports.iter().all(|&(done, seconds)| spans.goes_on(done, seconds));
        spans.rate()
    }

    #[test]
    fn a_rate_is_what_was_done_in_the_time_that_passed() {
        // Spans of 400, 410 and 600 a second: the last is not asked for.
        assert_eq!(rate(&[(100, 0.25), (200, 0.5), (405, 1.0), (705, 1.5)]), Some(410.0), "it has settled");
        assert_eq!(
            rate(&[(100, 0.5), (300, 1.0), (300, 1.2), (510, 1.5)]),
            Some(420.0),
            "it goes on while it rises"
        );
    }

    #[test]
    fn a_piece_that_takes_longer_than_a_span_counts() {
        assert_eq!(rate(&[(0, 0.1), (0, 0.5), (0, 1.9), (1000, 2.0)]), Some(500.0));
        assert_eq!(rate(&[(0, 0.1), (30, 0.2)]), Some(150.0), "nor need there be a whole span");
        assert_eq!(rate(&[(0, 0.1), (0, 7.0)]), None, "nothing was done");
    }
}
