//! Replicas in threads against a serial implementation of their merges.

use std::sync::{Barrier, Mutex, atomic::Ordering::Relaxed};

use crate::common::{FIXED, TC, TD_0, settings, spec};
use afterstate_learning::{
    Budget, StepSizeSpec, Trainer, TrainerState, TrainingSettings,
    replicas::{Agreed, BLOCK, Changes, Exchange},
};
use afterstate_network::{Network, NetworkSpec};

const INTERVAL: u64 = 1 << 15;
const MERGES: u64 = 4;

/// Where replicas synchronize.
struct Meeting {
    barrier: Barrier,
    words: Mutex<Vec<Vec<u64>>>,
    numbers: Mutex<Vec<Vec<f32>>>,
}

struct Member<'a>(&'a Meeting, usize);

impl Member<'_> {
    /// Contributes this replica's data, and returns that of all.
    fn meet<T: Clone>(&self, place: &Mutex<Vec<Vec<T>>>, own: &[T]) -> Vec<Vec<T>> {
        place.lock().expect("a place")[self.1] = own.to_vec();
        self.0.barrier.wait();
        let all = place.lock().expect("a place").clone();
        self.0.barrier.wait();
        all
    }
}

impl Exchange for Member<'_> {
    fn any(&self, words: &mut [u64]) {
        let all = self.meet(&self.0.words, words);
        words.iter_mut().enumerate().for_each(|(i, word)| *word = all.iter().fold(0, |or, all| or | all[i]));
    }

    fn sum(&self, numbers: &mut [f32]) {
        let all = self.meet(&self.0.numbers, numbers);
        let sum = |i: usize| all.iter().map(|all| all[i]).reduce(|sum, number| sum + number);
        numbers.iter_mut().enumerate().for_each(|(i, number)| *number = sum(i).unwrap_or_default());
    }
}

fn network() -> NetworkSpec {
    spec(3, "012 0134", 10, true)
}

fn settings_of(step_size: StepSizeSpec) -> TrainingSettings {
    settings(TD_0, step_size, Budget::Actions(MERGES * INTERVAL))
}

/// V, E and A of every weight.
fn learned(network: &Network, trainer: &Trainer<'_>) -> Vec<[f32; 3]> {
    let numbers = trainer.numbers();
    let number = |k: usize, i| numbers.get(k).map_or(0.0, |numbers| numbers.get(i));
    let weights = network.weights().iter().enumerate();
    weights.map(|(i, v)| [f32::from_bits(v.load(Relaxed)), number(0, i), number(1, i)]).collect()
}

fn set(network: &Network, trainer: &Trainer<'_>, learned: &[[f32; 3]]) {
    for (i, [v, e, a]) in learned.iter().enumerate() {
        network.weights()[i].store(v.to_bits(), Relaxed);
        trainer.numbers().iter().zip([*e, *a]).for_each(|(numbers, number)| numbers.set(i, number));
    }
}

