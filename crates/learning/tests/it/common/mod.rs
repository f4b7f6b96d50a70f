//! Networks and settings for the tests.
#![allow(dead_code, reason = "not every test needs all of it")]

use afterstate_learning::{
    Budget, StepSizeSpec, TargetSpec, Trainer, TrainingSettings,
    target::{Backward, DelayedTdLambda, NStep, TdLambda},
};
use afterstate_network::{Network, NetworkSpec, Tuples};

pub(crate) const FIXED: StepSizeSpec = StepSizeSpec::Fixed { alpha: 0.25 };
pub(crate) const TC: StepSizeSpec = StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 };
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) const AUTOSTEP: StepSizeSpec = StepSizeSpec::Autostep { mu: 0.1, tau: 0.0001, alpha: 1.0 };

pub(crate) const TD_0: TargetSpec = td_lambda(0.0, 0);

pub(crate) const fn td_lambda(lambda: f32, horizon: usize) -> TargetSpec {
    TargetSpec::TdLambda(TdLambda { lambda, horizon })
}

pub(crate) const fn delayed(lambda: f32, horizon: usize) -> TargetSpec {
    TargetSpec::DelayedTdLambda(DelayedTdLambda { lambda, horizon })
}

pub(crate) const fn n_step(n: usize) -> TargetSpec {
    TargetSpec::NStep(NStep { n })
}

pub(crate) const fn backward(lambda: f32) -> TargetSpec {
    TargetSpec::Backward(Backward { lambda })
}

/// One of each kind, and the special cases.
#[allow(dead_code, reason = "not every test file needs all of them")]
pub(crate) const TARGETS: [TargetSpec; 7] =
    [TD_0, td_lambda(0.5, 3), delayed(0.5, 3), n_step(1), n_step(3), backward(0.0), backward(0.5)];

pub(crate) fn spec(side: usize, tuples: &str, tile_values: usize, symmetric: bool) -> NetworkSpec {
    let tuples = tuples.split(' ').map(|tuple| tuple.parse().expect("a tuple written here")).collect();
    NetworkSpec {
        side,
        tuples: Tuples::new(tuples).expect("some tuples"),
        tile_values,
        symmetric,
        ..NetworkSpec::default()
    }
}

pub(crate) fn settings(target: TargetSpec, step_size: StepSizeSpec, budget: Budget) -> TrainingSettings {
    TrainingSettings { seed: 7, ..TrainingSettings::new(target, step_size, budget) }
}

/// A network after a complete training from zero.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn trained(spec: &NetworkSpec, settings: &TrainingSettings) -> Network {
    let network = Network::new(spec.clone()).expect("a small network");
    let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
    trainer.run(|_, _| true);
    assert!(trainer.is_done());
    drop(trainer);
    network
}

/// All weights, by tuple and index, as bits.
#[allow(dead_code, reason = "not every test file needs it")]
pub(crate) fn bits(network: &Network) -> Vec<u32> {
    (0..network.spec().tables()).flat_map(|i| network.table(i).map(f32::to_bits)).collect()
}
