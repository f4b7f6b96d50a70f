//! The tables of a model file with weight promotion resolved, as play reads them.

use crate::{
    NetworkSpec,
    file::{FileError, Floats, safetensors::TensorFile},
};

/// A table in which each weight that has never been accessed is that of the previous stage.
#[derive(Clone, Copy)]
pub(super) struct Resolved<'a> {
    own: Floats<'a>,
    before: Option<Floats<'a>>,
}

impl<'a> Resolved<'a> {
    /// Opens the table of a network that this file holds.
    pub(super) fn open(file: &'a TensorFile, spec: &NetworkSpec, table: usize) -> Result<Self, FileError> {
        let tensor = |table| file.tensor(&format!("V.{}", spec.table_name(table)));
        let promoted = spec.promotion && spec.table_id(table).stage > 0;
        let before =
            promoted.then(|| tensor(table - spec.values.sets() * spec.tables_per_set())).transpose()?;
        Ok(Resolved { own: tensor(table)?, before })
    }

    /// The weight at an index, or 0 beyond the end.
    #[inline(always)]
    pub(super) fn get(self, index: usize) -> f32 {
        match (self.own.get(index), self.before) {
            (Some(0.0), Some(before)) => before.get(index).unwrap_or_default(),
            (weight, _) => weight.unwrap_or_default(),
        }
    }
}