/// What each of some replicas has learned, merged after this many moves each.
fn in_threads(step_size: StepSizeSpec, replicas: usize) -> Vec<Vec<[f32; 3]>> {
    let meeting = Meeting {
        barrier: Barrier::new(replicas),
        words: Mutex::new(vec![vec![]; replicas]),
        numbers: Mutex::new(vec![vec![]; replicas]),
    };
    std::thread::scope(|scope| {
        let replica = |rank: usize| {
            let (network, member) = (Network::new(network()).expect("a network"), Member(&meeting, rank));
            let mut trainer = Trainer::new(&network, settings_of(step_size)).expect("a trainer");
            trainer.number_from((rank as u64) << 40);
            let mut agreed = Agreed::new(&trainer);
            for merge in 1..=MERGES {
                trainer.run_until(merge * INTERVAL, |_, _| true);
                let own = agreed.changes(&trainer);
                let (total, said) = own.exchange(agreed.blocks(), 1 << rank, &member);
                assert_eq!(said, (1 << replicas) - 1, "everybody is heard");
                agreed.apply(&trainer, &own, &total);
            }
            learned(&network, &trainer)
        };
        let threads: Vec<_> = (0..replicas).map(|rank| scope.spawn(move || replica(rank))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a replica")).collect()
    })
}

/// The same with one network that plays for all in turn.
fn one_after_the_other(step_size: StepSizeSpec, replicas: u64) -> Vec<[f32; 3]> {
    let network = Network::new(network()).expect("a network");
    let mut trainer = Trainer::new(&network, settings_of(step_size)).expect("a trainer");
    let mut agreed = learned(&network, &trainer);
    let start = |rank: u64, trainer: &mut Trainer<'_>| {
        trainer.number_from(rank << 40);
        trainer.state()
    };
    let mut states: Vec<TrainerState> = (0..replicas).map(|rank| start(rank, &mut trainer)).collect();
    for merge in 1..=MERGES {
        let mut changes = Vec::new();
        for state in &mut states {
            set(&network, &trainer, &agreed);
            trainer.restore(state).expect("a state");
            trainer.run_until(merge * INTERVAL, |_, _| true);
            *state = trainer.state();
            changes.push(learned(&network, &trainer));
        }
        let before = agreed.clone();
        for i in 0..agreed.len() {
            let block = i / BLOCK * BLOCK..(i / BLOCK * BLOCK + BLOCK).min(agreed.len());
            let [mut v, mut e, mut a, mut v_a] = [0.0; 4];
            for (k, change) in changes.iter().enumerate() {
                let moved = block.clone().any(|i| change[i][0] != before[i][0]);
                let [dv, de, da] = [0, 1, 2].map(|k| if moved { change[i][k] - before[i][k] } else { 0.0 });
                // The first number is not added to zero: −0 stays −0.
                [v, e, a, v_a] =
                    if k == 0 { [dv, de, da, dv * da] } else { [v + dv, e + de, a + da, v_a + dv * da] };
            }
            let step = if a == 0.0 { v } else { v_a / a };
            agreed[i] = [before[i][0] + step, before[i][1] + e, before[i][2] + a];
        }
    }
    agreed
}

#[test]
fn merged_replicas_are_those_that_play_in_turn() {
    for step_size in [TC, FIXED] {
        for replicas in [1, 2, 3] {
            let expected = one_after_the_other(step_size, replicas as u64);
            assert!(expected.iter().filter(|[v, ..]| *v != 0.0).count() > 100);
            for (rank, found) in in_threads(step_size, replicas).iter().enumerate() {
                let differ =
                    found.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
                assert_eq!(differ, 0, "{step_size:?}, replica {rank} of {replicas}");
            }
        }
    }
}

/// A single replica agrees with itself, even if it learns while its changes are in flight.
#[test]
fn what_is_learned_while_changes_are_under_way_is_kept() {
    struct Alone;
    impl Exchange for Alone {
        fn any(&self, _: &mut [u64]) {}
        fn sum(&self, _: &mut [f32]) {}
    }
    let close = |a: f32, b: f32| (a - b).abs() <= 1e-3 * (1.0 + a.abs());
    let network = Network::new(network()).expect("a network");
    let mut trainer = Trainer::new(&network, settings_of(FIXED)).expect("a trainer");
    let mut agreed = Agreed::new(&trainer);
    let mut flight: Option<(Changes, Changes)> = None;
    for merge in 1..=MERGES {
        trainer.run_until(merge * INTERVAL, |_, _| true);
        let before = learned(&network, &trainer);
        if let Some((own, total)) = flight.take() {
            agreed.apply(&trainer, &own, &total);
        }
        let after = learned(&network, &trainer);
        assert!(before.iter().zip(&after).all(|(before, after)| close(before[0], after[0])), "merge {merge}");
        let own = agreed.changes(&trainer);
        let (total, _) = own.exchange(agreed.blocks(), 0, &Alone);
        flight = Some((own, total));
    }
}
