//! Packed tables: a network in megabytes instead of gigabytes, for play.
//!
//! Weights that play seldom meets are left out, the others rounded, the more coarsely the less they are met, and what is left
//! is entropy-coded (`coder`) in an order (`walk`) that makes it cheap to say which weights there are. Where stages have
//! grown out of one another (weight promotion), the tables of a stage are coded as differences from the stage before it: a
//! weight that is left out there is that of the stage before. Other stages are coded apart.
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

/// The key of the metadata that holds the step of precision 1. Each further precision halves it.
pub(super) const STEP: &str = "packed_step";

/// The version of model files with packed tables.
pub(super) const VERSION: &str = "3";

/// Their version where the stages are coded apart.
pub(super) const VERSION_APART: &str = "4";

/// What the tables of a stage are coded as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StageCoding {
    /// As differences from the stage before: what is left out is as there.
    Differences,
    /// As they are: what is left out is 0.
    Apart,
}

/// The steps that make sense: every level times any of them is finite.
const STEPS: std::ops::RangeInclusive<f32> = 1e-6..=1e9;

/// The largest precision.
pub const FINEST: u8 = coder::SYMBOLS as u8 - 1;

/// The step of a precision from 1 on.
fn step_of(step: f32, precision: u8) -> f32 {
    step / f32::from(1u16 << precision.saturating_sub(1))
}

/// The number of tables in a stage.
fn tables_per_stage(spec: &NetworkSpec) -> usize {
    spec.values.sets() * spec.tables_per_set()
}
