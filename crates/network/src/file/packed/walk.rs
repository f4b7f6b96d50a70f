//! The order in which a table is coded, the same for writing and reading.
//!
//! Every weight has a *precision*: 0 if it is dropped, and otherwise the larger, the finer its step. A pyramid holds the
//! maximum precision of each row of the first cell's labels, of each square of the first two cells' labels, and so on up
//! to the whole table. It is coded from the top, so that an empty part costs one symbol. The model of each symbol is
//! selected by the enclosing part and by the neighbours, in which one cell's label is smaller by one. A weight's *level*,
//! the number of its steps, follows its precision.

use super::{
    coder::{Coder, Flag, Model, SYMBOLS},
    shape::Shape,
};

/// The number of buckets for sums of neighbours' precisions; each bucket has its own model.
const BUCKETS: usize = 24;

/// The largest number of labels.
const LABELS: usize = 18;

/// The largest number of cells.
const CELLS: usize = 12;

/// Sizes at or above this are coded with their bit length.
const ESCAPE: u32 = 192;

/// The weights of a table, in the order of a walk.
pub(super) trait Levels {
    /// The level to write, never 0; ignored when reading.
    fn level(&mut self, index: usize) -> i32;

    /// Receives the level that was written or read.
    fn take(&mut self, index: usize, precision: u8, level: i32);
}

/// The models of precisions and levels.
struct Models {
    /// Whether a part is non-empty, and its precision: by the height in the pyramid, the precision of the enclosing part,
    /// and the bucket of the neighbours.
    flags: Vec<Flag>,
    precisions: Vec<Model>,
    /// The sizes of levels, by precision.
    sizes: [Model; SYMBOLS],
}

/// A walk over a table.
pub(super) struct Walk<'a, C, L> {
    pub(super) coder: &'a mut C,
    pub(super) levels: &'a mut L,
    shape: &'a Shape,
    /// The maximum precisions, beginning with those of the weights themselves.
    pyramid: Vec<Vec<u8>>,
    models: Models,
    /// The label of each cell in the current part.
    labels: [usize; CELLS],
}

impl<'a, C: Coder, L: Levels> Walk<'a, C, L> {
    /// Creates a walk over weights of these precisions; when reading, they are not known yet.
    pub(super) fn new(
        coder: &'a mut C,
        shape: &'a Shape,
        precisions: Option<Vec<u8>>,
        levels: &'a mut L,
    ) -> Self {
        let Shape { c, n, .. } = *shape;
        let pyramid = match precisions {
            // Untouched memory costs nothing.
            None => (0..n).map(|height| vec![0; c.pow((n - height) as u32)]).collect(),
            Some(precisions) => {
                let largest = |row: &[u8]| row.iter().copied().max().unwrap_or(0);
                let above = |below: &Vec<u8>| Some(below.chunks(c).map(largest).collect());
                std::iter::successors(Some(precisions), above).take(n).collect()
            }
        };
        let contexts = n * SYMBOLS * BUCKETS;
        let models = Models {
            flags: vec![Flag::default(); contexts],
            precisions: vec![Model::default(); contexts],
            sizes: Default::default(),
        };
        Walk { coder, levels, shape, pyramid, models, labels: [0; CELLS] }
    }

    /// Codes the table.
    pub(super) fn run(mut self) {
        self.part(self.shape.n - 1, 0, SYMBOLS - 1);
    }

    /// Codes a part of the pyramid: the parts below it, each with everything in it.
    fn part(&mut self, height: usize, part: usize, around: usize) {
        let c = self.shape.c;
        let sums = self.neighbours(height, part);
        let mut near = 0;
        for (label, &sum) in sums.iter().enumerate().take(c) {
            let index = part * c + label;
            if height == 0 && !self.shape.is_first(index) {
                near = 0;
                continue;
            }
            let context = (height * SYMBOLS + around) * BUCKETS + bucket(near + usize::from(sum));
            let precision = self.pyramid[height][index];
            near = 0;
            if self.coder.flag(&mut self.models.flags[context], precision > 0) {
                let precision = self.coder.symbol(&mut self.models.precisions[context], precision);
                self.pyramid[height][index] = precision;
                near = usize::from(precision);
                if height == 0 {
                    self.level(index, precision);
                } else {
                    self.labels[height] = label;
                    self.part(height - 1, index, near);
                }
            }
        }
        self.labels[height] = 0;
    }

    /// The sums of the neighbours' precisions for each label of a part, without the neighbour inside it.
    #[inline(always)]
    fn neighbours(&self, height: usize, part: usize) -> [u8; LABELS] {
        let Shape { c, n, .. } = *self.shape;
        let precisions = &self.pyramid[height];
        let (mut sums, mut distance) = ([0; LABELS], c);
        for &label in &self.labels[height + 1..n] {
            if label > 0 {
                // Eleven neighbours of at most 15: every sum fits a byte.
                let row = &precisions[part * c - distance..][..c];
                sums.iter_mut().zip(row).for_each(|(sum, precision)| *sum += precision);
            }
            distance *= c;
        }
        sums
    }

    fn level(&mut self, index: usize, precision: u8) {
        let level = self.levels.level(index);
        let level = code_level(self.coder, &mut self.models.sizes[usize::from(precision)], level);
        self.levels.take(index, precision, level);
    }
}

/// Codes a level: its size minus 1, up to 3 as a symbol and beyond that as two symbols for every power of two and the
/// remaining bits; its sign is one more of those bits.
#[inline(always)]
fn code_level<C: Coder>(coder: &mut C, model: &mut Model, level: i32) -> i32 {
    const LAST: u8 = (SYMBOLS - 1) as u8;
    let (size, sign) = (level.unsigned_abs().saturating_sub(1), u32::from(level < 0));
    let symbol = match size {
        0..4 => size as u8,
        4..ESCAPE => {
            let power = size.ilog2();
            (2 * power + (size >> (power - 1) & 1)) as u8
        }
        _ => LAST,
    };
    let (size, sign) = match coder.symbol(model, symbol) {
        symbol @ 0..4 => (symbol.into(), coder.bits(1, sign)),
        LAST => {
            let rest = size.saturating_sub(ESCAPE);
            // Numbers of up to 29 bits, in two halves.
            let bits = coder.bits(5, (u32::BITS - rest.leading_zeros()).min(29)).min(29);
            let (high, low) = (bits.saturating_sub(15), bits.min(15));
            let top = coder.bits(high, rest >> low) << low;
            (ESCAPE + (top | coder.bits(low, rest & ((1 << low) - 1))), coder.bits(1, sign))
        }
        symbol => {
            let bits = u32::from(symbol) / 2 - 1;
            let first = (2 + u32::from(symbol) % 2) << bits;
            let coded = coder.bits(bits + 1, (size.wrapping_sub(first) & ((1 << bits) - 1)) << 1 | sign);
            (first + (coded >> 1), coded & 1)
        }
    };
    if sign == 1 { -1 - size as i32 } else { 1 + size as i32 }
}

/// The bucket of a sum of precisions: exact for small ones.
#[inline(always)]
fn bucket(sum: usize) -> usize {
    const OF: [u8; 256] = {
        let mut of = [0; 256];
        let mut sum = 0;
        while sum < of.len() {
            let bucket = match sum {
                0..8 => sum,
                8..24 => 8 + (sum - 8) / 2,
                _ => 16 + (sum - 24) / 6,
            };
            of[sum] = if bucket < BUCKETS { bucket as u8 } else { BUCKETS as u8 - 1 };
            sum += 1;
        }
        of
    };
    usize::from(OF[sum & 255])
}
