//! Tuples and the named sets of them that the papers use.

use std::{fmt, str::FromStr};

use afterstate_game::Symmetry;

/// A sequence of distinct cells, row-major from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tuple(Vec<u8>);

/// Why a text is not a tuple or a tuple set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TupleError {
    /// A character that is not a cell.
    #[error(
        "`{found}` in tuple `{tuple}` is not a cell: cells are hex digits, row-major, 0–{last:x} on this board"
    )]
    Cell {
        /// The bad character.
        found: char,
        /// The tuple that contains it.
        tuple: String,
        /// The last cell of the board.
        last: usize,
    },
    /// A cell that occurs twice.
    #[error("cell `{cell:x}` occurs twice in tuple `{tuple}`")]
    Twice {
        /// The cell.
        cell: u8,
        /// The tuple it stands in.
        tuple: String,
    },
    /// A tuple without cells or with more than a lookup supports.
    #[error("tuple `{0}` has {len} cells: a tuple has 1 to 12", len = .0.chars().count())]
    Length(String),
    /// An unknown set name.
    #[error("no tuple set is called `{name}`; did you mean `{nearest}`? the sets are {}", Tuples::NAMES.join(", "))]
    Name {
        /// The requested one.
        name: String,
        /// The nearest known name.
        nearest: &'static str,
    },
    /// A set without tuples.
    #[error("a network needs at least one tuple")]
    Empty,
    /// Too many tuples.
    #[error("a network with {0} tuples: the maximum is {most}", most = Tuples::MOST)]
    TooMany(usize),
}

impl Tuple {
    /// The number of cells.
    #[allow(clippy::len_without_is_empty, reason = "a tuple is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The cells, in the tuple's order.
    pub fn cells(&self) -> &[u8] {
        &self.0
    }

    /// The tuple transformed by a symmetry of the board.
    pub fn image(&self, symmetry: Symmetry, side: usize) -> Tuple {
        let image = |cell: u8| match side {
            4 => symmetry.cell::<4>(cell.into()),
            3 => symmetry.cell::<3>(cell.into()),
            _ => symmetry.cell::<2>(cell.into()),
        };
        Tuple(self.0.iter().map(|&cell| image(cell) as u8).collect())
    }

    /// Checks that every cell lies on a board of this side.
    pub(crate) fn check(&self, side: usize) -> Result<(), TupleError> {
        let last = side * side - 1;
        match self.0.iter().find(|&&cell| usize::from(cell) > last) {
            Some(&cell) => Err(TupleError::Cell {
                found: char::from_digit(cell.into(), 16).unwrap_or('?'),
                tuple: self.to_string(),
                last,
            }),
            None => Ok(()),
        }
    }
}

impl FromStr for Tuple {
    type Err = TupleError;

    fn from_str(text: &str) -> Result<Self, TupleError> {
        let mut cells = Vec::new();
        for found in text.chars() {
            let cell = found.to_digit(16).map(|cell| cell as u8);
            let cell = cell.ok_or_else(|| TupleError::Cell { found, tuple: text.into(), last: 15 })?;
            if cells.contains(&cell) {
                return Err(TupleError::Twice { cell, tuple: text.into() });
            }
            cells.push(cell);
        }
        if !(1..=12).contains(&cells.len()) {
            return Err(TupleError::Length(text.into()));
        }
        Ok(Tuple(cells))
    }
}

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.0.iter().map(|&cell| format!("{cell:x}")).collect();
        f.pad(&text)
    }
}

/// A set of tuples.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tuples(Vec<Tuple>);

