//! Compact models: a network in a few megabytes, for play.
//!
//! 1. The network plays, and `visits` counts the weights that a 3-ply search looks up.
//! 2. The common part of weights moves into small tuples (`redundant`), and weight promotion is resolved.
//! 3. Every weight gets a precision by its visits, and the tables are packed. The mean square error of a value is the
//!    sum over its weights of visits × error²; for a given number of bits it is minimal if the step of a weight is
//!    proportional to 1/√visits. The step of the rarest weights is chosen such that the file has the requested size.

mod rearrange;
mod redundant;
mod visits;

use std::sync::atomic::Ordering::Relaxed;

use afterstate_game::Rules;
use afterstate_network::{
    Network, NetworkError, Values,
    file::{FileProblem, packed::Packed},
};

use afterstate_search::Downgrade;
use afterstate_threads::{Queue, watched};
use rearrange::{Rearranged, rearrange};
use visits::Visits;

/// The parameters of a compact model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CompactSettings {
    /// The maximum size of its file in bytes.
    pub bytes: u64,
    /// The number of games in which visits are counted.
    pub games: u64,
    /// Their seed.
    pub seed: u64,
    /// Their rules.
    pub rules: Rules,
    /// The boards that the counted player downgrades.
    pub downgrade: Option<Downgrade>,
    /// The number of threads.
    pub threads: usize,
}

/// The progress of compaction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CompactProgress {
    /// The number of games played.
    Played(u64),
    /// A packing attempt: the step of the rarest weights, the number of weights kept, and the number of bytes.
    Packed(f32, u64, u64),
}

/// Why a model cannot be compacted.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// Values that cannot be used for a search.
    #[error("a network of {0} cannot be compacted: searches need values of afterstates")]
    Values(Values),
    /// A size that is too small.
    #[error("{0} bytes are too few for a model: it needs at least 100000")]
    Bytes(u64),
    /// The compact network does not fit into memory.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// It cannot be packed.
    #[error(transparent)]
    Packing(#[from] FileProblem),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

/// The space reserved for the header and metadata of a file.
const HEADER: u64 = 16 << 10;

/// Compacts a network. `watch` receives the progress; compaction stops when it returns `false`.
///
/// # Errors
/// If the network is not of afterstates or too large, or `watch` stops it.
pub fn compact(
    network: &Network,
    settings: CompactSettings,
    mut watch: impl FnMut(CompactProgress) -> bool,
) -> Result<Packed, CompactError> {
    let spec = network.spec();
    if spec.values != Values::Afterstates {
        return Err(CompactError::Values(spec.values));
    }
    let bytes = settings.bytes.checked_sub(HEADER).filter(|&bytes| bytes > 80_000);
    let bytes = bytes.ok_or(CompactError::Bytes(settings.bytes))?;
    let visits = count_visits(network, settings, |games| watch(CompactProgress::Played(games)))?;
    let rearranged = rearrange(network, &visits)?;
    drop(visits);
    fit(&rearranged, bytes, |packed, step| {
        watch(CompactProgress::Packed(step, packed.weights(), packed.bytes()))
    })
}

fn count_visits(
    network: &Network,
    settings: CompactSettings,
    mut watch: impl FnMut(u64) -> bool,
) -> Result<Visits, CompactError> {
    let visits = Visits::new(network);
    let (numbers, mut played) = (Queue::new(0..settings.games), 0);
    let whole = watched(
        settings.threads,
        |_, send, stop| {
            while let Some(number) = numbers.take().filter(|_| !stop.load(Relaxed)) {
                match network.spec().side {
                    4 => visits.play::<4>(network, settings, number),
                    3 => visits.play::<3>(network, settings, number),
                    _ => visits.play::<2>(network, settings, number),
                }
                if !send(()) {
                    return;
                }
            }
        },
        |game| {
            played += game.map_or(0, |()| 1);
            watch(played)
        },
    );
    if whole { Ok(visits) } else { Err(CompactError::Stopped) }
}

/// Packs with the step at which the file just fits the size limit.
fn fit(
    Rearranged { network, stages, precisions }: &Rearranged,
    bytes: u64,
    mut watch: impl FnMut(&Packed, f32) -> bool,
) -> Result<Packed, CompactError> {
    /// The share of the size limit that is good enough.
    const LEAST: f64 = 0.99;
    const MOST_TRIES: usize = 12;
    /// Finer steps than this, log₂ of a point, have no benefit, however much space there is.
    const FINEST: f64 = -8.0;
    let mut log_step: f64 = 9.0;
    // The nearest attempts on both sides: log₂ of the step, and the logarithm of the size relative to the limit.
    let mut too_large: Option<(f64, f64)> = None;
    let mut small: Option<(f64, f64)> = None;
    let mut best = None;
    for _ in 0..MOST_TRIES {
        let step = log_step.exp2() as f32;
        let packed = Packed::new(network, *stages, step, |index| precisions[index])?;
        if !watch(&packed, step) {
            return Err(CompactError::Stopped);
        }
        let share = packed.bytes() as f64 / bytes as f64;
        let tried = (log_step, share.ln() - LEAST.ln() / 2.0);
        if share > 1.0 {
            too_large = Some(tried);
        } else {
            (small, best) = (Some(tried), Some(packed));
            if share >= LEAST || log_step <= FINEST {
                break;
            }
        }
        let next = match (too_large, small) {
            (Some((fine, above)), Some((coarse, below))) => fine + (coarse - fine) * above / (above - below),
            // Three times the step gives about half the size.
            _ => log_step + (tried.1 * 2.3).clamp(-4.0, 4.0),
        };
        log_step = next.max(FINEST);
    }
    best.ok_or(CompactError::Bytes(bytes))
}
