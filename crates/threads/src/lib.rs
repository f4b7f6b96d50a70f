//! Scoped threads: how the crates spread work over cores. Every function returns once its last thread has ended, and
//! propagates a panic in a thread to the caller.

use std::{
    ops::Range,
    panic::resume_unwind,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread::{available_parallelism, scope},
    time::Duration,
};

/// The interval at which [`watched`] calls `watch` when nothing is sent.
const HEARTBEAT: Duration = Duration::from_millis(100);

/// The number of cores, or 1 if it is unknown.
pub fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Runs `work` on a thread for each item and returns the results in the order of the items. The calling thread takes the
/// first item.
///
/// ```
/// let doubled = afterstate_threads::for_each(vec![1, 2, 3], |item| 2 * item);
/// assert_eq!(doubled, [2, 4, 6]);
/// ```
pub fn for_each<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let mut items = items.into_iter();
    let Some(own) = items.next() else { return Vec::new() };
    scope(|scope| {
        let work = &work;
        let others: Vec<_> = items.map(|item| scope.spawn(move || work(item))).collect();
        let mut results = vec![work(own)];
        let others =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        results.extend(others);
        results
    })
}

/// Cuts `0..len` into one range for each thread and returns the results in the order of the ranges.
///
/// ```
/// let sums = afterstate_threads::divide(2, 5, |range| range.sum::<usize>());
/// assert_eq!(sums, [0 + 1, 2 + 3 + 4]);
/// ```
pub fn divide<T: Send>(threads: usize, len: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let threads = threads.clamp(1, len.max(1));
    for_each((0..threads).map(|i| i * len / threads..(i + 1) * len / threads), work)
}

/// Lets `threads` threads take tasks until none is left, and returns the results in the order of the tasks.
///
/// ```
/// let squares = afterstate_threads::share(2, 0..4, |task| task * task);
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub fn share<I: Iterator<Item: Send> + Send, T: Send>(
    threads: usize,
    tasks: I,
    work: impl Fn(I::Item) -> T + Sync,
) -> Vec<T> {
    let queue = Queue::new(tasks.enumerate());
    let results = for_each(0..queue.threads(threads), |_| {
        std::iter::from_fn(|| queue.take()).map(|(i, task)| (i, work(task))).collect::<Vec<_>>()
    });
    let mut results: Vec<_> = results.into_iter().flatten().collect();
    results.sort_unstable_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A queue from which threads take one task at a time.
#[derive(Debug)]
pub struct Queue<I> {
    tasks: Mutex<std::iter::Fuse<I>>,
    most: usize,
}

impl<I: Iterator> Queue<I> {
    /// Creates a queue of these tasks.
    pub fn new(tasks: I) -> Self {
        Queue { most: tasks.size_hint().1.unwrap_or(usize::MAX), tasks: Mutex::new(tasks.fuse()) }
    }

    /// The next task.
    pub fn take(&self) -> Option<I::Item> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next()
    }

    /// Limits a number of threads to the number of tasks, but to at least one.
    pub fn threads(&self, threads: usize) -> usize {
        threads.min(self.most).max(1)
    }
}

/// Runs `work` on `threads` threads (at least one) until each has returned. Calls `watch` in the calling thread with each
/// item they send, and with `None` ten times a second while they send nothing; once it returns `false`, sets the flag that
/// tells them to stop. Sending blocks while `watch` is behind, and returns `false` once nobody receives any more. Returns
/// whether `watch` never asked them to stop.
///
/// ```
/// let mut sum = 0;
/// let whole = afterstate_threads::watched(
///     2,
///     |_, send, _stop| {
///         send(1);
///     },
///     |sent| {
///         sum += sent.unwrap_or(0);
///         true
///     },
/// );
/// assert_eq!((whole, sum), (true, 2));
/// ```
pub fn watched<T: Send>(
    threads: usize,
    work: impl Fn(usize, &dyn Fn(T) -> bool, &AtomicBool) + Sync,
    mut watch: impl FnMut(Option<T>) -> bool,
) -> bool {
    let (stop, threads) = (AtomicBool::new(false), threads.max(1));
    scope(|scope| {
        let (sender, receiver) = sync_channel(threads);
        let threads: Vec<_> = (0..threads)
            .map(|i| {
                let (sender, stop, work) = (sender.clone(), &stop, &work);
                scope.spawn(move || work(i, &|sent| sender.send(sent).is_ok(), stop))
            })
            .collect();
        drop(sender);
        loop {
            let sent = match receiver.recv_timeout(HEARTBEAT) {
                Ok(sent) => Some(sent),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if !watch(sent) {
                stop.store(true, Relaxed);
            }
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
    !stop.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn every_task_is_done_once_and_in_its_place() {
        for threads in [0, 1, 3, 100] {
            let done = AtomicUsize::new(0);
            let results = share(threads, 0..50, |task| (done.fetch_add(1, Relaxed), task).1);
            assert_eq!(results, (0..50).collect::<Vec<_>>(), "{threads} threads");
            assert_eq!(done.into_inner(), 50);
        }
    }

    #[test]
    fn ranges_cover_everything_without_a_gap() {
        for (threads, len) in [(1, 0), (4, 0), (3, 10), (8, 3), (1, 7)] {
            let ranges = divide(threads, len, |range| range);
            assert_eq!(ranges.iter().cloned().flatten().collect::<Vec<_>>(), (0..len).collect::<Vec<_>>());
            assert!(ranges.len() <= threads.max(1));
        }
    }

    #[test]
    fn each_thread_owns_its_item() {
        let mut items = [1, 2, 3];
        for_each(&mut items, |item| *item *= 10);
        assert_eq!(items, [10, 20, 30]);
        assert!(for_each([0; 0], |_| ()).is_empty());
    }

    #[test]
    fn a_watcher_stops_the_threads_and_sees_the_rest() {
        let mut seen = 0;
        let whole = watched(
            3,
            |_, send, stop| {
                while !stop.load(Relaxed) {
                    send(1);
                }
            },
            |sent| {
                seen += sent.unwrap_or(0);
                seen < 100
            },
        );
        assert!(!whole && seen >= 100);
    }

    #[test]
    fn a_panic_goes_on_in_the_caller() {
        let panics = |run: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err();
        assert!(panics(&|| drop(for_each(0..3, |i| assert!(i < 2)))));
        assert!(panics(&|| drop(share(2, 0..3, |i| assert!(i < 1)))));
        assert!(panics(&|| assert!(watched(2, |i, _: &dyn Fn(()) -> bool, _| assert!(i < 1), |_| true))));
    }
}
