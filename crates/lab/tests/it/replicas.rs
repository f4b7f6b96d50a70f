//! Runs of several replicas, here as threads: what the ranks of `mpirun` do with a run's directory.

use std::{
    path::Path,
    sync::{Barrier, Mutex, atomic::AtomicBool},
    thread,
};

use afterstate_lab::{
    log::{Log, LogLine},
    recipe::Recipe,
    run::{Directory, MergeEvery, Merging, Replicas, Run, RunOutcome},
};
use afterstate_learning::{TrainerState, replicas::Exchange};
use afterstate_network::Network;

/// Where replicas synchronize.
struct Meeting {
    size: usize,
    barrier: Barrier,
    words: Mutex<Vec<Vec<u64>>>,
    numbers: Mutex<Vec<Vec<f32>>>,
    states: Mutex<Vec<Option<TrainerState>>>,
}

struct Member(&'static Meeting, usize);

impl Member {
    /// Contributes this replica's data, and returns that of all.
    fn meet<T: Clone>(&self, place: &Mutex<Vec<T>>, own: T) -> Vec<T> {
        place.lock().expect("a place")[self.1] = own;
        self.0.barrier.wait();
        let all = place.lock().expect("a place").clone();
        self.0.barrier.wait();
        all
    }
}

impl Exchange for Member {
    fn any(&self, words: &mut [u64]) {
        let all = self.meet(&self.0.words, words.to_vec());
        words.iter_mut().enumerate().for_each(|(i, word)| *word = all.iter().fold(0, |or, all| or | all[i]));
    }

    fn sum(&self, numbers: &mut [f32]) {
        let all = self.meet(&self.0.numbers, numbers.to_vec());
        numbers.iter_mut().enumerate().for_each(|(i, number)| *number = all.iter().map(|all| all[i]).sum());
    }
}

impl Replicas for Member {
    fn rank(&self) -> usize {
        self.1
    }

    fn size(&self) -> usize {
        self.0.size
    }

    fn gather(&self, own: TrainerState) -> Vec<TrainerState> {
        let all = self.meet(&self.0.states, Some(own)).into_iter().flatten().collect();
        if self.1 == 0 { all } else { Vec::new() }
    }
}

/// Starts or resumes a run with this many replicas; returns the result of the first one.
fn train(directory: &Directory, actions: u64, size: usize, every: MergeEvery) -> RunOutcome {
    let text = format!(
        "network.tuples = '2x4'\nparallel.threads = 1\nbudget.actions = {actions}\nevaluation.every = 0\n\
         checkpoint = {{ keep = true, every_seconds = 0.02 }}\nlog.every_episodes = 20"
    );
    let recipe = Recipe::parse("test", "test.toml", &text, &[]).expect("a recipe");
    let meeting: &'static Meeting = Box::leak(Box::new(Meeting {
        size,
        barrier: Barrier::new(size),
        words: Mutex::new(vec![vec![]; size]),
        numbers: Mutex::new(vec![vec![]; size]),
        states: Mutex::new(vec![None; size]),
    }));
    // All have checked what exists before one of them adds to it.
    let prepared = Barrier::new(size);
    let replica = |rank: usize| {
        let merging = Merging { replicas: Box::leak(Box::new(Member(meeting, rank))), every };
        let run = Run::of_replica(directory.clone(), recipe.clone(), merging);
        prepared.wait();
        run.expect("a replica").train(&AtomicBool::new(false), &mut ()).expect("a trained network")
    };
    thread::scope(|scope| {
        let replica = &replica;
        let threads: Vec<_> = (0..size).map(|rank| scope.spawn(move || replica(rank))).collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().expect("a replica"));
        outcomes.collect::<Vec<_>>().remove(0)
    })
}

/// The last line of a log, after checking the share of time and the bytes in all lines.
fn last_line(log: &Path) -> LogLine {
    let lines = Log::<LogLine>::read(log).expect("lines");
    let shares = lines.iter().map(|line| line.merge_share.expect("a share"));
    assert!(lines.len() > 2 && shares.clone().all(|share| (0.0..=1.0).contains(&share)), "{lines:?}");
    assert!(shares.clone().any(|share| share > 0.0), "{lines:?}");
    let bytes = |line: &LogLine| line.merge_bytes_per_second.expect("bytes");
    assert!(lines.iter().any(|line| bytes(line) > 0.0), "{lines:?}");
    lines.into_iter().next_back().expect("a line")
}

#[test]
fn replicas_leave_one_run_that_any_number_goes_on_with() {
    for every in [MergeEvery::Actions(16384), MergeEvery::Seconds(0.01)] {
        let place = tempfile::tempdir().expect("a directory");
        let directory = Directory::new(place.path().join("run"));
        let mut before = 0;
        for (size, actions) in [(2, 400_000), (3, 700_000), (1, 800_000), (2, 1_000_000)] {
            let outcome = train(&directory, actions, size, every);
            // A share is rounded up.
            let done = actions..actions + size as u64;
            assert!(outcome.finished && done.contains(&outcome.progress.actions), "{size}: {outcome:?}");
            assert_eq!(directory.progress().map(|progress| progress.actions), Some(outcome.progress.actions));
            assert!(directory.is_finished(), "the run of {size} replicas is finished");
            assert!(Network::load(&directory.model()).is_ok());
            assert_eq!(last_line(&directory.log()).actions, outcome.progress.actions);
            if size > 1 {
                let other = last_line(&directory.path().join("replica-1/log.jsonl"));
                assert!(other.actions > before && other.actions <= outcome.progress.actions, "{other:?}");
            }
            before = outcome.progress.actions;
        }
    }
}
