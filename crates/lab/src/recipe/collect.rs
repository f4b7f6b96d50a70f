//! `[collect]`: how the positions of `start.positions` are made where there is no such file yet.

use afterstate_search::{Limit, PlayerSpec};
use serde::Serialize;

use super::{Start, document::Document};
use crate::evaluate::Steps;

/// Games that a model plays to collect the positions that a training begins with, as `afterstate eval --collect`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Collect {
    /// Who plays: a model file, or the directory of a run.
    pub model: String,
    /// How it searches.
    pub search: PlayerSpec,
    /// The number of games.
    pub games: u64,
    /// The seed of the games.
    pub seed: u64,
    /// The tile that the steps lead to.
    pub goal: u32,
}

impl Collect {
    /// The steps whose first positions are collected.
    pub(crate) fn steps(&self) -> Steps {
        Steps::to(self.goal).unwrap_or_default()
    }

    pub(super) fn read(doc: &mut Document, start: &Start) -> Option<Self> {
        let two_ply = PlayerSpec::new(Limit::Plies(2));
        let goal = "a tile from 256 to 131072";
        let collect = Collect {
            model: doc
                .read("collect.model", String::new(), "a model file or the directory of a run", |_| true),
            search: doc.read("collect.search", two_ply, "a search, such as \"2ply\"", |_| true),
            games: doc.read("collect.games", 1000, "a whole number from 1 to 10^9", |n| {
                (1..=1_000_000_000).contains(n)
            }),
            seed: doc.read("collect.seed", 1, "a whole number from 0 to 2^63 - 1", |_| true),
            goal: doc.read("collect.goal", 1 << 16, goal, |&goal| Steps::to(goal).is_ok()),
        };
        let keys = ["collect.model", "collect.search", "collect.games", "collect.seed", "collect.goal"];
        let given = keys.into_iter().find(|key| doc.is_given(key))?;
        let has_file = matches!(start, Start::Carousel { positions, .. } if !positions.is_empty());
        if !has_file {
            doc.impossible(given, "start.positions names the file that the positions are written to");
        } else if collect.model.is_empty() {
            doc.impossible(given, "collect.model names the model that plays");
        }
        Some(collect)
    }
}
