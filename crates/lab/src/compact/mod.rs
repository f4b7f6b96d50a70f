//! Compact models: a network in a few megabytes, for play.
//!
//! 1. The network plays, and the lookups of a 3-ply search are counted: the weights that `visits` meets.
//! 2. What weights have in common moves into small tuples (`redundant`), and weight promotion is resolved.
//! 3. Every weight gets a precision by its visits, and the tables are packed. The mean square error of a value is the sum
//!    over its weights of visits × error²; for a given number of bits it is least if the step of a weight goes with
//!    1/√visits. The step of the rarest weights is then chosen such that the file has the size that is wanted.

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

/// What a compact model is to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CompactSettings {
    /// The largest number of bytes of its file.
    pub bytes: u64,
    /// The number of games in which visits are counted.
    pub games: u64,
    /// Their seed.
    pub seed: u64,
    /// Their rules.
    pub rules: Rules,
    /// The boards that the player that is counted downgrades.
    pub downgrade: Option<Downgrade>,
    /// The number of threads that play.
    pub threads: usize,
}

/// How far it has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CompactProgress {
    /// So many games have been played.
    Played(u64),
    /// A try at packing: the step of the rarest weights, the number of weights that are kept, and of bytes.
    Packed(f32, u64, u64),
}

/// Why a model cannot be made compact.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// Values that a search has no use for.
    #[error("a network of {0} cannot be made compact: only values of afterstates are searched")]
    Values(Values),
    /// A size that the file cannot have.
    #[error("{0} bytes are too few for a model: it takes 100000")]
    Bytes(u64),
    /// The compact network does not fit into memory.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// It cannot be packed.
    #[error(transparent)]
    Packing(#[from] FileProblem),
    /// Someone had enough of it.
    #[error("stopped")]
    Stopped,
}

/// What the header and the metadata of a file may take.
const HEADER: u64 = 16 << 10;

/// Makes a network compact. `watch` sees the progress; when it returns `false`, that is all.
///
/// # Errors
/// If the network is not of afterstates or too large, or `watch` has stopped it.
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

/// Packs with the step that makes the file as large as it may be.
fn fit(
    Rearranged { network, stages, precisions }: &Rearranged,
    bytes: u64,
    mut watch: impl FnMut(&Packed, f32) -> bool,
) -> Result<Packed, CompactError> {
    /// Good enough.
    const LEAST: f64 = 0.99;
    const MOST_TRIES: usize = 12;
    /// Finer steps than this, log₂ of a point, serve no one, however much room there is.
    const FINEST: f64 = -8.0;
    let mut log_step: f64 = 9.0;
    // The nearest tries on both sides: log₂ of the step, and the logarithm of the size against what it may be.
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
            // Three times the step makes about half the size.
            _ => log_step + (tried.1 * 2.3).clamp(-4.0, 4.0),
        };
        log_step = next.max(FINEST);
    }
    best.ok_or(CompactError::Bytes(bytes))
}
