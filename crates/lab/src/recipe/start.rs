//! `[start]`: where episodes begin.

use afterstate_learning::{
    StartSpec,
    start::{Carousel, Restart, StageByStage},
};
use serde::Serialize;

use super::{Network, document::Document};

/// Where episodes begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
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
    },
}

impl Start {
    /// What the trainer is told.
    pub fn spec(&self) -> StartSpec {
        match *self {
            Start::Fresh => StartSpec::Fresh,
            Start::Carousel { games_per_stage, kept, first_stage } => {
                StartSpec::Carousel(Carousel { games_per_stage, kept, first_stage })
            }
            Start::Restart { restarts, shortest } => StartSpec::Restart(Restart { restarts, shortest }),
            Start::Stage { collected } => StartSpec::StageByStage(StageByStage { collected }),
        }
    }

    pub(super) fn read(doc: &mut Document, network: &Network, side: usize) -> Self {
        let kinds =
            [("fresh", "fresh"), ("carousel", "carousel"), ("restart", "restart"), ("stage", "stage")];
        let kind = doc.choice("start.kind", &kinds);
        for (key, owner, reason) in KEYS {
            if owner != kind {
                doc.refuse(key, "start.kind", reason);
            }
        }
        let start = match kind {
            "carousel" => Start::Carousel {
                games_per_stage: number(doc, KEYS[0].0, 1),
                kept: number(doc, KEYS[1].0, 1000) as usize,
                first_stage: doc.read(KEYS[5].0, 0, "the number of a stage, from 0", |_| true),
            },
            "restart" => Start::Restart {
                restarts: number(doc, KEYS[2].0, 10) as u32,
                shortest: number(doc, KEYS[3].0, 10),
            },
            "stage" => Start::Stage { collected: number(doc, KEYS[4].0, 10_000) as usize },
            _ => Start::Fresh,
        };
        let begins_later = matches!(start, Start::Carousel { first_stage: 1.., .. });
        if let Some(reason) = network.spec(side).ok().and_then(|spec| start.spec().refusal(&spec)) {
            doc.impossible(if begins_later { KEYS[5].0 } else { "start.kind" }, reason);
        } else if kind == "stage" && network.from.is_empty() {
            let reason = "all stages but the last one come from a trained model; give network.from";
            doc.impossible("start.kind", reason);
        } else if begins_later && network.from.is_empty() {
            let reason = "the stages before it come from a trained model; give network.from";
            doc.impossible(KEYS[5].0, reason);
        }
        start
    }
}

/// The keys, the kind that each belongs to, and what to say beside another kind.
const KEYS: [(&str, &str, &str); 6] = [
    ("start.games_per_stage", "carousel", r#"it belongs to kind = "carousel""#),
    ("start.kept", "carousel", r#"it belongs to kind = "carousel""#),
    ("start.restarts", "restart", r#"it belongs to kind = "restart""#),
    ("start.shortest", "restart", r#"it belongs to kind = "restart""#),
    ("start.collected", "stage", r#"it belongs to kind = "stage""#),
    ("start.first_stage", "carousel", r#"it belongs to kind = "carousel""#),
];

fn number(doc: &mut Document, key: &'static str, default: u64) -> u64 {
    doc.read(key, default, "a whole number from 1 to 1000000", |n| (1..=1_000_000).contains(n))
}
