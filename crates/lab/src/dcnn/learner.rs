//! What is taught, behind one face.

use std::{collections::BTreeMap, path::Path};

use afterstate_dcnn::{
    CrossEntropy, Dcnn, DcnnPlayer, Device, Play, Sample, SquaredError, Step, Trainer, ValuePlayer,
};
use afterstate_game::{Afterstate, Move, Rules};
use afterstate_network::file::FileError;
use afterstate_search::{Limit, Player, PlayerSpec};

use super::{DcnnError, DcnnSettings, Taught, tuples::TupleLearner};
use crate::records::Record;

pub(super) enum Learner {
    Policy(Trainer<CrossEntropy>),
    Value(Trainer<SquaredError>),
    Tuples(TupleLearner),
}

/// The afterstate of a record, and the score from there to the end of the game. A record of an illegal move,
/// which verified records do not have, counts as a move that changes nothing.
fn value_sample(record: &Record) -> (Afterstate<4>, f32) {
    let slide = record.state.slide(record.action);
    let afterstate = slide.map_or(Afterstate::new(record.state.board()), |slide| slide.afterstate);
    (afterstate, record.score_to_end.saturating_sub(record.reward) as f32)
}

fn value_samples(records: &[Record]) -> Vec<Sample<f32>> {
    let sample = |record| {
        let (afterstate, score) = value_sample(record);
        Sample { board: afterstate.board(), target: score / ValuePlayer::UNIT }
    };
    records.iter().map(sample).collect()
}

fn policy_samples(records: &[Record]) -> Vec<Sample<Move>> {
    records.iter().map(|record| Sample { board: record.state.board(), target: record.action }).collect()
}

impl Learner {
    /// Begins.
    pub(super) fn new(settings: &DcnnSettings, threads: usize, device: Device) -> Result<Self, DcnnError> {
        let net = |spec| Dcnn::new(spec, settings.seed);
        match (&settings.network, settings.spec()?) {
            (Taught::Tjwei, Some(spec)) => Ok(Learner::Value(Trainer::new(net(spec), threads)?.on(device)?)),
            (_, Some(spec)) => Ok(Learner::Policy(Trainer::new(net(spec), threads)?.on(device)?)),
            (Taught::Tuples(name), None) => Ok(Learner::Tuples(TupleLearner::new(name, device)?)),
            (network, None) => {
                let name = format!("{network:?}");
                Err(DcnnError::Tuples { name, problem: "it has no layers and no tuples".into() })
            }
        }
    }

    /// Goes on from a checkpoint, and gives its other metadata.
    pub(super) fn load(
        settings: &DcnnSettings,
        path: &Path,
        threads: usize,
        device: Device,
    ) -> Result<(Self, BTreeMap<String, String>), DcnnError> {
        Ok(match &settings.network {
            Taught::Dcnn { .. } => {
                let (trainer, extra) = Trainer::load(path, threads)?;
                (Learner::Policy(trainer.on(device)?), extra)
            }
            Taught::Tjwei => {
                let (trainer, extra) = Trainer::load(path, threads)?;
                (Learner::Value(trainer.on(device)?), extra)
            }
            Taught::Tuples(name) => {
                let learner = TupleLearner::new(name, device)?;
                let extra = learner.fill(path)?;
                (Learner::Tuples(learner), extra)
            }
        })
    }

    /// Learns from a batch.
    pub(super) fn step(&mut self, records: &[Record], rate: f32) -> Step {
        match self {
            Learner::Policy(trainer) => trainer.step(&policy_samples(records), rate),
            Learner::Value(trainer) => trainer.step(&value_samples(records), rate),
            Learner::Tuples(learner) => {
                tuple_step(records, |afterstate, score| learner.learn(afterstate, score))
            }
        }
    }

    /// How it does on records.
    pub(super) fn test(&mut self, records: &[Record]) -> Step {
        match self {
            Learner::Policy(trainer) => trainer.test(&policy_samples(records)),
            Learner::Value(trainer) => trainer.test(&value_samples(records)),
            Learner::Tuples(learner) => {
                tuple_step(records, |afterstate, score| learner.error(afterstate, score))
            }
        }
    }

    /// Whether it gives moves, so that they can be right.
    pub(super) fn gives_moves(&self) -> bool {
        matches!(self, Learner::Policy(_))
    }

    /// Writes a checkpoint.
    pub(super) fn save(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        match self {
            Learner::Policy(trainer) => trainer.save(path, extra),
            Learner::Value(trainer) => trainer.save(path, extra),
            Learner::Tuples(learner) => learner.network.save(path, extra),
        }
    }

    /// Writes the model alone.
    pub(super) fn save_model(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        match self {
            Learner::Policy(trainer) => trainer.net().save(path, extra),
            Learner::Value(trainer) => trainer.net().save(path, extra),
            Learner::Tuples(learner) => learner.network.save(path, extra),
        }
    }

    /// How it plays: policies by majority vote, values greedily.
    pub(super) fn player(&self) -> Box<dyn Player<4> + '_> {
        match self {
            Learner::Policy(trainer) => Box::new(DcnnPlayer::new(trainer.net(), Play::MajorityVote)),
            Learner::Value(trainer) => Box::new(DcnnPlayer::new(trainer.net(), Play::Plain)),
            Learner::Tuples(learner) => {
                PlayerSpec::new(Limit::Plies(1)).player(learner.network.view(), Rules::default(), 1)
            }
        }
    }

    /// What its way to play is called.
    pub(super) fn play_name(&self) -> String {
        if self.gives_moves() { Play::MajorityVote.to_string() } else { "1ply".into() }
    }
}

/// The errors of an n-tuple network as a [`Step`], in the units of value networks.
fn tuple_step(records: &[Record], error: impl Fn(Afterstate<4>, f32) -> f32) -> Step {
    let mut step = Step { samples: records.len() as u64, ..Step::default() };
    for record in records {
        let (afterstate, score) = value_sample(record);
        let error = f64::from(error(afterstate, score) / ValuePlayer::UNIT);
        step.loss += error * error / 2.0;
    }
    step
}
