//! `[learning]`: targets, their order, and step sizes.

use afterstate_learning::{
    EpsilonGreedy, StepSizeSpec, TargetSpec, rate_factor,
    target::{Backward, DelayedTdLambda, NStep, TdLambda},
};
use afterstate_network::Values;
use serde::Serialize;

use super::{document::Document, running::MOST};

const DOWNGRADE: &str = "learning.downgrade";

/// How the weights are learned.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Learning {
    /// What a value is moved towards, and when.
    #[serde(flatten)]
    pub target: TargetSpec,
    /// How far a value is moved.
    #[serde(flatten)]
    pub step_size: StepSizeSpec,
    /// Which moves are made in self-play.
    #[serde(flatten)]
    pub policy: EpsilonGreedy,
    /// The tile from which on the moves of self-play are those of downgraded boards; 0 for never.
    pub downgrade: u64,
    /// The directory of endgame tables in which episodes end; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub endgame: String,
    /// W: what the goal of an endgame is worth, in points; an afterstate with a chance P is worth P·W.
    #[serde(skip_serializing_if = "is_zero")]
    pub endgame_value: f64,
    /// From which share of the budget on the rate is multiplied by which factor, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<(f64, f64)>,
}

impl Learning {
    /// The key of the learning rate at a share of the budget, the rate, and what the schedule multiplies it by there. A second
    /// phase has no schedule, and neither has Autostep.
    pub fn rate_at(&self, share: f64) -> (&'static str, f64, f64) {
        let factor = rate_factor(&self.schedule, share);
        let is_second_phase = self.step_size.is_second_phase(share);
        match self.step_size {
            StepSizeSpec::FixedThenCoherence { beta, .. } if is_second_phase => ("learning.beta", beta, 1.0),
            StepSizeSpec::Fixed { alpha } | StepSizeSpec::FixedThenCoherence { alpha, .. } => {
                ("learning.alpha", alpha, factor)
            }
            StepSizeSpec::TemporalCoherence { beta, .. } => ("learning.beta", beta, factor),
            StepSizeSpec::Autostep { mu, .. } => ("learning.mu", mu, 1.0),
        }
    }

    /// Reads the section, for a network with values of some kind and so many active features.
    pub(super) fn read(doc: &mut Document, values: Values, features: usize) -> Self {
        let orders =
            [("forward", Order::Forward), ("delayed", Order::Delayed), ("backward", Order::Backward)];
        let order = doc.choice("learning.order", &orders);
        let target = doc.choice("learning.target", &[("td", td as ReadTarget), ("n-step", n_step)]);
        let target = target(doc, order);
        let step_sizes: [(_, ReadStepSize); 4] =
            [("tc", tc), ("fixed", fixed), ("otd+tc", otd_tc), ("autostep", autostep)];
        let mut step_size = doc.choice("learning.step_size", &step_sizes)(doc);
        if let StepSizeSpec::Fixed { alpha } = &mut step_size
            && doc.one_of(&["learning.alpha", WEIGHT_ALPHA]) == Some(WEIGHT_ALPHA)
        {
            *alpha = weight_alpha(doc, features);
        }
        let expected = "a probability from 0 to 1";
        let epsilon = doc.read("learning.epsilon", 0.0, expected, |epsilon| (0.0..=1.0).contains(epsilon));
        let random_ties = doc.choice("learning.ties", &[("first", false), ("random", true)]);
        let expected = "a number of points, 0 for none";
        let temperature = doc.read("learning.temperature", 0.0, expected, |temperature| *temperature >= 0.0);
        if temperature > 0.0 && (epsilon > 0.0 || random_ties) {
            let reason = "softmax already draws among all moves: leave learning.epsilon and learning.ties";
            doc.impossible("learning.temperature", reason);
        }
        let is_tile = |tile: &u64| *tile == 0 || tile.is_power_of_two() && (4..=131_072).contains(tile);
        let downgrade = doc.read(DOWNGRADE, 0, "a tile from 4 to 131072, 0 for never", is_tile);
        if downgrade > 0 && values != Values::Afterstates {
            doc.impossible(DOWNGRADE, "it is for values of afterstates");
        }
        let (endgame, endgame_value) = endgame(doc, values);
        let expected =
            "a list of [share, factor] with rising shares between 0 and 1 and factors above 0, at most 1000";
        let schedule = doc.read("learning.schedule", Vec::new(), expected, |steps| is_schedule(steps));
        let policy = EpsilonGreedy { epsilon, random_ties, temperature };
        Learning { target, step_size, policy, downgrade, endgame, endgame_value, schedule }
    }
}

/// Endgame tables as teachers, and what their goals are worth.
fn endgame(doc: &mut Document, values: Values) -> (String, f64) {
    let tables = doc.read("learning.endgame", String::new(), "a directory of endgame tables", |_| true);
    let expected = "a number of points above 0, 0 for none";
    let value = doc.read("learning.endgame_value", 0.0, expected, |value| (0.0..1e9).contains(value));
    if tables.is_empty() != (value == 0.0) {
        doc.impossible("learning.endgame_value", "learning.endgame and what its goals are worth go together");
    }
    if !tables.is_empty() && values != Values::Afterstates {
        doc.impossible("learning.endgame", "it is for values of afterstates");
    }
    (tables, value)
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

fn is_schedule(steps: &[(f64, f64)]) -> bool {
    let inside = |&(from, factor): &(f64, f64)| from > 0.0 && from < 1.0 && factor > 0.0 && factor <= 1000.0;
    steps.iter().all(inside) && steps.is_sorted_by(|a, b| a.0 < b.0)
}

/// When the states of an episode are updated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// At each move, all states within the horizon.
    Forward,
    /// Each state once, when the last error within its horizon is known: jaskowski-2016, Algorithm 3.
    Delayed,
    /// After the episode, from its last state to its first.
    Backward,
}

