//! The ranks of `mpirun` as replicas of one network.

use afterstate_cluster::World;
use afterstate_lab::run::{MergeEvery, Merging, Replicas};
use afterstate_learning::{TrainerState, replicas::Exchange};

struct Ranks(&'static World);

impl Exchange for Ranks {
    fn any(&self, words: &mut [u64]) {
        self.0.all_or(words);
    }

    fn sum(&self, numbers: &mut [f32]) {
        self.0.all_sum(numbers);
    }
}

impl Replicas for Ranks {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn gather(&self, own: TrainerState) -> Vec<TrainerState> {
        self.0.gather(own)
    }
}

/// All ranks, which exist until the process ends.
pub(super) fn merging(world: &'static World, every: MergeEvery) -> Merging {
    Merging { replicas: Box::leak(Box::new(Ranks(world))), every }
}
