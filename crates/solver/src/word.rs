//! Boards in a machine word: four bits a cell, the first cell in the highest bits, so that words are
//! ordered like boards.

use afterstate_game::{Board, State};

/// The largest exponent that fits a cell of a word.
pub(crate) const LARGEST: u8 = 15;

/// A board of `N`×`N` cells in `4·N²` bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Word<const N: usize>(u64);

/// Cells that a permutation moves by the same number of bits: towards the high end if positive.
type Part = (u64, i32);

impl<const N: usize> Word<N> {
    pub(crate) const EMPTY: Self = Word(0);

    /// The index of a cell's nibble, counted from the low end.
    const fn place(cell: usize) -> usize {
        N * N - 1 - cell
    }

    /// Packs a board, whose exponents must be at most [`LARGEST`].
    #[inline(always)]
    pub(crate) fn pack(board: &Board<N>) -> Self {
        debug_assert!(board.max_exponent() <= LARGEST);
        let bytes = board.bytes();
        let mut word = 0;
        for row in 0..N {
            for column in 0..N {
                word = word << 4 | u64::from(bytes[4 * row + column]);
            }
        }
        Word(word)
    }

    /// The board.
    #[inline(always)]
    pub(crate) fn board(self) -> Board<N> {
        let mut exponents = [0; 16];
        for (cell, exponent) in exponents[..N * N].iter_mut().enumerate() {
            *exponent = (self.0 >> (4 * Self::place(cell)) & 15) as u8;
        }
        Board::from_exponents(&exponents[..N * N]).expect("nibbles are exponents of a board")
    }

    #[inline(always)]
    pub(crate) fn state(self) -> State<N> {
        State::new(self.board())
    }

    /// The word without its last cell, which follows from the rest and the sum of the tiles.
    #[inline(always)]
    pub(crate) fn without_last(self) -> u32 {
        (self.0 >> 4) as u32
    }

    /// The inverse of [`Self::without_last`].
    #[inline(always)]
    pub(crate) fn with_sum(rest: u32, sum: u32) -> Self {
        let others: u32 = (0..N * N - 1).map(|i| 1 << (rest >> (4 * i) & 15) & !1).sum();
        let last = (sum - others).checked_ilog2().unwrap_or(0);
        Word(u64::from(rest) << 4 | u64::from(last))
    }

    /// The shifts that add a tile to each empty cell, row-major.
    #[inline(always)]
    pub(crate) fn empty_shifts(self) -> impl ExactSizeIterator<Item = u32> {
        let occupied = self.0 | self.0 >> 1;
        let occupied = (occupied | occupied >> 2) & Self::LOW_BITS;
        Ones(Self::LOW_BITS & !occupied)
    }

    /// The board with a tile added to an empty cell.
    #[inline(always)]
    pub(crate) fn with_tile(self, shift: u32, exponent: u64) -> Self {
        Word(self.0 | exponent << shift)
    }

    /// The exponent of the largest tile.
    pub(crate) fn max_exponent(self) -> u8 {
        (0..N * N).map(|i| (self.0 >> (4 * i) & 15) as u8).max().unwrap_or(0)
    }

    /// The lowest bit of every cell.
    const LOW_BITS: u64 = {
        let mut bits = 0;
        let mut i = 0;
        while i < N * N {
            bits |= 1 << (4 * i);
            i += 1;
        }
        bits
    };

    /// The smallest of the eight images.
    #[inline(always)]
    pub(crate) fn canonical(self) -> Self {
        let images = |w: u64| {
            let mirrored = permute(w, &Self::MIRROR);
            w.min(mirrored).min(permute(w, &Self::FLIP)).min(permute(mirrored, &Self::FLIP))
        };
        Word(images(self.0).min(images(permute(self.0, &Self::TRANSPOSE))))
    }

    /// Swaps left and right.
    const MIRROR: [Part; 8] = Self::parts(0);
    /// Swaps up and down.
    const FLIP: [Part; 8] = Self::parts(1);
    /// Swaps rows and columns.
    const TRANSPOSE: [Part; 8] = Self::parts(2);

    /// The parts of a permutation: cells that move equally far are moved together.
    const fn parts(kind: u8) -> [Part; 8] {
        let mut parts = [(0, 0); 8];
        let (mut count, mut cell) = (0, 0);
        while cell < N * N {
            let (row, column) = (cell / N, cell % N);
            let image = match kind {
                0 => row * N + N - 1 - column,
                1 => (N - 1 - row) * N + column,
                _ => column * N + row,
            };
            let shift = 4 * (cell as i32 - image as i32);
            let mut i = 0;
            while i < count && parts[i].1 != shift {
                i += 1;
            }
            if i == count {
                count += 1;
            }
            parts[i] = (parts[i].0 | 15 << (4 * Self::place(cell)), shift);
            cell += 1;
        }
        parts
    }
}

/// Moves the parts of a word. Parts are constants, so that the loop is unrolled completely.
#[inline(always)]
fn permute(word: u64, parts: &[Part; 8]) -> u64 {
    let mut image = 0;
    for &(mask, shift) in parts {
        let part = word & mask;
        image |= if shift >= 0 { part << shift } else { part >> -shift };
    }
    image
}

/// The positions of the set bits, from the high end.
struct Ones(u64);

impl Iterator for Ones {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let position = self.0.checked_ilog2()?;
        self.0 ^= 1 << position;
        Some(position)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Ones {}

#[cfg(test)]
mod tests {
    use afterstate_game::Board;
    use proptest::prelude::*;

    use super::Word;

    fn agrees<const N: usize>(exponents: &[u8]) {
        let board = Board::<N>::from_exponents(&exponents[..N * N]).expect("a board");
        let word = Word::pack(&board);
        assert_eq!(word.board(), board);
        assert_eq!(word.canonical().board(), board.canonical());
        assert_eq!(Word::with_sum(word.without_last(), board.sum()), word);
        assert_eq!(word.max_exponent(), board.max_exponent());
        assert_eq!(word.empty_shifts().len(), board.empty_count() as usize);
        for shift in word.empty_shifts() {
            let tile = word.with_tile(shift, 2).board();
            assert_eq!(tile.sum(), board.sum() + 4);
            assert_eq!(tile.empty_count() + 1, board.empty_count());
        }
    }

    proptest! {
        #[test]
        fn words_are_boards(exponents in prop::collection::vec(prop_oneof![Just(0u8), 0u8..11], 9)) {
            agrees::<3>(&exponents);
            agrees::<2>(&exponents);
        }
    }
}
