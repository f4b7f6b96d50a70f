//! The four moves, and sets of them.

use std::fmt;

/// A direction to slide in, numbered as in most research code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Move {
    /// Towards the first row.
    Up = 0,
    /// Towards the last column.
    Right = 1,
    /// Towards the last row.
    Down = 2,
    /// Towards the first column.
    Left = 3,
}

impl Move {
    /// All moves, by number.
    pub const ALL: [Move; 4] = [Move::Up, Move::Right, Move::Down, Move::Left];

    /// The name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Move::Up => "up",
            Move::Right => "right",
            Move::Down => "down",
            Move::Left => "left",
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of moves: bit `m` stands for the move with number `m`.
///
/// ```
/// use afterstate_game::{Move, State};
/// let state: State<4> = "1230/0000/0000/0000".parse()?;
/// assert_eq!(state.legal_moves().collect::<Vec<_>>(), [Move::Right, Move::Down]);
/// assert_eq!(state.legal_moves().mask(), 0b0110);
/// # Ok::<(), afterstate_game::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moves(pub(crate) u8);

impl Moves {
    /// The set as a bit mask.
    #[inline]
    pub const fn mask(self) -> u8 {
        self.0
    }

    /// Whether no move is in the set; for legal moves, the game is over.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a move is in the set.
    #[inline]
    pub const fn contains(self, a: Move) -> bool {
        self.0 >> a as u8 & 1 == 1
    }
}

impl Iterator for Moves {
    type Item = Move;

    #[inline]
    fn next(&mut self) -> Option<Move> {
        if self.0 == 0 {
            return None;
        }
        let a = Move::ALL[self.0.trailing_zeros() as usize & 3];
        self.0 &= self.0 - 1;
        Some(a)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.count_ones() as usize, Some(self.0.count_ones() as usize))
    }
}

impl ExactSizeIterator for Moves {}
