//! Work divided among threads.

pub(crate) use afterstate_threads::divide;

/// The number of threads that so many boards are worth.
pub(crate) fn worthwhile(threads: usize, boards: usize) -> usize {
    threads.min(boards / 1024 + 1)
}
