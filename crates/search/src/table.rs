//! The transposition table: values of afterstates that have been searched.
//!
//! Direct-mapped, always replaced, with whole keys: an entry is used only for the very board and depth that it
//! was made for, so an exact search gives the same bits with and without it. It stays valid from move to move while
//! the weights stand still. Small tables that stay in the caches beat large ones up to 4-ply (`docs/performance.md`).

use afterstate_network::prefetch;

/// A table of 2^bits entries.
pub(crate) struct Table {
    entries: Box<[Entry]>,
    shift: u32,
    /// Entries of other generations are forgotten; in the bits above those of a depth.
    generation: u32,
}

/// The bits of a depth.
const DEPTH: u32 = (1 << 8) - 1;

/// Half a cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Entry {
    board: u128,
    value: f32,
    /// The depth, and the generation of the table.
    stamp: u32,
}

impl Table {
    /// The bytes of a table of 2^bits entries.
    pub(crate) fn bytes(bits: u32) -> u64 {
        (size_of::<Entry>() as u64) << bits
    }

    /// An empty table of 2^bits entries, at least two.
    pub(crate) fn new(bits: u32) -> Self {
        let bits = bits.clamp(1, 30);
        Table { entries: vec![Entry::default(); 1 << bits].into(), shift: 64 - bits, generation: 0 }
    }

    #[inline(always)]
    fn slot(&self, board: u128) -> usize {
        // Rotated so that exponents, five bits of eight, meet others' unused bits; the uppermost bits of the
        // product depend on all bits.
        let mixed =
            (board as u64 ^ ((board >> 64) as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> self.shift) as usize & (self.entries.len() - 1)
    }

    /// The value of a board searched with so many chance layers; with more of them too, if `deeper` is allowed.
    #[inline(always)]
    pub(crate) fn get(&self, board: [u8; 16], depth: u32, deeper: bool) -> Option<f32> {
        let board = u128::from_le_bytes(board);
        let entry = &self.entries[self.slot(board)];
        // No board is without tiles, so an unused entry, all zeros, is none's.
        let stamp = self.generation | depth;
        let fits =
            entry.stamp == stamp || deeper && entry.stamp > stamp && entry.stamp <= self.generation | DEPTH;
        (entry.board == board && fits).then_some(entry.value)
    }

    /// Prefetches the entry of a board that will be looked for soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, board: [u8; 16]) {
        prefetch(&self.entries[self.slot(u128::from_le_bytes(board))]);
    }

    /// Keeps a value, in the place of whatever was there.
    #[inline(always)]
    pub(crate) fn put(&mut self, board: [u8; 16], depth: u32, value: f32) {
        let board = u128::from_le_bytes(board);
        let slot = self.slot(board);
        self.entries[slot] = Entry { board, value, stamp: self.generation | depth };
    }

    /// Forgets everything. It takes no time, so that a search by time has all of it.
    pub(crate) fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(DEPTH + 1);
        if self.generation == 0 {
            // What the first generation left would be known again.
            self.entries.fill(Entry::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_board_and_depth_are_found() {
        let mut table = Table::new(1);
        let board = |exponent| {
            let mut board = [3; 16];
            board[5] = exponent;
            board
        };
        table.put(board(1), 2, 7.0);
        assert_eq!(table.get(board(1), 2, false), Some(7.0));
        assert_eq!(table.get(board(1), 1, false), None);
        assert_eq!(table.get(board(1), 1, true), Some(7.0));
        assert_eq!(table.get(board(1), 3, true), None);
        (2..18).for_each(|exponent| assert_eq!(table.get(board(exponent), 2, true), None));
        for _ in 0..1 << 24 {
            table.clear();
            assert_eq!(table.get(board(1), 2, true), None);
        }
        table.put(board(1), 2, 8.0);
        assert_eq!((table.get(board(1), 2, false), table.get(board(1), 1, true)), (Some(8.0), Some(8.0)));
    }
}
