//! Vertical Split Encoding: terauchi-2025, section 3.
//!
//! The tile values are split into ranges, and every tuple has a table for each of them. In the table of a
//! range, a cell is empty (E), holds a certain tile of the range, a smaller tile (S), or a larger tile (L).
//! One range over all values is the plain encoding.
//!
//! Differences from the paper:
//! 1. Ranges can be restricted to long tuples (`1-9 10-17 from 7`): shorter ones, whose tables are small anyway, are plain.

use std::{fmt, str::FromStr};

use crate::Tuple;

/// A range of tile values, as exponents: `1-8` is 2 to 256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueRange {
    /// The exponent of its smallest tile, at least 1.
    pub first: u8,
    /// The exponent of its largest tile.
    pub last: u8,
}

/// The ranges of a network, in ascending order; they may overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueRanges {
    ranges: Vec<ValueRange>,
    /// The minimum number of cells of tuples that are split.
    shortest: usize,
}

/// Invalid ranges.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` are not value ranges for {tile_values} tile values: they look like `1-8 9-{last}`, start at 1, end at \
     {last}, rise, and leave no value out; `1-8 9-{last} from 7` are those of tuples with 7 cells and more",
    last = tile_values.saturating_sub(1)
)]
pub struct RangesError {
    found: String,
    tile_values: usize,
}

impl ValueRange {
    /// The number of labels of a cell, with this many tile values.
    pub fn labels(&self, tile_values: usize) -> usize {
        let (has_smaller, has_larger) = (self.first > 1, usize::from(self.last) + 1 < tile_values);
        1 + usize::from(has_smaller) + usize::from(self.last + 1 - self.first) + usize::from(has_larger)
    }

    /// The label of an exponent, with this many tile values.
    pub fn label(&self, exponent: u8, tile_values: usize) -> u8 {
        let (smallest, largest, subtract) = self.clamp(tile_values);
        if exponent == 0 { 0 } else { exponent.clamp(smallest, largest) - subtract }
    }

    /// How labels are computed: exponents are clamped to the first two numbers, and the third is
    /// subtracted; empty cells stay 0.
    pub(crate) fn clamp(&self, tile_values: usize) -> (u8, u8, u8) {
        let largest = usize::from(self.last + 1).min(tile_values - 1) as u8;
        match self.first {
            1 => (0, largest, 0),
            first => (first - 1, largest, first - 2),
        }
    }
}

impl ValueRanges {
    /// Parses ranges like `1-8 9-17`, or `1-8 9-17 from 7` for tuples with at least that many cells.
    ///
    /// # Errors
    /// If the text is invalid, or its ranges omit a tile value.
    pub fn parse(text: &str, tile_values: usize) -> Result<Self, RangesError> {
        let error = || RangesError { found: text.to_owned(), tile_values };
        let (list, shortest) = text.split_once("from").unwrap_or((text, "1"));
        let ranges =
            list.split_whitespace().map(str::parse).collect::<Result<_, _>>().map_err(|()| error())?;
        let shortest = shortest.trim().parse().ok().filter(|cells| (1..=16).contains(cells));
        let ranges = ValueRanges { ranges, shortest: shortest.ok_or_else(error)? };
        if tile_values > 1 && ranges.covers(tile_values) { Ok(ranges) } else { Err(error()) }
    }

    /// Whether the ranges are ascending and omit no tile value.
    pub(crate) fn covers(&self, tile_values: usize) -> bool {
        let ends = self.ranges.first().is_some_and(|range| range.first == 1)
            && self.ranges.last().is_some_and(|range| usize::from(range.last) == tile_values - 1);
        let meets =
            |a: &ValueRange, b: &ValueRange| a.first < b.first && a.last < b.last && b.first <= a.last + 1;
        ends && self.ranges.iter().all(|range| range.first <= range.last) && self.ranges.is_sorted_by(meets)
    }

    /// The ranges.
    pub fn as_slice(&self) -> &[ValueRange] {
        &self.ranges
    }

    /// Whether a tuple has a table for each of the ranges.
    pub fn split(&self, tuple: &Tuple) -> bool {
        tuple.len() >= self.shortest
    }
}

impl FromStr for ValueRange {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (first, last) = text.split_once('-').ok_or(())?;
        let exponent = |text: &str| text.parse().ok().filter(|e| (1..=17).contains(e)).ok_or(());
        Ok(ValueRange { first: exponent(first)?, last: exponent(last)? })
    }
}

impl fmt::Display for ValueRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

impl fmt::Display for ValueRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<_> = self.ranges.iter().map(ValueRange::to_string).collect();
        if self.shortest > 1 {
            words.push(format!("from {}", self.shortest));
        }
        f.pad(&words.join(" "))
    }
}
