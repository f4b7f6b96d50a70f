//! Packed tables: a network in megabytes instead of gigabytes, for play.
//!
//! Weights that play seldom uses are dropped. The others are rounded, the more coarsely the less often they are used, and
//! entropy-coded (`coder`) in an order (`walk`) in which it is cheap to code which weights are kept. Where stages grew out
//! of one another (weight promotion), the tables of a stage are coded as differences from the previous stage: a weight
//! dropped there is that of the previous stage. Other stages are coded separately.
//!
//! docs/model-files.md has the format.

mod coder;
mod read;
mod shape;
mod walk;
mod write;

use crate::NetworkSpec;

pub(super) use read::fill;
pub use write::Packed;

/// The metadata key of the step of precision 1. Each further precision halves it.
pub(super) const STEP: &str = "packed_step";

/// The version of model files with packed tables.
pub(super) const VERSION: &str = "3";

/// The version where the stages are coded separately.
pub(super) const VERSION_APART: &str = "4";

/// How the tables of a stage are coded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StageCoding {
    /// As differences from the previous stage: a dropped weight is the same as there.
    Differences,
    /// Separately: a dropped weight is 0.
    Apart,
}

/// The valid steps: every level times any of them is finite.
const STEPS: std::ops::RangeInclusive<f32> = 1e-6..=1e9;

/// The finest precision.
pub const FINEST: u8 = coder::SYMBOLS as u8 - 1;

/// The step of a precision of at least 1.
fn step_of(step: f32, precision: u8) -> f32 {
    step / f32::from(1u16 << precision.saturating_sub(1))
}

/// The number of tables in a stage.
fn tables_per_stage(spec: &NetworkSpec) -> usize {
    spec.values.sets() * spec.tables_per_set()
}
