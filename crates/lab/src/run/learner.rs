//! What a run trains, behind one face.

use std::{collections::BTreeMap, path::Path};

use afterstate_dcnn::Step;
use afterstate_learning::TrainingProgress;
use afterstate_network::file::FileError;

use super::{RunError, replicas::Decision};
use crate::{
    evaluate::{Games, PlayOutcome},
    log::{Fit, Rate},
    model::Search,
    stats::{GameResult, Tally},
};

/// A network that learns from its own games, or from records.
pub(crate) trait Learner {
    /// Goes on from a checkpoint; gives where the last line of the log was written, and the games since.
    fn load(&mut self, path: &Path) -> Result<(TrainingProgress, Tally), RunError>;

    /// The text of all that is not a weight, which [`load`](Self::load) reads. All replicas give theirs.
    fn state(&self, logged: TrainingProgress, tally: &Tally) -> serde_json::Result<String>;

    /// Writes the weights and what the step size remembers of them.
    fn save(&self, path: &Path, about: &BTreeMap<String, String>) -> Result<(), FileError>;

    /// Writes the network alone.
    fn save_model(&self, path: &Path, about: &BTreeMap<String, String>) -> Result<(), FileError>;

    /// How far it has come, with all replicas.
    fn progress(&self) -> TrainingProgress;

    /// Whether the budget is used up.
    fn is_done(&self) -> bool;

    /// Learns until that many actions have been made in all, or `watch` says that something else is to be done.
    fn learn(&mut self, halt: u64, watch: &mut dyn FnMut(News<'_>) -> bool) -> Result<(), RunError>;

    /// What a line of the log says of learning itself.
    fn report(&mut self) -> LearningReport;

    /// Who plays when the network is evaluated, and how many games.
    fn contests(&self) -> Vec<(Search, u64)>;

    /// Plays games; nothing when `watch` stopped them.
    fn play(
        &self,
        search: Search,
        games: Games<'_>,
        watch: &mut dyn FnMut(&PlayOutcome) -> bool,
    ) -> Option<PlayOutcome>;

    /// Whether to save, or to end; with several replicas, what all of them say at a merge.
    fn decide(&mut self, _stops: bool, saves: bool) -> Decision {
        if saves { Decision::Save } else { Decision::GoOn }
    }

    /// Whether it is one of several replicas, which end together.
    fn is_replica(&self) -> bool {
        false
    }

    /// Whether this is the run itself, and not another replica.
    fn is_first(&self) -> bool {
        true
    }
}

/// How learning goes.
pub(crate) struct News<'a> {
    /// How far it has come.
    pub(crate) progress: TrainingProgress,
    /// The games that have ended.
    pub(crate) games: &'a [GameResult],
    /// How the network did on a batch of records.
    pub(crate) batch: Option<Step>,
    /// What a line of the log would say.
    pub(crate) report: &'a mut dyn FnMut() -> LearningReport,
}

/// What only a learner knows of the time since the last line of the log.
pub(crate) struct LearningReport {
    pub(crate) rate: Rate,
    pub(crate) fit: Option<Fit>,
    /// The share of the time that games stood still for merges, and the bytes of changes in each second.
    pub(crate) merges: Option<(f64, f64)>,
}
