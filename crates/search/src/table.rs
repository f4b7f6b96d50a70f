//! The transposition table: values of searched afterstates, shared by the threads of a search.
//!
//! Direct-mapped, always replacing, with full keys: an entry is used only for exactly its board and depth, so an exact
//! search gives the same bits with and without it, and with any number of threads. It stays valid from move to move
//! while the weights do not change. Small tables that fit in the caches beat large ones up to 4-ply
//! (`docs/performance.md`).
//!
//! Threads read and write without locks. An entry is three words, the third of which is mixed into the other two, so
//! that halves of two entries, written concurrently, do not yield the wanted board.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use afterstate_network::prefetch;

/// A table of 2^bits entries.
pub(crate) struct Table {
    entries: Box<[Entry]>,
    shift: u32,
    /// Entries of other generations are ignored. Stored in the bits above those of a depth.
    generation: u32,
}

/// The depth of a searched value: the chance layers below it, and the 4-tiles allowed in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Depth(u32);

/// The bits of a depth.
const DEPTH: u32 = (1 << 8) - 1;
/// The bits of the number of 4-tiles; their maximum means as many as there are layers.
const FOURS: u32 = (1 << 3) - 1;

impl Depth {
    /// This many layers, with at most `fours` 4-tiles. In the last layer no branch is skipped.
    #[inline(always)]
    pub(crate) fn new(layers: u32, fours: u32) -> Self {
        let fours = if fours + 1 >= layers { FOURS } else { fours.min(FOURS - 1) };
        Depth((layers << FOURS.count_ones() | fours) & DEPTH)
    }
}

/// Half a cache line: the board with value and stamp mixed into both of its halves.
#[derive(Default)]
#[repr(C, align(32))]
struct Entry {
    board: [AtomicU64; 2],
    /// The value, and in the upper half the depth and the table's generation.
    rest: AtomicU64,
}

impl Table {
    /// The bytes of a table of 2^bits entries.
    pub(crate) fn bytes(bits: u32) -> u64 {
        (size_of::<Entry>() as u64) << bits
    }

    /// An empty table of 2^bits entries, at least two.
    pub(crate) fn new(bits: u32) -> Self {
        let bits = bits.clamp(1, 30);
        let entries = (0..1usize << bits).map(|_| Entry::default()).collect();
        Table { entries, shift: 64 - bits, generation: 0 }
    }

    #[inline(always)]
    fn slot(&self, [low, high]: [u64; 2]) -> usize {
        // Rotated so that exponents, five bits of eight, meet unused bits of others; the uppermost bits of the
        // product depend on all bits.
        let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> self.shift) as usize & (self.entries.len() - 1)
    }

    /// The value of a board searched to this depth, or deeper if `deeper` is set.
    #[inline(always)]
    pub(crate) fn get(&self, board: [u8; 16], Depth(depth): Depth, deeper: bool) -> Option<f32> {
        let board = halves(board);
        let entry = &self.entries[self.slot(board)];
        let rest = entry.rest.load(Relaxed);
        let found = [0, 1].map(|half| entry.board[half].load(Relaxed) ^ rest);
        // No board is empty, so an unused entry, all zeros, matches none.
        let (stamp, wanted) = ((rest >> 32) as u32, self.generation | depth);
        let fits = stamp == wanted || deeper && stamp > wanted && stamp <= self.generation | DEPTH;
        (found == board && fits).then(|| f32::from_bits(rest as u32))
    }

    /// Prefetches the entry of a board that will be looked up soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, board: [u8; 16]) {
        prefetch(&self.entries[self.slot(halves(board))]);
    }

    /// Stores a value, replacing any other entry.
    #[inline(always)]
    pub(crate) fn put(&self, board: [u8; 16], Depth(depth): Depth, value: f32) {
        let board = halves(board);
        let entry = &self.entries[self.slot(board)];
        let rest = u64::from(self.generation | depth) << 32 | u64::from(value.to_bits());
        entry.rest.store(rest, Relaxed);
        entry.board[0].store(board[0] ^ rest, Relaxed);
        entry.board[1].store(board[1] ^ rest, Relaxed);
    }

    /// Invalidates all entries in constant time, so that a search by time loses none.
    pub(crate) fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(DEPTH + 1);
        if self.generation == 0 {
            // Entries of the first generation would become valid again.
            self.entries.iter_mut().for_each(|entry| *entry = Entry::default());
        }
    }
}

/// A board as two words.
#[inline(always)]
fn halves(board: [u8; 16]) -> [u64; 2] {
    let board = u128::from_le_bytes(board);
    [board as u64, (board >> 64) as u64]
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
        let [one, two, three] = [1, 2, 3].map(|layers| Depth::new(layers, u32::MAX - 1));
        table.put(board(1), two, 7.0);
        assert_eq!(table.get(board(1), two, false), Some(7.0));
        assert_eq!(table.get(board(1), one, false), None);
        assert_eq!(table.get(board(1), one, true), Some(7.0));
        assert_eq!(table.get(board(1), three, true), None);
        (2..18).for_each(|exponent| assert_eq!(table.get(board(exponent), two, true), None));
        for _ in 0..1 << 24 {
            table.clear();
            assert_eq!(table.get(board(1), two, true), None);
        }
        table.put(board(1), two, 8.0);
        assert_eq!((table.get(board(1), two, false), table.get(board(1), one, true)), (Some(8.0), Some(8.0)));
    }

    #[test]
    fn depths_differ_where_branches_are_left_out() {
        let depths: Vec<_> = (1..24)
            .flat_map(|layers| (0..8).map(move |fours| (layers, fours, Depth::new(layers, fours))))
            .collect();
        for &(layers, fours, depth) in &depths {
            for &(other_layers, other_fours, other) in &depths {
                // All limits of six or more 4-tiles have the same code; no search uses so many.
                let [a, b] = [(fours, layers), (other_fours, other_layers)]
                    .map(|(f, l)| if f + 1 >= l { 7 } else { f.min(6) });
                assert_eq!(depth == other, layers == other_layers && a == b);
            }
        }
    }

    #[test]
    fn halves_of_two_entries_are_no_entry() {
        let table = Table::new(1);
        let (board, other, depth) = ([3; 16], [4; 16], Depth::new(2, 9));
        table.put(board, depth, 7.0);
        let slot = table.slot(halves(board));
        let first: Vec<u64> = table.entries[slot].board.iter().map(|word| word.load(Relaxed)).collect();
        table.put(other, depth, 9.0);
        let there = table.slot(halves(other));
        let rest = table.entries[there].rest.load(Relaxed);
        table.entries[slot].rest.store(rest, Relaxed);
        table.entries[slot].board.iter().zip(first).for_each(|(word, old)| word.store(old, Relaxed));
        assert_eq!(table.get(board, depth, true), None);
    }
}
