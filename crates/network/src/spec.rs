//! The specification of a network, independent of its weights.

use std::{fmt, ops::Range};

use afterstate_game::Move;

use crate::{RangesError, Stages, StagesError, Tuple, TupleError, Tuples, ValueRange, ValueRanges, Values};

/// The shape of an n-tuple network.
#[derive(Clone, PartialEq, Debug)]
pub struct NetworkSpec {
    /// The side of the board: 2, 3 or 4.
    pub side: usize,
    /// The tuples.
    pub tuples: Tuples,
    /// c, the number of tile values that a cell distinguishes: larger tiles look like the largest, so
    /// with c = 16 a 65536-tile looks like 32768.
    pub tile_values: usize,
    /// Symmetric sampling: every tuple is looked up on all eight images of the board.
    pub symmetric: bool,
    /// Vertical Split Encoding: the ranges with one table each; `None` is the plain encoding.
    pub ranges: Option<ValueRanges>,
    /// The stages, each with its own tables.
    pub stages: Stages,
    /// Weight promotion: a weight of 0 stands for the one in the previous stage (jaskowski-2016, V.D.2).
    pub promotion: bool,
    /// Optimistic initialization (guei-2021, III): V_init, the value of every board before any learning,
    /// for each stage; or one number for all stages.
    pub initial: Vec<f32>,
    /// What the values describe.
    pub values: Values,
}

/// One of the tables of a network, which are numbered stage by stage, action by action if actions have their own tables,
/// tuple by tuple, range by range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableId {
    /// The set of tables: one for each stage, or one for each stage and action.
    pub set: usize,
    /// The stage.
    pub stage: usize,
    /// The number of the action; 0 if all share the same tables.
    pub action: usize,
    /// The tuple.
    pub tuple: usize,
    /// The value range.
    pub range: usize,
}

/// Why a specification is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpecError {
    /// An invalid side.
    #[error("a board of side {0}: boards are 2×2, 3×3 or 4×4")]
    Side(usize),
    /// An invalid number of tile values.
    #[error("{0} tile values: c is 2 to 18 (16, 17 and 18 see tiles up to 32768, 65536 and 131072)")]
    TileValues(usize),
    /// Value ranges that do not cover the tile values.
    #[error(transparent)]
    Ranges(#[from] RangesError),
    /// Value ranges of long tuples, but no tuple is that long.
    #[error("value ranges `{0}`: no tuple has that many cells, so none would be split")]
    NoneSplit(ValueRanges),
    /// Invalid stages.
    #[error(transparent)]
    Stages(#[from] StagesError),
    /// Promotion without a second stage.
    #[error("weight promotion needs at least two stages")]
    Promotion,
    /// The number of initial values does not match the stages.
    #[error("{found} initial values for {stages} stages: give one for all, or one for each")]
    InitialCount {
        /// The number of values.
        found: usize,
        /// The number of stages.
        stages: usize,
    },
    /// An initial value that is not finite.
    #[error("the initial value {0} must be finite")]
    InitialValue(f32),
    /// Different initial values with promotion.
    #[error("with weight promotion all stages have one initial value: they start from the stage before them")]
    InitialPromotion,
    /// A stage that cannot begin with the weights of halved tiles.
    #[error(
        "stage {0} cannot begin with the first stage's weights for tiles halved: that needs a stage from some tiles on, and a \
         network without weight promotion, where a weight of 0 stands for another one"
    )]
    Halved(usize),
    /// The same, because a value range does not distinguish the tiles.
    #[error(
        "stage {stage} cannot begin with the first stage's weights for tiles halved: the value range {range} shows a \
         {tile}-tile and larger ones alike, and halved they would differ; a range must end two tiles below {smallest}, \
         the smallest tile that is halved"
    )]
    HalvedRange {
        /// The stage.
        stage: usize,
        /// The range.
        range: ValueRange,
        /// The smallest tile above the range.
        tile: u32,
        /// The smallest tile that is halved.
        smallest: u32,
    },
    /// A table too large for 32-bit indices.
    #[error(
        "tuple `{tuple}` with {tile_values} tile values has {weights} weights: a table can have at most 2^32"
    )]
    Table {
        /// The tuple.
        tuple: String,
        /// c.
        tile_values: usize,
        /// c^n.
        weights: u64,
    },
    /// An invalid tuple.
    #[error(transparent)]
    Tuple(#[from] TupleError),
}

impl Default for NetworkSpec {
    fn default() -> Self {
        let tuples = Tuples::named("4x6").expect("a built-in set");
        NetworkSpec {
            side: 4,
            tuples,
            tile_values: 16,
            symmetric: true,
            ranges: None,
            stages: Stages::default(),
            promotion: false,
            initial: vec![0.0],
            values: Values::Afterstates,
        }
    }
}

