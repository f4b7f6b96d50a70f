//! The board: sixteen bytes, one exponent a cell.
//!
//! Cell (row, column) of every board, whatever its side, is byte `4·row + column`; the bytes
//! outside a 3×3 or 2×2 board stay 0. One layout for all sides lets one slide serve them all, and
//! a byte holds the 65536- and 131072-tiles that a nibble cannot.

use std::fmt;

use crate::{Symmetry, slide};

/// The exponent of the largest tile that a game can reach: 2^17 = 131072.
pub const LARGEST_EXPONENT: u8 = 17;

/// The largest sum of tiles that a game can reach, 4 + 8 + … + 131072 on sixteen cells. A board
/// within it can never merge past [`LARGEST_EXPONENT`]: that takes a sum of 2^18.
const LARGEST_SUM: u32 = (1 << 18) - 4;

/// Sixteen tiles of this exponent are within [`LARGEST_SUM`].
const SAFE_EXPONENT: u8 = 13;

/// A board of `N`×`N` cells, each holding the exponent of its tile (0 is an empty cell).
///
/// ```
/// use afterstate_game::Board;
/// let board: Board<4> = "000b/0010/0100/0000".parse()?;
/// assert_eq!(board.exponent(3), 11);
/// assert_eq!((board.empty_count(), board.max_tile(), board.sum()), (13, 2048, 2052));
/// # Ok::<(), afterstate_game::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C, align(16))]
pub struct Board<const N: usize>(pub(crate) [u8; 16]);

/// Why a list of exponents is not a board.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BoardError {
    /// A cell holds a tile that no game can reach.
    #[error("cell {cell} holds exponent {exponent}: the largest tile is 131072, exponent {LARGEST_EXPONENT}")]
    Exponent {
        /// The cell, row-major from 0.
        cell: usize,
        /// The exponent it holds.
        exponent: u8,
    },
    /// The tiles add up to more than a game can.
    #[error("the tiles add up to {0}: no game exceeds {LARGEST_SUM}")]
    Sum(u64),
}

/// A set of cells, as the bytes of the board's layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cells(u16);

impl<const N: usize> Board<N> {
    /// The number of cells.
    pub const CELLS: usize = N * N;

    /// The empty board.
    pub const EMPTY: Self = {
        assert!(N >= 2 && N <= 4, "boards are 2×2, 3×3 or 4×4");
        Self([0; 16])
    };

    /// The bytes that belong to a board of this side, as a bit mask.
    const INSIDE: u16 = match N {
        4 => 0xffff,
        3 => 0x0777,
        _ => 0x0033,
    };

    /// The index in the layout of the `cell`-th cell, row-major.
    #[inline]
    pub(crate) const fn byte(cell: usize) -> usize {
        assert!(cell < N * N, "the cell is outside the board");
        cell / N * 4 + cell % N
    }

    /// A board from its exponents, row-major.
    ///
    /// # Errors
    /// If a tile, or the sum of the tiles, is beyond what any game can reach.
    #[inline]
    pub fn from_exponents(exponents: &[u8]) -> Result<Self, BoardError> {
        assert_eq!(exponents.len(), Self::CELLS, "one exponent for each cell");
        let mut board = Self::EMPTY;
        // A load of all bytes would wait for four stores of rows.
        match <[u8; 16]>::try_from(exponents) {
            Ok(bytes) => board.0 = bytes,
            Err(_) => {
                for (row, exponents) in exponents.chunks_exact(N).enumerate() {
                    board.0[4 * row..][..N].copy_from_slice(exponents);
                }
            }
        }
        // Sixteen smaller tiles cannot exceed the sum: most boards of large arrays take this branch.
        let beyond = board.0.map(|exponent| exponent.saturating_sub(SAFE_EXPONENT));
        if slide::zero_bytes(beyond) == 0xffff {
            return Ok(board);
        }
        if let Some(cell) = exponents.iter().position(|&exponent| exponent > LARGEST_EXPONENT) {
            return Err(BoardError::Exponent { cell, exponent: exponents[cell] });
        }
        match exponents.iter().map(|&exponent| u64::from(tile(exponent))).sum() {
            sum if sum > u64::from(LARGEST_SUM) => Err(BoardError::Sum(sum)),
            _ => Ok(board),
        }
    }

