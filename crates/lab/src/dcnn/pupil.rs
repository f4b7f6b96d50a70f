//! What is taught, behind one face.

use std::{collections::BTreeMap, path::Path};

use afterstate_dcnn::{
    CrossEntropy, Dcnn, DcnnPlayer, Device, Play, Sample, SquaredError, Step, Trainer, ValuePlayer,
};
use afterstate_game::{Afterstate, Move};
use afterstate_network::file::{FileError, safetensors::TensorFile};
use afterstate_search::{Limit, PlayerSpec};

use super::tuples::TupleLearner;
use crate::{
    evaluate::{Games, PlayOutcome, evaluate, evaluate_players},
    model::Search,
    recipe::{Lesson, Taught},
    records::Record,
    run::RunError,
};

pub(super) enum Pupil {
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

impl Pupil {
    /// Begins.
    pub(super) fn new(lesson: &Lesson, seed: u64, threads: usize, device: Device) -> Result<Self, RunError> {
        Ok(match &lesson.network {
            Taught::Tuples(_) if device != Device::Cpu => return Err(RunError::CpuOnly),
            Taught::Tuples(name) => Pupil::Tuples(TupleLearner::new(name)?),
            Taught::Convolutional(spec) if lesson.network.is_policy() => {
                Pupil::Policy(Trainer::new(Dcnn::new(*spec, seed), threads)?.on(device)?)
            }
            Taught::Convolutional(spec) => {
                Pupil::Value(Trainer::new(Dcnn::new(*spec, seed), threads)?.on(device)?)
            }
        })
    }

    /// Goes on from a checkpoint.
    pub(super) fn load(
        lesson: &Lesson,
        path: &Path,
        threads: usize,
        device: Device,
    ) -> Result<Self, RunError> {
        Ok(match &lesson.network {
            Taught::Tuples(name) => {
                let learner = TupleLearner::new(name)?;
                learner.network.fill(&TensorFile::open(path)?)?;
                Pupil::Tuples(learner)
            }
            policy if policy.is_policy() => Pupil::Policy(Trainer::load(path, threads)?.0.on(device)?),
            Taught::Convolutional(_) => Pupil::Value(Trainer::load(path, threads)?.0.on(device)?),
        })
    }

    /// Learns from a batch.
    pub(super) fn step(&mut self, records: &[Record], rate: f32) -> Step {
        match self {
            Pupil::Policy(trainer) => trainer.step(&policy_samples(records), rate),
            Pupil::Value(trainer) => trainer.step(&value_samples(records), rate),
            Pupil::Tuples(learner) => {
                tuple_step(records, |afterstate, score| learner.learn(afterstate, score))
            }
        }
    }

    /// How it does on records.
    pub(super) fn test(&mut self, records: &[Record]) -> Step {
        match self {
            Pupil::Policy(trainer) => trainer.test(&policy_samples(records)),
            Pupil::Value(trainer) => trainer.test(&value_samples(records)),
            Pupil::Tuples(learner) => {
                tuple_step(records, |afterstate, score| learner.error(afterstate, score))
            }
        }
    }

    /// Writes a checkpoint.
    pub(super) fn save(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        match self {
            Pupil::Policy(trainer) => trainer.save(path, extra),
            Pupil::Value(trainer) => trainer.save(path, extra),
            Pupil::Tuples(learner) => learner.network.save(path, extra),
        }
    }

    /// Writes the model alone.
    pub(super) fn save_model(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        match self {
            Pupil::Policy(trainer) => trainer.net().save(path, extra),
            Pupil::Value(trainer) => trainer.net().save(path, extra),
            Pupil::Tuples(learner) => learner.network.save(path, extra),
        }
    }

    /// How it plays: policies by majority vote, values greedily.
    pub(super) fn search(&self) -> Search {
        match self {
            Pupil::Policy(_) => Search::Policy(Play::MajorityVote),
            Pupil::Value(_) => Search::Value,
            Pupil::Tuples(_) => Search::Player(PlayerSpec::new(Limit::Plies(1))),
        }
    }

    /// Plays games so; nothing when `watch` stopped them.
    pub(super) fn play(
        &self,
        games: Games<'_>,
        threads: usize,
        watch: &mut dyn FnMut(&PlayOutcome) -> bool,
    ) -> Option<PlayOutcome> {
        let mut in_step =
            |net, play| evaluate_players(games, threads, || DcnnPlayer::new(net, play), &mut *watch);
        match self {
            Pupil::Policy(trainer) => in_step(trainer.net(), Play::MajorityVote),
            Pupil::Value(trainer) => in_step(trainer.net(), Play::Plain),
            Pupil::Tuples(learner) => {
                let results = evaluate(&learner.network, games, threads, watch)?;
                Some(PlayOutcome { results, ..PlayOutcome::default() })
            }
        }
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