impl NetworkSpec {
    /// Checks that the parts are consistent.
    ///
    /// # Errors
    /// If a cell lies outside the board or a number is out of range.
    pub fn check(&self) -> Result<(), SpecError> {
        if !(2..=4).contains(&self.side) {
            return Err(SpecError::Side(self.side));
        }
        if !(2..=18).contains(&self.tile_values) {
            return Err(SpecError::TileValues(self.tile_values));
        }
        if let Some(ranges) = &self.ranges
            && !ranges.covers(self.tile_values)
        {
            ValueRanges::parse(&ranges.to_string(), self.tile_values)?;
        }
        if let Some(ranges) = &self.ranges
            && !self.tuples.as_slice().iter().any(|tuple| ranges.split(tuple))
        {
            return Err(SpecError::NoneSplit(ranges.clone()));
        }
        self.tuples.as_slice().iter().try_for_each(|tuple| tuple.check(self.side))?;
        for table in 0..self.tables_per_set() {
            let weights = self.table_len(table);
            if weights > 1 << 32 {
                let tuple = self.tuple(table).to_string();
                return Err(SpecError::Table { tuple, tile_values: self.labels(table), weights });
            }
        }
        self.check_stages()
    }

    fn check_stages(&self) -> Result<(), SpecError> {
        let (found, stages) = (self.initial.len(), self.stages.count());
        if self.promotion && stages == 1 {
            return Err(SpecError::Promotion);
        }
        if found != 1 && found != stages {
            return Err(SpecError::InitialCount { found, stages });
        }
        if let Some(&value) = self.initial.iter().find(|value| !value.is_finite()) {
            return Err(SpecError::InitialValue(value));
        }
        let differ = self.initial.iter().any(|&value| value != self.initial[0]);
        if self.promotion && differ { Err(SpecError::InitialPromotion) } else { Ok(()) }
    }

    /// V_init of a stage.
    pub fn initial(&self, stage: usize) -> f32 {
        self.initial[if self.initial.len() == 1 { 0 } else { stage }]
    }

    /// Whether indices are concatenated exponents of four bits: plain tables with c = 16.
    pub(crate) fn has_nibbles(&self) -> bool {
        self.ranges.is_none() && self.tile_values == 16
    }

    /// The value ranges of a tuple; `None` in the plain encoding.
    pub(crate) fn ranges_of(&self, tuple: usize) -> Option<&[ValueRange]> {
        let tuple = &self.tuples.as_slice()[tuple];
        self.ranges.as_ref().filter(|ranges| ranges.split(tuple)).map(ValueRanges::as_slice)
    }

    /// The tables of a tuple in a set: one for each of its value ranges.
    pub(crate) fn tables_of(&self, tuple: usize) -> Range<usize> {
        let count = |tuple: usize| self.ranges_of(tuple).map_or(1, <[ValueRange]>::len);
        let first = (0..tuple).map(count).sum();
        first..first + count(tuple)
    }

    /// The number of sets of tables: one for each stage, or one for each stage and action.
    pub fn sets(&self) -> usize {
        self.stages.count() * self.values.sets()
    }

    /// The number of tables in a set.
    pub fn tables_per_set(&self) -> usize {
        self.tables_of(self.tuples.as_slice().len() - 1).end
    }

    /// The number of tables.
    pub fn tables(&self) -> usize {
        self.sets() * self.tables_per_set()
    }

    /// The stage, action, tuple and range of a table.
    pub fn table_id(&self, table: usize) -> TableId {
        let (set, table) = (table / self.tables_per_set(), table % self.tables_per_set());
        let mut tables = (0..self.tuples.as_slice().len()).map(|tuple| self.tables_of(tuple)).enumerate();
        let place =
            tables.find_map(|(tuple, tables)| tables.contains(&table).then(|| (tuple, table - tables.start)));
        let ((tuple, range), actions) = (place.expect("a table of the set"), self.values.sets());
        TableId { set, stage: set / actions, action: set % actions, tuple, range }
    }

    /// The name of a table in files: the number of its tuple, followed by its range, stage and action if there are
    /// several, as in `3.range1.stage0` or `3.up`.
    pub fn table_name(&self, table: usize) -> impl fmt::Display + use<> {
        let TableId { stage, action, tuple, range, .. } = self.table_id(table);
        let range = if self.tables_of(tuple).len() > 1 { format!(".range{range}") } else { String::new() };
        let stage = if self.stages.count() > 1 { format!(".stage{stage}") } else { String::new() };
        let action = if self.values.sets() > 1 { format!(".{}", Move::ALL[action]) } else { String::new() };
        format!("{tuple}{range}{stage}{action}")
    }

    /// The tuple of a table.
    pub fn tuple(&self, table: usize) -> &Tuple {
        &self.tuples.as_slice()[self.table_id(table).tuple]
    }

    /// The value range of a table.
    pub fn range(&self, table: usize) -> ValueRange {
        let TableId { tuple, range, .. } = self.table_id(table);
        let plain = ValueRange { first: 1, last: (self.tile_values - 1) as u8 };
        self.ranges_of(tuple).map_or(plain, |ranges| ranges[range])
    }

    /// The number of labels that a cell has in a table: c in the plain encoding.
    pub fn labels(&self, table: usize) -> usize {
        self.range(table).labels(self.tile_values)
    }

    /// The number of weights in a table: c^n.
    pub fn table_len(&self, table: usize) -> u64 {
        (self.labels(table) as u64).saturating_pow(self.tuple(table).len() as u32)
    }

    /// The number of weights.
    pub fn weights(&self) -> u64 {
        let set: u64 = (0..self.tables_per_set()).map(|table| self.table_len(table)).sum();
        set * self.sets() as u64
    }

    /// m, the number of weights that make up one value. The learning rate is divided by it.
    pub fn active_features(&self) -> usize {
        self.tables_per_set() * if self.symmetric { 8 } else { 1 }
    }
}
