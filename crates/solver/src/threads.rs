//! Work divided among threads.

use std::{ops::Range, thread};

/// Divides `0..len` into a range for each thread; the results are in the order of the ranges.
pub(crate) fn divide<T: Send>(threads: usize, len: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let threads = threads.clamp(1, len.max(1));
    let range = |i: usize| i * len / threads..(i + 1) * len / threads;
    thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = (1..threads).map(|i| scope.spawn(move || work(range(i)))).collect();
        let mut results = vec![work(range(0))];
        results.extend(others.into_iter().map(|other| other.join().expect("no thread panics")));
        results
    })
}

/// The number of threads that so many boards are worth.
pub(crate) fn worthwhile(threads: usize, boards: usize) -> usize {
    threads.min(boards / 1024 + 1)
}
