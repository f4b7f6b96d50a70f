//! `[start]`: where episodes begin.

use afterstate_learning::{
    StartSpec,
    start::{Carousel, Restart, StageByStage},
};
use serde::Serialize;

use super::{Network, document::Document};

/// Where episodes begin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Start {
    /// With a new game.
    Fresh,
    /// Carousel shaping, in one stage after the other: jaskowski-2016, Algorithm 5.
    Carousel {
        /// The number of episodes in a stage before the next one's turn.
        games_per_stage: u64,
        /// The number of initial states that are kept of each stage.
        kept: usize,
        /// The stage in which the carousel begins, from 0; those before it do not learn.
        first_stage: usize,
        /// The stage in which it ends, where an episode that leaves it ends too; none for the last one.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_stage: Option<usize>,
        /// The file with the positions that it begins with (`afterstate eval --collect`); empty for none.
        #[serde(skip_serializing_if = "String::is_empty")]
        positions: String,
    },
    /// In the middle of the episode just played: Matsuzaki 2017, terauchi-2025, section 5.2.
    Restart {
        /// The number of restarts after a new game, at most.
        restarts: u32,
        /// The number of moves that an episode must have for a restart.
        shortest: u64,
    },
    /// At the first states of the last stage, which alone learns: guei-2021, section IV.C.2.
    Stage {
        /// The number of first states that are collected.
        collected: usize,
        /// The number of restarts after an episode that began at one of them, at most.
        #[serde(skip_serializing_if = "is_zero")]
        restarts: u32,
        /// The number of moves that an episode must have for a restart; 0 without restarts.
        #[serde(skip_serializing_if = "is_zero")]
        shortest: u64,
    },
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

impl Start {
    /// What the trainer is told.
    pub fn spec(&self) -> StartSpec {
        match self {
            Start::Fresh => StartSpec::Fresh,
            &Start::Carousel { games_per_stage, kept, first_stage, last_stage, ref positions } => {
                let given = !positions.is_empty();
                StartSpec::Carousel(Carousel { games_per_stage, kept, first_stage, last_stage, given })
            }
            &Start::Restart { restarts, shortest } => StartSpec::Restart(Restart { restarts, shortest }),
            &Start::Stage { collected, restarts, shortest } => {
                StartSpec::StageByStage(StageByStage { collected, restart: Restart { restarts, shortest } })
            }
        }
    }

    pub(super) fn read(doc: &mut Document, network: &Network, side: usize) -> Self {
        let kinds =
            [("fresh", "fresh"), ("carousel", "carousel"), ("restart", "restart"), ("stage", "stage")];
        let kind = doc.choice("start.kind", &kinds);
        for (key, owners, reason) in KEYS {
            if !owners.contains(&kind) {
                doc.refuse(key, "start.kind", reason);
            }
        }
        let start = match kind {
            "carousel" => Start::Carousel {
                games_per_stage: number(doc, "start.games_per_stage", 1),
                kept: number(doc, "start.kept", 1000) as usize,
                first_stage: doc.read("start.first_stage", 0, "the number of a stage, from 0", |_| true),
                last_stage: doc.read("start.last_stage", None, "the number of a stage, from 0", |_| true),
                positions: doc.read("start.positions", String::new(), "a file of positions", |_| true),
            },
            "restart" => Start::Restart {
                restarts: number(doc, "start.restarts", 10) as u32,
                shortest: number(doc, "start.shortest", 10),
            },
            "stage" => by_stage(doc),
            _ => Start::Fresh,
        };
        let (begins_later, ends_earlier) = match start {
            Start::Carousel { first_stage, last_stage, .. } => (first_stage > 0, last_stage.is_some()),
            _ => (false, false),
        };
        if let Some(reason) = network.spec(side).ok().and_then(|spec| start.spec().refusal(&spec)) {
            let key = match (ends_earlier, begins_later) {
                (true, _) => "start.last_stage",
                (false, true) => "start.first_stage",
                (false, false) => "start.kind",
            };
            doc.impossible(key, reason);
        } else if kind == "stage" && network.from.is_empty() {
            let reason = "all stages but the last one come from a trained model; give network.from";
            doc.impossible("start.kind", reason);
        } else if begins_later && network.from.is_empty() {
            let reason = "the stages before it come from a trained model; give network.from";
            doc.impossible("start.first_stage", reason);
        }
        start
    }
}

/// Training by stages, with restarts if requested.
fn by_stage(doc: &mut Document) -> Start {
    let collected = number(doc, "start.collected", 10_000) as usize;
    let expected = "a whole number up to 1000000, 0 for none";
    let restarts = doc.read("start.restarts", 0, expected, |n| *n <= 1_000_000);
    let shortest = if restarts > 0 { number(doc, "start.shortest", 10) } else { 0 };
    if restarts == 0 {
        doc.refuse("start.shortest", "start.restarts", "without restarts no episode is too short for one");
    }
    Start::Stage { collected, restarts, shortest }
}

/// The keys, the kinds that each belongs to, and what to say beside another kind.
const KEYS: [(&str, &[&str], &str); 8] = [
    ("start.games_per_stage", &["carousel"], r#"it belongs to kind = "carousel""#),
    ("start.kept", &["carousel"], r#"it belongs to kind = "carousel""#),
    ("start.restarts", &["restart", "stage"], r#"it belongs to kind = "restart" or "stage""#),
    ("start.shortest", &["restart", "stage"], r#"it belongs to kind = "restart" or "stage""#),
    ("start.collected", &["stage"], r#"it belongs to kind = "stage""#),
    ("start.first_stage", &["carousel"], r#"it belongs to kind = "carousel""#),
    ("start.last_stage", &["carousel"], r#"it belongs to kind = "carousel""#),
    ("start.positions", &["carousel"], r#"it belongs to kind = "carousel""#),
];

fn number(doc: &mut Document, key: &'static str, default: u64) -> u64 {
    doc.read(key, default, "a whole number from 1 to 1000000", |n| (1..=1_000_000).contains(n))
}
