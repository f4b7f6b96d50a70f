//! What a network is, before any weight exists.

use crate::{Tuple, TupleError, Tuples};

/// The shape of an n-tuple network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkSpec {
    /// The side of the board: 2, 3 or 4.
    pub side: usize,
    /// The tuples.
    pub tuples: Tuples,
    /// c, the number of tile values that a cell can show: larger tiles look like the largest, so
    /// that c = 16 sees a 65536-tile as 32768.
    pub tile_values: usize,
    /// Symmetric sampling: every tuple is looked up on all eight images of the board.
    pub symmetric: bool,
}

/// Why a specification describes no network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A side that no board has.
    #[error("a board of side {0}: boards are 2×2, 3×3 or 4×4")]
    Side(usize),
    /// A number of tile values that makes no sense.
    #[error("{0} tile values: c is 2 to 18 (16, 17 and 18 see tiles up to 32768, 65536 and 131072)")]
    TileValues(usize),
    /// A table that positions of 32 bits cannot reach.
    #[error("tuple `{tuple}` with {tile_values} tile values has {weights} weights: a table can have 2^32")]
    Table {
        /// The tuple.
        tuple: String,
        /// c.
        tile_values: usize,
        /// c^n.
        weights: u64,
    },
    /// A bad tuple.
    #[error(transparent)]
    Tuple(#[from] TupleError),
}

impl Default for NetworkSpec {
    fn default() -> Self {
        let tuples = Tuples::named("4x6").expect("a built-in set");
        NetworkSpec { side: 4, tuples, tile_values: 16, symmetric: true }
    }
}

impl NetworkSpec {
    /// Checks that the parts fit together.
    ///
    /// # Errors
    /// When a cell lies outside the board or a number is out of range.
    pub fn check(&self) -> Result<(), SpecError> {
        if !(2..=4).contains(&self.side) {
            return Err(SpecError::Side(self.side));
        }
        if !(2..=18).contains(&self.tile_values) {
            return Err(SpecError::TileValues(self.tile_values));
        }
        for tuple in self.tuples.as_slice() {
            tuple.check(self.side)?;
            let weights = self.table_len(tuple);
            if weights > 1 << 32 {
                return Err(SpecError::Table {
                    tuple: tuple.to_string(),
                    tile_values: self.tile_values,
                    weights,
                });
            }
        }
        Ok(())
    }

    /// The number of weights in the table of a tuple: c^n.
    pub fn table_len(&self, tuple: &Tuple) -> u64 {
        (self.tile_values as u64).pow(tuple.len() as u32)
    }

    /// The number of weights.
    pub fn weights(&self) -> u64 {
        self.tuples.as_slice().iter().map(|tuple| self.table_len(tuple)).sum()
    }

    /// m, the number of weights that make up one value: the learning rate is divided by it.
    pub fn active_features(&self) -> usize {
        self.tuples.as_slice().len() * if self.symmetric { 8 } else { 1 }
    }
}
