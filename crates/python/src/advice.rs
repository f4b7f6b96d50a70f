//! Values and advice for arrays of boards, on some threads.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_dcnn::{DcnnPlayer, Play};
use afterstate_game::{Board, State};
use afterstate_lab::model::{Loaded, LoadedDcnn};
use afterstate_search::{Advice, Player, PlayerSpec};

use crate::array::{Bad, boards};

/// How boards are divided.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The numbers that are written for each board.
    pub(crate) each: usize,
    /// The boards that are read at a time.
    pub(crate) block: usize,
    pub(crate) threads: usize,
}

/// Reads boards block by block on some threads, as what `wrap` makes of them, and writes so many numbers for each.
pub(crate) fn in_blocks<const N: usize, B>(
    bytes: &[u8],
    to: &mut [f32],
    Plan { each, block, threads }: Plan,
    stop: &AtomicBool,
    wrap: impl Fn(Board<N>) -> B + Sync,
    work: impl Fn(&[B], &mut [f32]) + Sync,
) -> Result<(), Bad> {
    let pieces = bytes.chunks(N * N * block).zip(to.chunks_mut(each * block)).enumerate();
    let pieces = Mutex::new(pieces);
    let run = || -> Result<(), Bad> {
        let mut read = Vec::with_capacity(block);
        while !stop.load(Relaxed) {
            let piece = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((i, (bytes, to))) = piece else { break };
            read.clear();
            for board in boards::<N>(bytes) {
                read.push(wrap(board.map_err(|bad| bad.after(i * block))?));
            }
            work(&read, to);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let own = run();
        let join = |other: std::thread::ScopedJoinHandle<'_, _>| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        others.into_iter().map(join).fold(own, Result::and)
    })
}

/// Writes what a player says of boards.
fn write_advice(advice: &Advice, to: &mut [f32]) {
    to.iter_mut().zip(advice.values).for_each(|(to, value)| *to = value.unwrap_or(f32::NAN));
}

/// Advice by a search, for boards of the network's side.
pub(crate) fn advise_by_search<const N: usize>(
    loaded: &Loaded,
    spec: PlayerSpec,
    bytes: &[u8],
    to: &mut [f32],
    threads: usize,
    stop: &AtomicBool,
) -> Result<(), Bad> {
    let count = to.len() / 4;
    // Few boards are searched by all threads together, many by one thread each.
    let together = if count < threads { threads } else { 1 };
    let player = || spec.player::<N>(loaded.network.view(), loaded.rules, together);
    let block = (count / (8 * threads)).clamp(1, 256);
    let threads = if together > 1 { 1 } else { threads.min(count.div_ceil(block)).max(1) };
    let players = Mutex::new(Vec::new());
    let plan = Plan { each: 4, block, threads };
    in_blocks(bytes, to, plan, stop, State::<N>::new, |states, to| {
        let spare = players.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut player: Box<dyn Player<N> + '_> = spare.unwrap_or_else(&player);
        for (&state, to) in states.iter().zip(to.chunks_exact_mut(4)) {
            if stop.load(Relaxed) {
                return;
            }
            write_advice(&player.advise(state), to);
        }
        players.lock().unwrap_or_else(PoisonError::into_inner).push(player);
    })
}

/// Advice by a convolutional network.
pub(crate) fn advise_by_net(
    net: &LoadedDcnn,
    play: Play,
    bytes: &[u8],
    to: &mut [f32],
    threads: usize,
    stop: &AtomicBool,
) -> Result<(), Bad> {
    let block = DcnnPlayer::new(&net.net, play).games_in_step().max(1);
    let threads = threads.min((to.len() / 4).div_ceil(block)).max(1);
    let plan = Plan { each: 4, block, threads };
    in_blocks(bytes, to, plan, stop, State::<4>::new, |states, to| {
        let advice = DcnnPlayer::new(&net.net, play).advise_all(states);
        advice.iter().zip(to.chunks_exact_mut(4)).for_each(|(advice, to)| write_advice(advice, to));
    })
}