/// The named sets: name, tuples, whether they are sampled symmetrically.
///
/// terauchi-2025 draws its networks without listing their cells: `nt6` to `nt9`, `mnt6` and `mnt4` have the paper's
/// number of shapes and tuples, but the shapes are ours.
const SETS: [(&str, &str, bool); 29] = [
    ("17x4", "0123 4567 89ab cdef 048c 159d 26ae 37bf 0145 1256 2367 4589 569a 67ab 89cd 9ade abef", false),
    ("10x34", "012 345 678 036 147 258 0134 1245 3467 4578", false),
    ("2x4", "0123 4567", true),
    ("5x4", "0123 4567 0145 1256 569a", true),
    ("4x5", "01234 45678 01245 45689", true),
    ("1x6", "012456", true),
    ("2x6", "012456 456789", true),
    ("3x6", "012456 456789 012345", true),
    ("4x6", "012345 456789 012456 45689a", true),
    ("5x6", "012345 456789 89abcd 012456 45689a", true),
    ("6x6", "012456 456789 012345 234569 01259a 345678", true),
    ("7x6", "012456 456789 012345 234569 01259a 345678 134567", true),
    ("8x6", "012456 456789 012345 234569 01259a 345678 134567 01489a", true),
    ("2x7", "0123456 456789a", true),
    ("3x7", "0123456 456789a 89abcde", true),
    ("1x8", "01234567", true),
    ("2x8", "01234567 456789ab", true),
    ("33-42", "012345 456789 89abcd 012456 45689a", true),
    ("42-33", "012345 456789 89abcd 012456 45689a", true),
    ("42-33-4-22", "012345 456789 89abcd 012456 45689a 0123 4567 0145 1256 569a", true),
    ("42-33-4-22-3", "012345 456789 89abcd 012456 45689a 0123 4567 0145 1256 569a 012 456", true),
    ("421-43", "0123456 0123458 456789a 456789c 89abcde", true),
    ("nt6-m", "012456 456789 012345 234569 01259a 345678 134567 01489a", true),
    ("nt6", "012345 456789 89abcd 012456 45689a 012356 45679a 89abde 0156ab", true),
    ("nt7", "0123456 456789a 89abcde 0123458 456789c 0124569 45689ad 012348c", true),
    ("nt8", "01234567 456789ab 01234568 456789ac 0123458c", true),
    ("nt9", "01245689a 012345678 456789abc 012345679 456789abd 012345689 456789acd", true),
    ("mnt6", "012345 012346", true),
    ("mnt4", "0123 0134 1345", true),
];

impl Tuples {
    /// The names of the built-in sets.
    pub const NAMES: [&str; SETS.len()] = {
        let mut names = [""; SETS.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = SETS[i].0;
            i += 1;
        }
        names
    };

    /// The maximum number of tuples of a network; the largest in the papers has 17.
    pub const MOST: usize = 1000;

    /// Creates a set from its tuples.
    ///
    /// # Errors
    /// If there is none, or more than [`Self::MOST`].
    pub fn new(tuples: Vec<Tuple>) -> Result<Self, TupleError> {
        match tuples.len() {
            0 => Err(TupleError::Empty),
            found if found > Self::MOST => Err(TupleError::TooMany(found)),
            _ => Ok(Tuples(tuples)),
        }
    }

    /// A built-in set by its name.
    ///
    /// # Errors
    /// If there is no such set; the error suggests the nearest name.
    pub fn named(name: &str) -> Result<Self, TupleError> {
        let (_, tuples, _) = find(name)?;
        tuples.split(' ').map(str::parse).collect::<Result<_, _>>().map(Tuples)
    }

    /// Whether the set of this name uses symmetric sampling.
    ///
    /// # Errors
    /// If there is no such set; the error suggests the nearest name.
    pub fn named_symmetric(name: &str) -> Result<bool, TupleError> {
        find(name).map(|(_, _, symmetric)| *symmetric)
    }

    /// The built-in name of this set, if it has one.
    pub fn name(&self) -> Option<&'static str> {
        SETS.iter().map(|set| set.0).find(|name| Tuples::named(name).as_ref() == Ok(self))
    }

    /// The tuples.
    pub fn as_slice(&self) -> &[Tuple] {
        &self.0
    }
}

fn find(name: &str) -> Result<&'static (&'static str, &'static str, bool), TupleError> {
    SETS.iter().find(|set| set.0 == name).ok_or_else(|| {
        let distance = |candidate: &&str| strsim::damerau_levenshtein(candidate, name);
        let nearest = Tuples::NAMES.into_iter().min_by_key(distance).unwrap_or("4x6");
        TupleError::Name { name: name.into(), nearest }
    })
}

impl fmt::Display for Tuples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuples: Vec<_> = self.0.iter().map(Tuple::to_string).collect();
        f.pad(&tuples.join(" "))
    }
}
