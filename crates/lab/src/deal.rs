//! Distribution of work: numbered pieces, each done once, by the threads of a process or the parts of a job array.

use std::{
    collections::HashSet,
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Deals out numbers, each to one caller.
pub trait Dealer: Sync {
    /// The next number; `None` if all have been dealt.
    fn next(&self) -> Option<u64>;

    /// An upper bound on the numbers still to be dealt.
    fn left(&self) -> u64;
}

/// One of equal parts of a piece of work, written `3/16`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    index: u64,
    of: u64,
}

/// A text that is not a part.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a part: it must be K/N with K from 1 to N, such as 3/16")]
pub struct PartError(String);

impl Part {
    /// Everything.
    pub const WHOLE: Part = Part { index: 1, of: 1 };

    /// Its number, from 1.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The number of parts.
    pub fn of(&self) -> u64 {
        self.of
    }

    /// Whether a number belongs to it: numbers go to the parts in turn.
    pub fn holds(&self, number: u64) -> bool {
        number % self.of == self.index - 1
    }

    /// How many of the numbers below `end` belong to it.
    pub fn len(&self, end: u64) -> u64 {
        end.saturating_sub(self.index - 1).div_ceil(self.of)
    }
}

impl FromStr for Part {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let (index, of) = text.split_once('/').unwrap_or_default();
        match (index.parse(), of.parse()) {
            (Ok(index), Ok(of)) if 1 <= index && index <= of => Ok(Part { index, of }),
            _ => Err(PartError(text.to_owned())),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The numbers from 0, or a part of them, except those that are done.
#[derive(Debug)]
pub struct Deck {
    next: AtomicU64,
    step: u64,
    end: u64,
    done: HashSet<u64>,
}

impl Deck {
    /// The numbers below `end`.
    pub fn new(end: u64) -> Self {
        Deck::part(Part::WHOLE, end, HashSet::new())
    }

    /// Those below `end` that belong to a part and are not done.
    pub fn part(part: Part, end: u64, done: HashSet<u64>) -> Self {
        Deck { next: AtomicU64::new(part.index - 1), step: part.of, end, done }
    }
}

impl Dealer for Deck {
    fn next(&self) -> Option<u64> {
        let take = |next: u64| (next < self.end).then(|| next.saturating_add(self.step));
        loop {
            let number = self.next.fetch_update(Relaxed, Relaxed, take).ok()?;
            if !self.done.contains(&number) {
                return Some(number);
            }
        }
    }

    fn left(&self) -> u64 {
        self.end.saturating_sub(self.next.load(Relaxed)).div_ceil(self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_texts() {
        let part: Part = "3/16".parse().expect("a part");
        assert_eq!((part.index(), part.of(), part.to_string().as_str()), (3, 16, "3/16"));
        for text in ["", "3", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b"] {
            assert!(text.parse::<Part>().is_err(), "{text}");
        }
    }

    #[test]
    fn every_number_is_dealt_once() {
        for (of, end) in [(1, 10), (3, 10), (16, 10), (7, 700)] {
            let mut dealt = Vec::new();
            for index in 1..=of {
                let part = Part { index, of };
                let deck = Deck::part(part, end, HashSet::from([4]));
                let own: Vec<_> = std::iter::from_fn(|| deck.next()).collect();
                assert!(own.iter().all(|&number| part.holds(number)));
                assert_eq!(own.len() as u64 + u64::from(part.holds(4)), part.len(end));
                dealt.extend(own);
            }
            dealt.sort_unstable();
            assert!(dealt.into_iter().eq((0..end).filter(|&number| number != 4)), "{of} parts of {end}");
        }
    }
}
