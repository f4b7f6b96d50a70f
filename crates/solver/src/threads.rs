//! Dividing work among threads.

pub(crate) use afterstate_threads::divide;

/// The number of threads that pays off for this many boards.
pub(crate) fn worthwhile(threads: usize, boards: usize) -> usize {
    threads.min(boards / 1024 + 1)
}
