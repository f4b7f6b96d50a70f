//! The speed of networks in training and in play.

use std::{
    num::NonZero,
    sync::atomic::Ordering::Relaxed,
    thread,
    time::{Duration, Instant},
};

use afterstate_game::Rules;
use afterstate_lab::{
    deal::Deck,
    evaluate::{Contest, Games, SEED},
    model::{BUILT_IN, Model},
};
use afterstate_learning::{
    Budget, Parallel, StepSizeSpec, TargetSpec, Trainer, TrainingSettings, target::TdLambda,
};
use afterstate_network::{Network, NetworkSpec, Tuples};
use afterstate_search::{Downgrade, Limit, PlayerSpec};

use super::{Figure, Unit};
use crate::error::Failure;

/// Seconds of training before the measurement: the first games are short, and stay in the caches.
const WARM_UP: f64 = 1.0;

/// The measuring time of a figure in seconds.
const MEASURED: f64 = 2.0;

/// Seconds of training of the network whose play is measured.
const SCHOOLING: f64 = 4.0;

const TD: StepSizeSpec = StepSizeSpec::Fixed { alpha: 0.1 };
const TC: StepSizeSpec = StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 };

pub(super) fn train_4x6_td() -> Result<Vec<Figure>, Failure> {
    training("4x6", "TD", TD)
}

pub(super) fn train_4x6_tc() -> Result<Vec<Figure>, Failure> {
    training("4x6", "TC", TC)
}

pub(super) fn train_8x6_tc() -> Result<Vec<Figure>, Failure> {
    training("8x6", "TC", TC)
}

/// Greedy play of a reference network and of the built-in model, on one thread and on all.
pub(super) fn play() -> Result<Vec<Figure>, Failure> {
    let mut figures = greedy_rates("4x6", &schooled()?, None);
    let built_in = Model::open(None)?;
    figures.extend(greedy_rates(BUILT_IN, built_in.network("`bench`")?, built_in.downgrade));
    Ok(figures)
}

fn greedy_rates(name: &str, network: &Network, downgrade: Option<Downgrade>) -> Vec<Figure> {
    let figure = |(threads, key)| {
        let label = format!("greedy moves, {name}, {}", threads_text(threads));
        let rate = greedy_rate(network, downgrade, threads);
        Figure::new(format!("play_{}_{key}", name.replace('-', "_")), label, rate, Unit::PerSecond)
    };
    [(1, "one_thread"), (all_threads(), "all_threads")].map(figure).into()
}

/// A network trained for some seconds.
pub(super) fn schooled() -> Result<Network, Failure> {
    let network = network("4x6")?;
    trainer(&network, TC, all_threads(), Parallel::LockFree, SCHOOLING)?.run(|_, _| true);
    Ok(network)
}

/// Training on one thread, and on all in both ways of sharing the weights.
fn training(tuples: &str, name: &str, step_size: StepSizeSpec) -> Result<Vec<Figure>, Failure> {
    let network = network(tuples)?;
    let all = all_threads();
    let cases = [
        (1, Parallel::LockFree, "one_thread", "1 thread".to_owned()),
        (all, Parallel::LockFree, "lock_free", format!("{}, lock-free", threads_text(all))),
        (all, Parallel::PrivateHot, "private_hot", format!("{}, private-hot", threads_text(all))),
    ];
    let figure = |(threads, parallel, key, label)| {
        let key = format!("train_{tuples}_{}_{key}", name.to_lowercase());
        let label = format!("training moves, {tuples} {name}, {label}");
        let value = training_rate(&network, step_size, threads, parallel)?;
        Ok(Figure::new(key, label, value, Unit::PerSecond))
    };
    cases.into_iter().map(figure).collect()
}

/// Moves per second of a trainer that continues from the current network.
fn training_rate(
    network: &Network,
    step_size: StepSizeSpec,
    threads: usize,
    parallel: Parallel,
) -> Result<f64, Failure> {
    let mut trainer = trainer(network, step_size, threads, parallel, WARM_UP + MEASURED)?;
    touch(network, &trainer);
    let mut warm = None;
    trainer.run(|progress, _| {
        if progress.seconds >= WARM_UP && warm.is_none() {
            warm = Some(progress);
        }
        true
    });
    let (warm, end) = (warm.unwrap_or_default(), trainer.progress());
    Ok((end.actions - warm.actions) as f64 / (end.seconds - warm.seconds))
}

/// Moves per second of greedy play.
fn greedy_rate(network: &Network, downgrade: Option<Downgrade>, threads: usize) -> f64 {
    let games = Games { rules: Rules::default(), seed: SEED, dealer: &Deck::new(u64::MAX) };
    let player = PlayerSpec { downgrade, ..PlayerSpec::new(Limit::Plies(1)) };
    let contest = Contest { network, player, endgames: None, games, threads, collect: None };
    let start = Instant::now();
    let mut moves = 0;
    // Stopped by the clock, so there is no complete result.
    let _ = contest.play(|finished| {
        moves += finished.results.iter().map(|game| game.moves).sum::<u64>();
        start.elapsed() < Duration::from_secs_f64(MEASURED)
    });
    moves as f64 / start.elapsed().as_secs_f64()
}

/// Touches all memory, so that its allocation by the system is not measured.
fn touch(network: &Network, trainer: &Trainer<'_>) {
    /// The number of weights in the smallest page size.
    const PAGE: usize = 4096 / size_of::<f32>();
    let numbers = trainer.numbers();
    for (position, weight) in network.weights().iter().enumerate().step_by(PAGE / 2) {
        weight.store(weight.load(Relaxed), Relaxed);
        numbers.iter().for_each(|numbers| numbers.set(position, numbers.get(position)));
    }
}

fn trainer(
    network: &Network,
    step_size: StepSizeSpec,
    threads: usize,
    parallel: Parallel,
    seconds: f64,
) -> Result<Trainer<'_>, Failure> {
    let target = TargetSpec::TdLambda(TdLambda { lambda: 0.0, horizon: 0 });
    let settings = TrainingSettings::new(target, step_size, Budget::Seconds(seconds));
    let settings = TrainingSettings { threads, parallel, ..settings };
    Trainer::new(network, settings).map_err(too_large)
}

fn network(tuples: &str) -> Result<Network, Failure> {
    let tuples = Tuples::named(tuples).expect("a built-in set");
    Network::new(NetworkSpec { tuples, ..NetworkSpec::default() }).map_err(too_large)
}

pub(super) fn too_large(error: impl ToString) -> Failure {
    Failure::other(error, "`--only slides --only games` measures what needs no memory")
}

fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn threads_text(threads: usize) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}