    /// The exponents, row-major.
    pub fn exponents(&self) -> impl Iterator<Item = u8> + '_ {
        (0..Self::CELLS).map(|cell| self.exponent(cell))
    }

    /// The exponent in a cell, row-major from 0; 0 is an empty cell.
    #[inline]
    pub const fn exponent(&self, cell: usize) -> u8 {
        self.0[Self::byte(cell)]
    }

    /// The sixteen bytes of the layout: cell (row, column) is byte `4·row + column`.
    #[inline]
    pub const fn bytes(&self) -> [u8; 16] {
        self.0
    }

    /// The empty cells.
    #[inline]
    pub fn empty_cells(&self) -> Cells {
        Cells(slide::zero_bytes(self.0) & Self::INSIDE)
    }

    /// The number of empty cells.
    #[inline]
    pub fn empty_count(&self) -> u32 {
        self.empty_cells().count()
    }

    /// The exponent of the largest tile.
    #[inline]
    pub fn max_exponent(&self) -> u8 {
        self.0.into_iter().fold(0, u8::max)
    }

    /// The face value of the largest tile; 0 on the empty board.
    pub fn max_tile(&self) -> u32 {
        tile(self.max_exponent())
    }

    /// The sum of the tiles' face values.
    pub fn sum(&self) -> u32 {
        self.0.into_iter().map(tile).sum()
    }

    /// The board transformed by a symmetry.
    pub fn image(&self, symmetry: Symmetry) -> Self {
        let mut image = Self::EMPTY;
        for cell in 0..Self::CELLS {
            image.0[Self::byte(symmetry.cell::<N>(cell))] = self.exponent(cell);
        }
        image
    }

    /// The canonical form: the smallest of the eight images, by bytes.
    pub fn canonical(&self) -> Self {
        Symmetry::ALL.into_iter().map(|s| self.image(s)).min().expect("there are eight symmetries")
    }

    /// The board with a tile added to the empty cell at this byte.
    #[inline]
    pub(crate) fn with_tile(self, byte: usize, exponent: u8) -> Self {
        debug_assert_eq!(self.0[byte & 15], 0, "a tile spawns on an empty cell");
        // Adds a whole vector: storing a single byte would stall the next load of the board.
        let tile = &TILES[usize::from(exponent - 1) & 1][byte & 15];
        Board(std::array::from_fn(|i| self.0[i] | tile.0[i]))
    }
}

/// Boards with a single tile: a 2 or a 4 in each byte.
static TILES: [[Board<4>; 16]; 2] = {
    let mut tiles = [[Board([0; 16]); 16]; 2];
    let mut byte = 0;
    while byte < 16 {
        tiles[0][byte].0[byte] = 1;
        tiles[1][byte].0[byte] = 2;
        byte += 1;
    }
    tiles
};

/// The face value of an exponent: 2^exponent, and 0 for the empty cell.
#[inline]
fn tile(exponent: u8) -> u32 {
    (1 << exponent) & !1
}

impl Cells {
    /// The set as a bit mask over the bytes of the layout: cell (row, column) is bit `4·row + column`.
    #[inline]
    pub const fn mask(self) -> u16 {
        self.0
    }

    /// The number of cells in the set.
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The byte of the `k`-th cell of the set, in row-major order. Branch-free, since a random `k` would be
    /// mispredicted at every spawn.
    #[inline]
    pub(crate) fn select(self, k: u32) -> usize {
        let low = (self.0 & 0xff) as usize;
        let in_low = low.count_ones();
        let upper = k >= in_low;
        let half = if upper { (self.0 >> 8) as usize } else { low };
        let rank = if upper { k - in_low } else { k };
        SELECT[half & 0xff][rank as usize & 7] as usize + 8 * upper as usize
    }

    /// The bytes of the set, in row-major order.
    pub(crate) fn bytes(self) -> impl Iterator<Item = usize> {
        (0..16).filter(move |byte| self.0 >> byte & 1 == 1)
    }
}

/// `SELECT[mask][k]`: the index of the `k`-th set bit of a byte.
static SELECT: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut bit, mut rank) = (0, 0);
        while bit < 8 {
            if mask >> bit & 1 == 1 {
                table[mask][rank] = bit as u8;
                rank += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
};

/// A board whose side is known only at run time, such as one that a user typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnyBoard {
    /// A 2×2 board.
    Two(Board<2>),
    /// A 3×3 board.
    Three(Board<3>),
    /// A 4×4 board.
    Four(Board<4>),
}

impl AnyBoard {
    /// Wraps a board of any side.
    pub fn of<const N: usize>(board: Board<N>) -> Self {
        match N {
            4 => AnyBoard::Four(Board(board.0)),
            3 => AnyBoard::Three(Board(board.0)),
            _ => AnyBoard::Two(Board(board.0)),
        }
    }

    /// The side of the board.
    pub fn side(&self) -> usize {
        match self {
            AnyBoard::Two(_) => 2,
            AnyBoard::Three(_) => 3,
            AnyBoard::Four(_) => 4,
        }
    }
}

impl fmt::Display for AnyBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnyBoard::Two(board) => board.fmt(f),
            AnyBoard::Three(board) => board.fmt(f),
            AnyBoard::Four(board) => board.fmt(f),
        }
    }
}
