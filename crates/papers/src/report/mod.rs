//! `report.html`: runs side by side in one self-contained file.
//!
//! A report compares [`Series`]: a run, or the runs of a row of a reproduced table, which differ by their seeds.

mod boards;
mod curves;
mod figure;
mod html;
mod page;
mod papers;
mod recipes;
mod series;
mod tables;

pub use boards::{BOARDS, Recorded, record};
pub use figure::{figure_page, svg};
pub use page::page;
pub use series::{Member, Series, Subject, load};

use std::{io, path::PathBuf};

use crate::reproduce::ReproduceError;
use afterstate_lab::{curve::CurveError, log::LogError, recipe::RecipeError, run::RunError};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The directory holds neither a run nor a reproduced table.
    #[error("{} holds neither a run nor a reproduced table", .0.display())]
    Nothing(PathBuf),
    /// A file that cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An error of a run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// An error of a recipe.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The record of a run cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// An error of the papers' tables.
    #[error(transparent)]
    Papers(#[from] ReproduceError),
    /// A curve cannot be drawn.
    #[error(transparent)]
    Curve(#[from] CurveError),
}
