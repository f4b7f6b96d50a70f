//! The GPU beside the CPU: outputs, gradients, training, checkpoints and moves. Skipped where no GPU is found; a software
//! driver such as Mesa's lavapipe is one.

#[path = "../../crates/dcnn/tests/it/common/mod.rs"]
mod common;

use std::collections::BTreeMap;

use afterstate_dcnn::{
    Architecture, CrossEntropy, Dcnn, DcnnPlayer, DcnnSpec, Device, Loss, Play, Sample, SquaredError,
    Trainer, Work,
};
use afterstate_game::{Board, Move, State};
use afterstate_search::Player;
use common::{assert_close, boards};

/// Sums of a few hundred f32 in another order, for numbers above a hundredth.
const TOLERANCE: f64 = 1e-4;

/// Room on the GPU, if there is one.
fn gpu() -> Option<Work> {
    afterstate_gpu::provide();
    Work::on(Device::Gpu).inspect_err(|error| eprintln!("skipped: {error}")).ok()
}

fn assert_same(what: &str, found: &[f32], expected: &[f32]) {
    assert_close(what, found.iter().copied().map(f64::from), expected, TOLERANCE);
}

/// Policies with odd sizes, one of Table 2, and values.
fn nets() -> Vec<Dcnn> {
    let tjwei = Architecture::Tjwei { first: 4, second: 6 };
    let wide = Architecture::Dcnn { layers: 2, channels: 7 };
    let specs = [
        DcnnSpec::policy(1, 3).unwrap(),
        DcnnSpec::policy(2, 8).unwrap(),
        DcnnSpec::policy(3, 12).unwrap(),
        DcnnSpec::policy(5, 4).unwrap(),
        DcnnSpec { architecture: wide, tile_values: 18 },
        DcnnSpec { architecture: tjwei, tile_values: 16 },
        DcnnSpec::of_table_2(2).unwrap(),
    ];
    specs.into_iter().map(|spec| Dcnn::new(spec, 3)).collect()
}

/// Boards with moves that depend on them.
fn policy_batch(count: usize) -> Vec<Sample<Move>> {
    let boards = boards(100).into_iter().cycle().take(count).enumerate();
    boards.map(|(i, board)| Sample { board, target: Move::ALL[i * i % 4] }).collect()
}

fn value_batch(count: usize) -> Vec<Sample<f32>> {
    let boards = boards(100).into_iter().cycle().take(count).enumerate();
    boards.map(|(i, board)| Sample { board, target: i as f32 / 8.0 }).collect()
}

#[test]
fn outputs_are_those_of_the_cpu() {
    let Some(mut work) = gpu() else { return };
    // One room for all networks: each one's weights are sent.
    for net in nets() {
        for count in [1, 8, 60] {
            let boards = boards(count);
            let expected = net.forward(&boards, &mut Work::default()).to_vec();
            let what = format!("{:?}, {count} boards", net.spec().architecture);
            assert_same(&what, net.forward(&boards, &mut work), &expected);
        }
        assert!(net.forward(&[], &mut work).is_empty());
    }
}

fn check_gradient<L: Loss>(net: &Dcnn, batch: &[Sample<L::Target>]) {
    let trainer = || Trainer::<L>::new(net.clone(), 1).unwrap();
    let mut gpu = trainer().on(Device::Gpu).unwrap();
    let (expected, found) = (trainer().gradient(batch), gpu.gradient(batch));
    assert_same(&format!("{:?}, {} samples", net.spec().architecture, batch.len()), &found, &expected);
    let (expected, found) = (trainer().test(batch), gpu.test(batch));
    assert_close("error", [found.error()], &[expected.error() as f32], TOLERANCE);
    assert_eq!(found.samples, expected.samples);
}

#[test]
fn gradients_are_those_of_the_cpu() {
    if gpu().is_none() {
        return;
    }
    for net in nets() {
        match net.spec().architecture {
            Architecture::Dcnn { .. } => check_gradient::<CrossEntropy>(&net, &policy_batch(60)),
            Architecture::Tjwei { .. } => check_gradient::<SquaredError>(&net, &value_batch(60)),
        }
    }
    // More than one part, and a rest.
    check_gradient::<CrossEntropy>(&Dcnn::new(DcnnSpec::policy(2, 3).unwrap(), 5), &policy_batch(2100));
}

fn trainer() -> Trainer<CrossEntropy> {
    Trainer::new(Dcnn::new(DcnnSpec::policy(3, 12).unwrap(), 1), 1).unwrap()
}

/// Trains on two devices, with a checkpoint between them.
fn train(first: Device, second: Device) -> Trainer<CrossEntropy> {
    let directory = tempfile::tempdir().unwrap();
    let (path, batch) = (directory.path().join("state.safetensors"), policy_batch(100));
    let mut trainer = trainer().on(first).unwrap();
    (0..4).for_each(|_| _ = trainer.step(&batch, 0.001));
    trainer.save(&path, &BTreeMap::new()).unwrap();
    let (trainer, _) = Trainer::load(&path, 1).unwrap();
    let mut trainer = trainer.on(second).unwrap();
    (0..4).for_each(|_| _ = trainer.step(&batch, 0.001));
    trainer
}

#[test]
fn training_goes_on_on_either_device() {
    if gpu().is_none() {
        return;
    }
    let expected = train(Device::Cpu, Device::Cpu);
    for (first, second) in
        [(Device::Gpu, Device::Gpu), (Device::Gpu, Device::Cpu), (Device::Cpu, Device::Gpu)]
    {
        let found = train(first, second);
        assert_same(&format!("{first}, {second}"), found.net().weights(), expected.net().weights());
        assert_eq!(found.adam().steps(), 8);
    }
}

#[test]
fn training_is_reproducible() {
    if gpu().is_none() {
        return;
    }
    let [first, second] = [(); 2].map(|()| train(Device::Gpu, Device::Gpu));
    assert_eq!((first.net(), first.adam()), (second.net(), second.adam()));
}

#[test]
fn moves_are_those_of_the_cpu() {
    let Some(work) = gpu() else { return };
    let boards: Vec<Board<4>> = boards(30);
    for net in nets() {
        let cpu = DcnnPlayer::new(&net, Play::Sum);
        let gpu = cpu.clone().with(work.clone());
        // Two players at a time, as in an evaluation.
        std::thread::scope(|scope| {
            for boards in boards.chunks(15) {
                let (mut cpu, mut gpu) = (cpu.clone(), gpu.clone());
                scope.spawn(move || {
                    for state in boards.iter().copied().map(State::new) {
                        let values = |player: &mut DcnnPlayer<'_>| {
                            player.advise(state).values.map(Option::unwrap_or_default)
                        };
                        assert_same("values", &values(&mut gpu), &values(&mut cpu));
                    }
                });
            }
        });
    }
}