type ReadTarget = fn(&mut Document, Order) -> TargetSpec;
type ReadStepSize = fn(&mut Document) -> StepSizeSpec;

fn td(doc: &mut Document, order: Order) -> TargetSpec {
    doc.refuse("learning.n", "learning.target", r#"it belongs to target = "n-step""#);
    let lambda = doc.read("learning.lambda", 0.0, "a number from 0 to 1", |l| (0.0..=1.0).contains(l));
    let key = "learning.horizon";
    let (expected, longest) = ("a whole number of states, at most 10000", 10_000);
    let horizon = if order == Order::Backward {
        doc.refuse(key, "learning.order", r#"order = "backward" goes through the whole episode"#);
        0
    } else if lambda == 0.0 {
        if doc.read(key, 0usize, expected, |h| *h <= longest) > 0 {
            doc.refuse(key, "learning.lambda", "with lambda = 0 no error reaches an earlier state");
        }
        0
    } else {
        if lambda == 1.0 && !doc.is_given(key) {
            doc.impossible("learning.lambda", "lambda = 1 has no default horizon; give learning.horizon too");
        }
        doc.read(key, TdLambda::default_horizon(lambda).min(longest), expected, |h| *h <= longest)
    };
    let lambda = lambda as f32;
    match order {
        Order::Forward => TargetSpec::TdLambda(TdLambda { lambda, horizon }),
        Order::Delayed => TargetSpec::DelayedTdLambda(DelayedTdLambda { lambda, horizon }),
        Order::Backward => TargetSpec::Backward(Backward { lambda }),
    }
}

fn n_step(doc: &mut Document, order: Order) -> TargetSpec {
    for key in ["learning.lambda", "learning.horizon"] {
        doc.refuse(key, "learning.target", r#"it belongs to target = "td""#);
    }
    let reason = match order {
        Order::Forward => None,
        Order::Delayed => Some(r#"target = "n-step" already waits n moves for its target"#),
        Order::Backward => Some(r#"order = "backward" forms its targets with lambda, by target = "td""#),
    };
    if let Some(reason) = reason {
        doc.impossible("learning.order", reason);
    }
    TargetSpec::NStep(NStep {
        n: doc.read("learning.n", 1, "a whole number from 1 to 1000", |n| (1..=1000).contains(n)),
    })
}

/// The keys of step sizes, and those which have them.
const STEP_SIZE_KEYS: [(&str, &[&str]); 7] = [
    ("learning.alpha", &["fixed", "otd+tc", "autostep"]),
    (WEIGHT_ALPHA, &["fixed"]),
    ("learning.beta", &["tc", "otd+tc"]),
    ("learning.tc_reset", &["tc", "otd+tc"]),
    ("learning.tc_share", &["otd+tc"]),
    ("learning.mu", &["autostep"]),
    ("learning.tau", &["autostep"]),
];

/// Refuses the keys that belong to other step sizes.
fn refuse_others(doc: &mut Document, step_size: &str) {
    for (key, owners) in STEP_SIZE_KEYS.into_iter().filter(|(_, owners)| !owners.contains(&step_size)) {
        let owners: Vec<_> = owners.iter().map(|owner| format!("{owner:?}")).collect();
        doc.refuse(key, "learning.step_size", &format!("it belongs to step_size = {}", owners.join(" or ")));
    }
}

fn alpha(doc: &mut Document, default: f64) -> f64 {
    doc.read("learning.alpha", default, "a number above 0, at most 1", is_rate)
}

const WEIGHT_ALPHA: &str = "learning.weight_alpha";

/// α of a value from that of each weight: its weights share what it moves by.
fn weight_alpha(doc: &mut Document, features: usize) -> f64 {
    let m = features as f64;
    let expected = format!("a number above 0, at most 1/{features}, for {features} weights in a value");
    m * doc.read(WEIGHT_ALPHA, 0.1 / m, &expected, |alpha| is_rate(&(m * alpha)))
}

fn beta(doc: &mut Document) -> f64 {
    doc.read("learning.beta", 1.0, "a number above 0, at most 1", is_rate)
}

fn fixed(doc: &mut Document) -> StepSizeSpec {
    refuse_others(doc, "fixed");
    StepSizeSpec::Fixed { alpha: alpha(doc, 0.1) }
}

fn tc(doc: &mut Document) -> StepSizeSpec {
    refuse_others(doc, "tc");
    StepSizeSpec::TemporalCoherence { beta: beta(doc), reset: tc_reset(doc) }
}

fn tc_reset(doc: &mut Document) -> u64 {
    doc.read("learning.tc_reset", 0, "a number of actions up to 10^18, 0 for never", |n| *n <= MOST)
}

fn otd_tc(doc: &mut Document) -> StepSizeSpec {
    refuse_others(doc, "otd+tc");
    let expected = "a share of the budget above 0 and below 1";
    let tc_share = doc.read("learning.tc_share", 0.1, expected, |share| *share > 0.0 && *share < 1.0);
    let (alpha, beta, reset) = (alpha(doc, 0.1), beta(doc), tc_reset(doc));
    StepSizeSpec::FixedThenCoherence { alpha, beta, tc_share, reset }
}

fn autostep(doc: &mut Document) -> StepSizeSpec {
    refuse_others(doc, "autostep");
    StepSizeSpec::Autostep {
        mu: doc.read("learning.mu", 0.1, "a number above 0, at most 1", is_rate),
        tau: doc.read("learning.tau", 0.0001, "a number above 0, at most 1", is_rate),
        alpha: alpha(doc, 1.0),
    }
}

fn is_rate(rate: &f64) -> bool {
    *rate > 0.0 && *rate <= 1.0
}
