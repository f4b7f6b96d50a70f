//! The papers' tables, run at a share of their budget, with our figures beside the paper's.
//!
//! [`paper`] parses what a paper says, [`TablePlan`] derives the trainings and evaluations that a table needs, [`work`]
//! does those that are missing, and [`Report`] puts our figures beside the paper's, with a [`Verdict`] on each claim.

mod error;
mod estimate;
mod figure;
mod markdown;
mod measure;
pub mod paper;
mod plan;
mod report;
mod sample;
mod training;
mod verdict;
pub mod work;

pub use error::ReproduceError;
pub use estimate::Rates;
pub use figure::{Curve, LearningCurves, Panel, Point};
pub use paper::{Table, table_names};
pub use plan::{GameCounts, Options, TablePlan};
pub use report::{Cell, Ours, Report, ReportRow};
pub use sample::{Difference, Sample};
pub use training::{Entrant, Training};
pub use verdict::{ClaimReport, Verdict};
