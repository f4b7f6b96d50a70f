//! The trainings of a table, distributed over the ranks of `mpirun`.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Mutex, PoisonError, atomic::AtomicBool},
};

use afterstate_cluster::World;
use afterstate_papers::reproduce::{
    ReproduceError, TablePlan,
    work::{self, Job, Share},
};

use super::display::Display;

/// Runs all trainings together with the other ranks. Returns true in the first rank, which then reports on the contents
/// of the directory.
pub(super) fn train(
    world: &World,
    plan: &TablePlan,
    directory: &Path,
    stop: &AtomicBool,
) -> Result<bool, ReproduceError> {
    if !world.is_first() {
        return world.follow(|caller| {
            let take = |job: (usize, u64)| caller.ask(&job).unwrap_or(false);
            work::run_share(plan, directory, &Ranks { world, take: &take }, stop, &mut |_, _| ())?;
            Ok(false)
        });
    }
    let taken = Mutex::new(HashSet::new());
    let take = |job: (usize, u64)| taken.lock().unwrap_or_else(PoisonError::into_inner).insert(job);
    let mut display = Display::new(plan);
    let done = world.lead(take, || {
        let share = Ranks { world, take: &take };
        work::run_share(plan, directory, &share, stop, &mut |job, event| display.show(job, event))
    });
    display.finish();
    Ok(done?.is_some())
}

/// The ranks, which ask the first one for jobs.
struct Ranks<'a> {
    world: &'a World,
    take: &'a (dyn Fn((usize, u64)) -> bool + Sync),
}

impl Share for Ranks<'_> {
    fn takes(&self, job: Job) -> bool {
        (self.take)((job.training, job.seed))
    }

    fn meet(&self) {
        self.world.barrier();
    }
}
