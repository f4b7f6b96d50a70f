//! Boards of endgames: a nibble a cell, 15 for a wall.

use std::{fmt, str::FromStr};

/// The nibble of a wall.
pub(crate) const WALL: u64 = 15;

/// An afterstate of an endgame: walls, and the exponents of the free tiles. Cell (row, column) is nibble `4·row + column`. As
/// text `FFFF/FF01/0000/0002`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position(pub u64);

/// Why a text is no position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    /// Not sixteen cells.
    #[error(
        "`{0}` is no position: write sixteen cells, F for a wall and exponents for tiles, as FFFF/FF01/0000/0002"
    )]
    Text(String),
    /// The walls do not stand in a shape of the endgame.
    #[error("{position}: the endgame has no such shape of walls")]
    Shape {
        /// The position.
        position: Position,
    },
    /// A tile that is not below the target, or a carried target that is where it belongs.
    #[error("{position}: the tiles must be below the target, {target}")]
    Tile {
        /// The position.
        position: Position,
        /// The target.
        target: u32,
    },
    /// No cell is empty, so no slide led here.
    #[error("{0}: an afterstate has an empty cell")]
    Full(Position),
}

impl Position {
    /// The walls, as a mask of cells.
    #[inline]
    pub fn walls(self) -> u16 {
        let all = self.0 & self.0 >> 1;
        gather(all & all >> 2)
    }

    /// The empty cells, as a mask.
    #[inline]
    pub fn empty(self) -> u16 {
        let any = self.0 | self.0 >> 1;
        gather(!(any | any >> 2))
    }

    /// The sum of the free tiles' face values.
    pub fn sum(self) -> u32 {
        2 * half_sum(self.0) as u32
    }

    /// The nibble of a cell.
    pub fn cell(self, cell: usize) -> u8 {
        (self.0 >> (4 * cell) & 15) as u8
    }

    /// The position whose cells are these of the present one.
    #[inline]
    pub(crate) fn through(self, cells: &[usize; 16]) -> Self {
        let mut word = 0;
        for (cell, from) in cells.iter().enumerate() {
            word |= (self.0 >> (4 * from) & 15) << (4 * cell);
        }
        Position(word)
    }

    /// A board by the cells that are walls: all others are free tiles.
    pub fn of(board: &[u8; 16], walls: u16) -> Self {
        let nibble = |cell: usize| if walls >> cell & 1 == 1 { WALL } else { u64::from(board[cell] & 15) };
        Position((0..16).fold(0, |word, cell| word | nibble(cell) << (4 * cell)))
    }
}

/// The lowest bit of each nibble.
#[inline(always)]
fn gather(bits: u64) -> u16 {
    let bits = bits & 0x1111_1111_1111_1111;
    let bits = (bits | bits >> 3) & 0x0303_0303_0303_0303;
    let bits = (bits | bits >> 6) & 0x000f_000f_000f_000f;
    let bits = (bits | bits >> 12) & 0x0000_00ff_0000_00ff;
    (bits | bits >> 24) as u16
}

/// Half the sum of the free tiles' face values: a 2 counts 1.
pub(crate) fn half_sum(word: u64) -> usize {
    (0..16).map(|cell| half_tile(word >> (4 * cell) & 15)).sum()
}

/// Half of a tile's face value; walls and empty cells count 0.
pub(crate) fn half_tile(nibble: u64) -> usize {
    if nibble == 0 || nibble == WALL { 0 } else { 1 << (nibble - 1) }
}

/// The board with rows and columns exchanged.
pub(crate) fn transposed(word: u64) -> u64 {
    let nibble = |cell: usize| word >> (4 * cell) & 15;
    (0..16).fold(0, |image, cell| image | nibble(cell % 4 * 4 + cell / 4) << (4 * cell))
}

/// A mask with rows and columns exchanged.
pub(crate) fn transposed_mask(mask: u16) -> u16 {
    (0..16).fold(0, |image, cell| image | (mask >> (cell % 4 * 4 + cell / 4) & 1) << cell)
}

/// The board with its columns in reverse order.
pub(crate) fn mirrored(word: u64) -> u64 {
    let nibble = |cell: usize| word >> (4 * cell) & 15;
    (0..16).fold(0, |image, cell| image | nibble(cell ^ 3) << (4 * cell))
}

/// A mask with its columns in reverse order.
pub(crate) fn mirrored_mask(mask: u16) -> u16 {
    (0..16).fold(0, |image, cell| image | (mask >> (cell ^ 3) & 1) << cell)
}

/// A mask as a word: 15 in each of its cells.
pub(crate) fn spread(mask: u16) -> u64 {
    (0..16).filter(|cell| mask >> cell & 1 == 1).fold(0, |word, cell| word | WALL << (4 * cell))
}

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let wrong = || PositionError::Text(text.into());
        let mut word = 0;
        let mut cells = 0;
        for c in text.chars().filter(|&c| c != '/') {
            let nibble = match c {
                'F' => WALL,
                '.' => 0,
                '0'..='9' | 'a'..='e' => u64::from(c.to_digit(16).ok_or_else(wrong)?),
                _ => return Err(wrong()),
            };
            if cells < 16 {
                word |= nibble << (4 * cells);
            }
            cells += 1;
        }
        if cells == 16 { Ok(Position(word)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |cell| match self.cell(cell) {
            15 => 'F',
            nibble => char::from_digit(nibble.into(), 16).unwrap_or('?'),
        };
        let rows: [String; 4] = std::array::from_fn(|row| (4 * row..4 * row + 4).map(letter).collect());
        f.pad(&rows.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_positions() {
        let position: Position = "FFFF/FF01/0000/0002".parse().unwrap();
        assert_eq!(position.to_string(), "FFFF/FF01/0000/0002");
        assert_eq!((position.walls(), position.sum(), position.empty()), (0x3f, 6, 0x7f40));
        assert_eq!(transposed(position.0), "FF00/FF00/F000/F102".parse::<Position>().unwrap().0);
        assert_eq!(transposed_mask(position.walls()), 0x1133);
        assert_eq!(mirrored(position.0), "FFFF/10FF/0000/2000".parse::<Position>().unwrap().0);
        assert_eq!(mirrored_mask(position.walls()), 0xcf);
        assert_eq!(spread(0x3f), 0xff_ffff);
        for wrong in ["FFFF/FF01/0000/000", "FFFF/FF01/0000/000g", "FFFF/FF01/0000/00021"] {
            assert!(wrong.parse::<Position>().is_err());
        }
    }
}
