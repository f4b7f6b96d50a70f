//! Values and advice for arrays of boards, on several threads.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_game::{Board, State};
use afterstate_lab::model::{Model, Search};
use afterstate_search::Player;
use afterstate_threads::{Queue, for_each};
use pyo3::PyResult;

use crate::{
    array::{Bad, boards},
    error::model_error,
};

/// How boards are divided among threads.
#[derive(Clone, Copy)]
pub(crate) struct BlockPlan {
    /// The number of results for each board.
    pub(crate) each: usize,
    /// The number of boards that are read at a time.
    pub(crate) block: usize,
    pub(crate) threads: usize,
}

/// Reads boards block by block on several threads, converts them by `wrap`, and writes this many results for each.
pub(crate) fn in_blocks<const N: usize, B>(
    bytes: &[u8],
    to: &mut [f32],
    BlockPlan { each, block, threads }: BlockPlan,
    stop: &AtomicBool,
    wrap: impl Fn(Board<N>) -> B + Sync,
    work: impl Fn(&[B], &mut [f32]) + Sync,
) -> Result<(), Bad> {
    let pieces = bytes.chunks(N * N * block).zip(to.chunks_mut(each * block)).enumerate();
    let pieces = Queue::new(pieces);
    let run = || -> Result<(), Bad> {
        let mut read = Vec::with_capacity(block.min(bytes.len() / (N * N)));
        while !stop.load(Relaxed) {
            let Some((i, (bytes, to))) = pieces.take() else { break };
            read.clear();
            for board in boards::<N>(bytes) {
                read.push(wrap(board.map_err(|bad| bad.after(i * block))?));
            }
            work(&read, to);
        }
        Ok(())
    };
    for_each(0..threads, |_| run()).into_iter().collect()
}

/// Advice of a model, for boards of its side. Few boards are searched by all threads together, many by one thread each.
pub(crate) fn advise<const N: usize>(
    model: &Model,
    search: Search,
    bytes: &[u8],
    to: &mut [f32],
    threads: usize,
    stop: &AtomicBool,
) -> PyResult<()> {
    let count = to.len() / 4;
    let together = if count < threads { threads } else { 1 };
    let player = || model.player::<N>(search, together);
    let in_step = player().map_err(model_error)?.games_in_step();
    let block = if in_step > 1 { in_step } else { (count / (8 * threads)).clamp(1, 256) };
    let threads = if together > 1 { 1 } else { threads.min(count.div_ceil(block)).max(1) };
    let players = Mutex::new(Vec::new());
    let plan = BlockPlan { each: 4, block, threads };
    in_blocks(bytes, to, plan, stop, State::<N>::new, |states, to| {
        let spare = players.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut player) = spare.or_else(|| player().ok()) else { return };
        // Players that evaluate many boards at once get them all; the others get one at a time, so that they can be
        // stopped.
        for (states, to) in states.chunks(in_step.max(1)).zip(to.chunks_mut(4 * in_step.max(1))) {
            if stop.load(Relaxed) {
                return;
            }
            for (advice, to) in player.advise_all(states).iter().zip(to.chunks_exact_mut(4)) {
                to.iter_mut().zip(advice.values).for_each(|(to, value)| *to = value.unwrap_or(f32::NAN));
            }
        }
        players.lock().unwrap_or_else(PoisonError::into_inner).push(player);
    })?;
    Ok(())
}
