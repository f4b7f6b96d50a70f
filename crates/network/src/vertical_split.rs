//! Vertical Split Encoding: terauchi-2025, section 3.
//!
//! The tile values are split into ranges, and every tuple has a table for each of them. In the table of a
//! range a cell shows that it is empty (E), which tile of the range it holds, that its tile is smaller (S),
//! or that it is larger (L). One range over all values is the plain encoding.

use std::{fmt, str::FromStr};

/// A range of tile values of interest, as exponents: `1-8` is 2 to 256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueRange {
    /// The exponent of its smallest tile, at least 1.
    pub first: u8,
    /// The exponent of its largest tile.
    pub last: u8,
}

/// The ranges of a network, in rising order; they may overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueRanges(Vec<ValueRange>);

/// Ranges that make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` are no value ranges for {tile_values} tile values: they look like `1-8 9-{last}`, start at 1, end at \
     {last}, rise, and leave no value out", last = tile_values.saturating_sub(1)
)]
pub struct RangesError {
    found: String,
    tile_values: usize,
}

impl ValueRange {
    /// The number of labels that a cell can show, out of so many tile values.
    pub fn labels(&self, tile_values: usize) -> usize {
        let (has_smaller, has_larger) = (self.first > 1, usize::from(self.last) + 1 < tile_values);
        1 + usize::from(has_smaller) + usize::from(self.last + 1 - self.first) + usize::from(has_larger)
    }

    /// How labels are computed: exponents are brought between the first two numbers, and the third is
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
    /// One range over all tile values: the plain encoding.
    pub fn plain(tile_values: usize) -> Self {
        ValueRanges(vec![ValueRange { first: 1, last: (tile_values - 1) as u8 }])
    }

    /// Reads ranges like `1-8 9-17`.
    ///
    /// # Errors
    /// When the text is none, or its ranges leave out a tile value.
    pub fn parse(text: &str, tile_values: usize) -> Result<Self, RangesError> {
        let error = || RangesError { found: text.to_owned(), tile_values };
        let ranges =
            text.split_whitespace().map(str::parse).collect::<Result<_, _>>().map_err(|()| error())?;
        let ranges = ValueRanges(ranges);
        if tile_values > 1 && ranges.covers(tile_values) { Ok(ranges) } else { Err(error()) }
    }

    /// Whether the ranges rise and leave no tile value out.
    pub(crate) fn covers(&self, tile_values: usize) -> bool {
        let ends = self.0.first().is_some_and(|range| range.first == 1)
            && self.0.last().is_some_and(|range| usize::from(range.last) == tile_values - 1);
        let meets =
            |a: &ValueRange, b: &ValueRange| a.first < b.first && a.last < b.last && b.first <= a.last + 1;
        ends && self.0.iter().all(|range| range.first <= range.last) && self.0.is_sorted_by(meets)
    }

    /// The ranges.
    pub fn as_slice(&self) -> &[ValueRange] {
        &self.0
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
        let ranges: Vec<_> = self.0.iter().map(ValueRange::to_string).collect();
        f.pad(&ranges.join(" "))
    }
}
