//! Stages: the phases of a game, each with its own tables (jaskowski-2016, V.D.1; guei-2021, IV.C.2;
//! terauchi-2025, 5.2).
//!
//! The stage of a board depends only on its largest tiles. They are read as a binary number with one bit for each
//! tile from some lowest one up to 32768; larger tiles count as 32768.
//!
//! * *Plain*, the rule of jaskowski-2016: a bit is set if its tile is on the board. `2^4` makes every such
//!   number from 4096 up a stage: 1 with a 4096-tile, 2 with an 8192-tile, 3 with both.
//! * *Carried*, as in that author's program: the second of two equal tiles counts as the next smaller
//!   missing tile, so that two 16384-tiles are as far as 16384 and 8192, and merging the
//!   largest two never leads to an earlier stage.
//!
//! Stages by thresholds, such as `16384 16384+8192`, begin when the carried number reaches them.

use std::{fmt, str::FromStr};

/// The largest exponent that stages distinguish.
const HIGHEST: u8 = 15;

/// The division of a game into stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stages {
    rule: Rule,
    /// The exponent of the lowest tile that counts.
    lowest: u8,
    /// The stage of every number; empty if there is only one stage.
    of_number: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Rule {
    One,
    /// 2^g stages, plain or carried.
    Bits {
        bits: u8,
        carried: bool,
    },
    /// One stage from each of these sets of tiles on, as exponents in descending order.
    Tiles(Vec<Vec<u8>>),
}

/// A text that does not describe stages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` does not describe stages: `1` is one stage, `2^4` and `2^4-carried` sixteen (1 to 8 bits), and \
     `16384 16384+8192` three, from those tiles on (larger sets later, tiles up to 32768 in falling order)"
)]
pub struct StagesError(String);

impl Default for Stages {
    /// One stage.
    fn default() -> Self {
        Stages { rule: Rule::One, lowest: HIGHEST, of_number: Vec::new() }
    }
}

impl Stages {
    fn new(rule: Rule) -> Self {
        let (lowest, of_number) = match &rule {
            Rule::One => return Stages::default(),
            Rule::Bits { bits, .. } => (HIGHEST + 1 - bits, (0..1usize << bits).map(|n| n as u8).collect()),
            Rule::Tiles(sets) => {
                let lowest = sets.iter().flatten().copied().min().unwrap_or(HIGHEST);
                let number = |set: &Vec<u8>| set.iter().map(|&e| 1u32 << (e - lowest)).sum::<u32>();
                let stage = |n: u32| sets.iter().filter(|set| n >= number(set)).count() as u8;
                (lowest, (0..1u32 << (HIGHEST + 1 - lowest)).map(stage).collect())
            }
        };
        Stages { rule, lowest, of_number }
    }

    /// The number of stages.
    pub fn count(&self) -> usize {
        self.of_number.last().map_or(1, |&last| usize::from(last) + 1)
    }

    /// Whether these are the first of the other's stages, each with the same beginning as there. A single stage is the
    /// first of any.
    pub fn are_first_of(&self, all: &Stages) -> bool {
        match (&self.rule, &all.rule) {
            (Rule::One, _) => true,
            (Rule::Tiles(first), Rule::Tiles(all)) => all.starts_with(first),
            (rule, all) => rule == all,
        }
    }

    /// The exponents of the tiles that begin a stage, in descending order; `None` for the first stage, and if stages
    /// are not thresholds.
    pub(crate) fn begins_with(&self, stage: usize) -> Option<&[u8]> {
        let Rule::Tiles(sets) = &self.rule else { return None };
        sets.get(stage.checked_sub(1)?).map(Vec::as_slice)
    }

    /// The stage of a board, from 0.
    #[inline(always)]
    pub fn of(&self, board: &[u8; 16]) -> usize {
        if self.of_number.is_empty() { 0 } else { self.of_several(board) }
    }

    /// Out of line, to keep it out of the hot loops of networks without stages.
    #[inline(never)]
    fn of_several(&self, board: &[u8; 16]) -> usize {
        usize::from(self.of_number[self.number(board)])
    }

    /// The largest tiles as a number.
    fn number(&self, board: &[u8; 16]) -> usize {
        match self.rule {
            Rule::Bits { carried: false, .. } => number(board, self.lowest, HIGHEST, false),
            _ => carried(board, self.lowest, HIGHEST),
        }
    }
}

/// The tiles from `lowest` to `highest` as a number with a bit for each; larger tiles count as the largest, and the second
/// of two equal tiles counts as the next smaller missing one.
#[inline(always)]
pub fn carried(board: &[u8; 16], lowest: u8, highest: u8) -> usize {
    number(board, lowest, highest, true)
}

#[inline(always)]
fn number(board: &[u8; 16], lowest: u8, highest: u8, carried: bool) -> usize {
    let (mut number, mut left) = (0, 0);
    for exponent in (lowest..=highest).rev() {
        let tiles = board.iter().filter(|&&e| e.min(highest) == exponent).count();
        left = if carried { left + tiles } else { tiles };
        number = number << 1 | usize::from(left > 0);
        left = left.saturating_sub(1);
    }
    number
}

impl FromStr for Stages {
    type Err = StagesError;

    fn from_str(text: &str) -> Result<Self, StagesError> {
        let bits = |text: &str, carried| {
            let bits = text.parse().ok().filter(|bits| (1..=8).contains(bits))?;
            Some(Rule::Bits { bits, carried })
        };
        let rule = match text.strip_prefix("2^") {
            Some(rest) => rest.strip_suffix("-carried").map_or_else(|| bits(rest, false), |g| bits(g, true)),
            None if text == "1" => Some(Rule::One),
            None => tiles(text).map(Rule::Tiles),
        };
        rule.map(Stages::new).ok_or_else(|| StagesError(text.to_owned()))
    }
}

/// Sets of tiles, each larger than the one before it.
fn tiles(text: &str) -> Option<Vec<Vec<u8>>> {
    let exponent = |face: &str| {
        let face: u32 = face.parse().ok()?;
        let exponent = face.is_power_of_two().then(|| face.trailing_zeros() as u8)?;
        (8..=HIGHEST).contains(&exponent).then_some(exponent)
    };
    let set = |word: &str| word.split('+').map(exponent).collect::<Option<Vec<u8>>>();
    let sets: Vec<Vec<u8>> = text.split_whitespace().map(set).collect::<Option<_>>()?;
    let falling = |set: &Vec<u8>| set.is_sorted_by(|a, b| a > b);
    (!sets.is_empty() && sets.iter().all(falling) && sets.is_sorted_by(|a, b| a < b)).then_some(sets)
}

impl fmt::Display for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Rule::One => f.pad("1"),
            Rule::Bits { bits, carried: false } => write!(f, "2^{bits}"),
            Rule::Bits { bits, carried: true } => write!(f, "2^{bits}-carried"),
            Rule::Tiles(sets) => {
                let face = |&e: &u8| (1u32 << e).to_string();
                let set = |set: &Vec<u8>| set.iter().map(face).collect::<Vec<_>>().join("+");
                f.pad(&sets.iter().map(set).collect::<Vec<_>>().join(" "))
            }
        }
    }
}
