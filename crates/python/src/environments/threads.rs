//! The threads that step environments.

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::value_error;

/// Threads in addition to the caller's. They do not survive a fork, so a forked process creates new ones.
pub(super) struct Helpers {
    pool: ThreadPool,
    process: u32,
}

impl Helpers {
    fn new(count: usize) -> PyResult<Self> {
        let pool = ThreadPoolBuilder::new().num_threads(count).build().map_err(value_error)?;
        Ok(Helpers { pool, process: std::process::id() })
    }

    /// Runs pieces of work, one of them on the caller's thread.
    pub(super) fn divide<P: Send>(&self, pieces: impl Iterator<Item = P>, work: impl Fn(P) + Sync + Send) {
        let work = &work;
        self.pool.in_place_scope(|scope| {
            let mut pieces = pieces;
            let own = pieces.next();
            pieces.for_each(|piece| scope.spawn(move |_| work(piece)));
            own.into_iter().for_each(work);
        });
    }
}

/// The helpers of an environment, created on first use.
#[derive(Default)]
pub(super) struct Threads {
    helpers: Option<Helpers>,
}

impl Threads {
    /// This many helpers of this process.
    pub(super) fn helpers(&mut self, count: usize) -> PyResult<&Helpers> {
        if self.helpers.as_ref().is_some_and(|helpers| helpers.process != std::process::id()) {
            // Its threads are the parent's: waiting for them would never end.
            std::mem::forget(self.helpers.take());
        }
        match &mut self.helpers {
            Some(helpers) => Ok(helpers),
            none => Ok(none.insert(Helpers::new(count)?)),
        }
    }
}
