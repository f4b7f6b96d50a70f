//! Learning: the same on any number of threads and across interruptions, and towards its targets.

use std::collections::BTreeMap;

use crate::common::boards;
use afterstate_dcnn::{
    CrossEntropy, Dcnn, DcnnInfo, DcnnSpec, Play, PolicyPlayer, Sample, SquaredError, Trainer,
};
use afterstate_game::{Board, Move, State, Symmetry};
use afterstate_network::file::{FileProblem, safetensors::TensorFile};
use afterstate_search::Player;

/// Boards of a game, each with its first legal move.
fn samples(count: usize) -> Vec<Sample<Move>> {
    let all = boards(count).into_iter().map(|board| {
        let target = State::new(board).legal_moves().next().unwrap_or(Move::Up);
        Sample { board, target }
    });
    all.collect()
}

fn trainer(threads: usize) -> Trainer<CrossEntropy> {
    Trainer::new(Dcnn::new(DcnnSpec::policy(3, 12).unwrap(), 1), threads).unwrap()
}

#[test]
fn weights_do_not_depend_on_the_number_of_threads() {
    // More than one part, plus a remainder.
    let batch: Vec<_> = samples(100).into_iter().cycle().take(430).collect();
    let weights = [1, 2, 3].map(|threads| {
        let mut trainer = trainer(threads);
        let steps: Vec<_> = (0..3).map(|_| trainer.step(&batch, 0.001)).collect();
        (steps, trainer.net().weights().to_vec())
    });
    assert_eq!(weights[0], weights[1]);
    assert_eq!(weights[0], weights[2]);
}

#[test]
fn a_resumed_training_goes_on_exactly() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state.safetensors");
    let batch = samples(60);
    let mut whole = trainer(1);
    let mut half = trainer(1);
    for _ in 0..5 {
        whole.step(&batch, 0.001);
        half.step(&batch, 0.001);
    }
    let extra = BTreeMap::from([("samples".to_string(), "300".to_string())]);
    half.save(&path, &extra).unwrap();
    let (mut half, found) = Trainer::<CrossEntropy>::load(&path, 1).unwrap();
    assert_eq!(found, extra);
    for _ in 0..5 {
        assert_eq!(whole.step(&batch, 0.0005), half.step(&batch, 0.0005));
    }
    assert_eq!((whole.net(), whole.adam()), (half.net(), half.adam()));
    // A checkpoint is a model, but a model is not a checkpoint; and a policy has no values.
    let model = directory.path().join("model.safetensors");
    Dcnn::load(&path).unwrap().save(&model, &BTreeMap::new()).unwrap();
    let error = Trainer::<CrossEntropy>::load(&model, 1).err().unwrap();
    assert!(matches!(error.problem, FileProblem::Metadata { key: "adam_steps", .. }), "{error}");
    assert!(Trainer::<SquaredError>::load(&path, 1).is_err());
}

#[test]
fn files_hold_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    for spec in [DcnnSpec::policy(4, 3).unwrap(), DcnnSpec::HALF_TJWEI] {
        let net = Dcnn::new(spec, 2);
        net.save(&path, &BTreeMap::new()).unwrap();
        assert_eq!(Dcnn::load(&path).unwrap(), net);
        let file = TensorFile::open(&path).unwrap();
        assert!(DcnnInfo::is_in(&file) && DcnnInfo::of(&file).unwrap().spec == spec);
    }
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(Dcnn::load(&path).unwrap_err().problem, FileProblem::Checksum { .. }));
}

#[test]
fn what_is_taught_is_learned() {
    let batch = samples(100);
    let mut trainer = trainer(1);
    let before = trainer.test(&batch);
    for _ in 0..150 {
        trainer.step(&batch, 0.003);
    }
    let after = trainer.test(&batch);
    assert!(after.error() < before.error() / 4.0 && after.accuracy() > 0.9, "{before:?} {after:?}");
    // On the training boards, plain play gives the moves that were taught.
    let mut player = PolicyPlayer::new(trainer.net(), Play::Plain).unwrap();
    let right = batch.iter().filter(|s| player.advise(State::new(s.board)).best() == Some(s.target));
    assert!(right.count() > 85);
}

#[test]
fn symmetric_boards_get_symmetric_moves_by_vote() {
    let net = Dcnn::new(DcnnSpec::policy(2, 8).unwrap(), 4);
    for play in [Play::MajorityVote, Play::Sum] {
        let mut player = PolicyPlayer::new(&net, play).unwrap();
        // On a symmetric board, several moves can be equally good.
        let images = |board: &Board<4>| Symmetry::ALL.map(|symmetry| board.image(symmetry));
        let is_asymmetric =
            |board: &Board<4>| images(board).iter().filter(|&image| image == board).count() == 1;
        for board in boards(40).into_iter().filter(is_asymmetric) {
            let state = State::new(board);
            let best = player.advise(state).best();
            for symmetry in Symmetry::ALL {
                let image = player.advise(state.image(symmetry)).best();
                assert_eq!(image, best.map(|a| symmetry.image(a)), "{play} on {board}");
            }
        }
    }
}
