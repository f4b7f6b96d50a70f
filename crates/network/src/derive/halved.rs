//! A stage that starts from the first stage's weights for halved tiles.
//!
//! When 2048 is the largest missing tile, 16384, 8192 and 4096 play the same role as 8192, 4096 and 2048 on a smaller
//! board, as in tile-downgrading (guei-2021, IV.C.3). The first stage's weights for the smaller tiles therefore serve as
//! the initial weights of a later stage, which then learns how its boards differ. They are copied once; this is not
//! training with weight promotion, where a weight of 0 stands for another one.

use crate::{Network, NetworkSpec, SpecError};

impl NetworkSpec {
    /// Tiles at or above this exponent are halved for a stage.
    ///
    /// # Errors
    /// If the stage does not begin with given tiles, weights are promoted, or a value range does not distinguish tiles that
    /// halving keeps apart.
    pub fn halved_from(&self, stage: usize) -> Result<u8, SpecError> {
        let begins = self.stages.begins_with(stage).filter(|_| !self.promotion);
        let smallest = begins.and_then(|tiles| tiles.last().copied()).ok_or(SpecError::Halved(stage))?;
        (0..self.tables_per_set())
            .try_for_each(|table| self.halved_labels(table, stage, smallest).map(|_| ()))?;
        Ok(smallest)
    }

    /// For each label of a table, the label of its tile after halving tiles at or above the exponent `smallest`.
    fn halved_labels(&self, table: usize, stage: usize, smallest: u8) -> Result<Vec<usize>, SpecError> {
        let (range, mut labels) = (self.range(table), vec![None; self.labels(table)]);
        for exponent in 0..self.tile_values as u8 {
            let label = |exponent| usize::from(range.label(exponent, self.tile_values));
            let halved = label(exponent - u8::from(exponent >= smallest));
            let known = labels[label(exponent)].get_or_insert(halved);
            if *known != halved {
                let (tile, smallest) = (2 << range.last, 1 << smallest);
                return Err(SpecError::HalvedRange { stage, range, tile, smallest });
            }
        }
        Ok(labels.into_iter().flatten().collect())
    }
}

impl Network {
    /// Initializes a stage with the first stage's weights for halved tiles, times a factor. Tiles are halved from the
    /// smallest one that begins the stage.
    ///
    /// # Errors
    /// The same as [`NetworkSpec::halved_from`].
    pub fn begin_halved(&self, stage: usize, factor: f32) -> Result<(), SpecError> {
        let spec = self.spec();
        let smallest = spec.halved_from(stage)?;
        let per_stage = spec.tables() / spec.stages.count();
        for table in 0..per_stage {
            let first: Vec<f32> = self.table(table).collect();
            let (labels, cells) = (spec.labels(table), spec.tuple(table).len());
            let halved = spec.halved_labels(table, stage, smallest)?;
            let index = |index: usize| {
                let places = (0..cells as u32).map(|cell| labels.pow(cell));
                places.map(|place| halved[index / place % labels] * place).sum::<usize>()
            };
            self.set_table(stage * per_stage + table, (0..first.len()).map(|i| factor * first[index(i)]));
        }
        Ok(())
    }
}
