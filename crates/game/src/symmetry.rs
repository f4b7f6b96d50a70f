//! The eight symmetries of the square, acting on cells, boards and moves.

use crate::Move;

/// A rotation or reflection of the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symmetry(u8);

impl Symmetry {
    /// All eight, the identity first: bit 2 transposes, then bit 1 mirrors the rows (up and down),
    /// then bit 0 the columns (left and right).
    pub const ALL: [Symmetry; 8] = {
        let mut all = [Symmetry(0); 8];
        let mut i = 0;
        while i < 8 {
            all[i] = Symmetry(i as u8);
            i += 1;
        }
        all
    };

    /// The cell that the tile of a cell moves to.
    pub const fn cell<const N: usize>(self, cell: usize) -> usize {
        let (mut row, mut column) = (cell / N, cell % N);
        if self.0 & 4 != 0 {
            (row, column) = (column, row);
        }
        if self.0 & 2 != 0 {
            row = N - 1 - row;
        }
        if self.0 & 1 != 0 {
            column = N - 1 - column;
        }
        row * N + column
    }

    /// The move on the image that corresponds to `a` on the board.
    pub const fn image(self, a: Move) -> Move {
        let transposed = match a {
            Move::Up if self.0 & 4 != 0 => Move::Left,
            Move::Left if self.0 & 4 != 0 => Move::Up,
            Move::Down if self.0 & 4 != 0 => Move::Right,
            Move::Right if self.0 & 4 != 0 => Move::Down,
            other => other,
        };
        match transposed {
            Move::Up if self.0 & 2 != 0 => Move::Down,
            Move::Down if self.0 & 2 != 0 => Move::Up,
            Move::Left if self.0 & 1 != 0 => Move::Right,
            Move::Right if self.0 & 1 != 0 => Move::Left,
            other => other,
        }
    }

    /// The composition: first `first`, then this symmetry.
    pub const fn after(self, first: Symmetry) -> Symmetry {
        // The images of cells 1 and 2 of a 3×3 board identify the symmetry.
        let mut i = 0;
        loop {
            let both = Symmetry(i);
            if both.cell::<3>(1) == self.cell::<3>(first.cell::<3>(1))
                && both.cell::<3>(2) == self.cell::<3>(first.cell::<3>(2))
            {
                return both;
            }
            i += 1;
        }
    }

    /// The symmetry that undoes this one.
    pub const fn inverse(self) -> Symmetry {
        // After a transposition the two mirrors swap.
        match self.0 {
            5 => Symmetry(6),
            6 => Symmetry(5),
            own => Symmetry(own),
        }
    }
}
