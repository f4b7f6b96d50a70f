//! MPI ranks. Every call is short and takes its turn, so that the library need not be thread-safe.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    thread::sleep,
    time::Duration,
};

use mpi::{
    Threading,
    collective::SystemOperation,
    environment::Universe,
    point_to_point::{Message, Status},
    request::{Request, Scope, scope},
    topology::SimpleCommunicator,
    traits::*,
};

use crate::{JoinError, Tag};

/// The number of elements reduced at a time: counts are 32 bits wide, and buffers should not double the memory.
const AT_A_TIME: usize = 1 << 22;

/// The MPI library.
pub(crate) struct Backend {
    turn: Mutex<()>,
}

pub(crate) fn join(_: usize) -> Result<Option<(Universe, Backend, usize, usize)>, JoinError> {
    let joined = mpi::initialize_with_threading(Threading::Serialized);
    let (universe, threading) = joined.ok_or(JoinError::Library("it has been initialised before"))?;
    if threading < Threading::Serialized {
        return Err(JoinError::Library("it was built without support for threads"));
    }
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    Ok(Some((universe, Backend { turn: Mutex::new(()) }, rank, size)))
}

impl Backend {
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn send(&self, to: usize, tag: Tag, bytes: &[u8]) {
        let _turn = self.turn();
        SimpleCommunicator::world().process_at_rank(to as i32).send_with_tag(bytes, tag as i32);
    }

    /// Receives a message, if there is one.
    pub(crate) fn poll(&self, from: Option<usize>, tag: Tag) -> Option<(usize, Vec<u8>)> {
        let _turn = self.turn();
        let world = SimpleCommunicator::world();
        let probed: Option<(Message, Status)> = match from {
            Some(rank) => world.process_at_rank(rank as i32).immediate_matched_probe_with_tag(tag as i32),
            None => world.any_process().immediate_matched_probe_with_tag(tag as i32),
        };
        let (bytes, status) = probed?.matched_receive_vec::<u8>();
        Some((status.source_rank() as usize, bytes))
    }

    pub(crate) fn barrier(&self, pause: Duration) {
        let request = {
            let _turn = self.turn();
            SimpleCommunicator::world().immediate_barrier()
        };
        self.finish(request, pause);
    }

    pub(crate) fn all_or(&self, words: &mut [u64], pause: Duration) {
        for words in words.chunks_mut(AT_A_TIME) {
            let own = words.to_vec();
            scope(|scope| {
                let request = {
                    let _turn = self.turn();
                    let world = SimpleCommunicator::world();
                    world.immediate_all_reduce_into(
                        scope,
                        &own[..],
                        &mut *words,
                        SystemOperation::bitwise_or(),
                    )
                };
                self.finish(request, pause);
            });
        }
    }

    /// Every rank sums an equal part of the numbers, in rank order, and sends the sums to all. This transfers as many
    /// bytes as the library's own reduction, whose order is unspecified.
    pub(crate) fn all_sum(&self, numbers: &mut [f32], pause: Duration) {
        for numbers in numbers.chunks_mut(AT_A_TIME) {
            let size = SimpleCommunicator::world().size() as usize;
            let part = numbers.len().div_ceil(size);
            let mut all = vec![0.0f32; size * part];
            all[..numbers.len()].copy_from_slice(numbers);
            let mut parts = vec![0.0f32; size * part];
            scope(|scope| {
                let request = {
                    let _turn = self.turn();
                    SimpleCommunicator::world().immediate_all_to_all_into(scope, &all[..], &mut parts[..])
                };
                self.finish(request, pause);
            });
            let (sums, others) = parts.split_at_mut(part);
            for other in others.chunks_exact(part) {
                sums.iter_mut().zip(other).for_each(|(sum, number)| *sum += number);
            }
            scope(|scope| {
                let request = {
                    let _turn = self.turn();
                    SimpleCommunicator::world().immediate_all_gather_into(scope, &*sums, &mut all[..])
                };
                self.finish(request, pause);
            });
            numbers.copy_from_slice(&all[..numbers.len()]);
        }
    }

    /// Waits without spinning: the cores have games to play.
    fn finish<'a, D: ?Sized, S: Scope<'a>>(&self, mut request: Request<'a, D, S>, pause: Duration) {
        loop {
            let tested = {
                let _turn = self.turn();
                request.test()
            };
            match tested {
                Ok(_) => return,
                Err(again) => request = again,
            }
            sleep(pause);
        }
    }

    pub(crate) fn abort(&self, code: i32) -> ! {
        SimpleCommunicator::world().abort(code)
    }
}
