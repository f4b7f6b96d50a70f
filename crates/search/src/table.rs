//! The transposition table: values of afterstates that have been searched.
//!
//! Direct-mapped, always replaced, with whole keys: an entry is used only for the very board and depth that it
//! was made for, so an exact search gives the same bits with and without it. It stays valid from move to move while
//! the weights stand still. Small tables that stay in the caches beat large ones up to 4-ply (`docs/performance.md`).

/// A table of 2^bits entries.
pub(crate) struct Table {
    entries: Box<[Entry]>,
    shift: u32,
}

/// Sixteen bytes: four entries in a cache line.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Entry {
    key: u64,
    value: f32,
    high: u16,
    depth: u16,
}

/// A board in 80 bits: the lower four bits of each exponent, and the fifth bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    low: u64,
    high: u16,
}

impl Key {
    #[inline(always)]
    pub(crate) fn new(board: &[u8; 16]) -> Self {
        let bytes = u128::from_le_bytes(*board);
        let (first, second) = (bytes as u64, (bytes >> 64) as u64);
        Key { low: nibbles(first) | nibbles(second) << 32, high: fifth_bits(first) | fifth_bits(second) << 8 }
    }
}

/// The lower halves of eight bytes, side by side.
#[inline(always)]
fn nibbles(bytes: u64) -> u64 {
    let x = bytes & 0x0f0f_0f0f_0f0f_0f0f;
    let x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) & 0xffff_ffff
}

/// Bit 4 of eight bytes, side by side: the multiplication brings them all to the uppermost byte.
#[inline(always)]
fn fifth_bits(bytes: u64) -> u16 {
    ((bytes >> 4 & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u16
}

impl Table {
    /// An empty table of 2^bits entries, at least two.
    pub(crate) fn new(bits: u32) -> Self {
        let bits = bits.clamp(1, 30);
        Table { entries: vec![Entry::default(); 1 << bits].into(), shift: 64 - bits }
    }

    #[inline(always)]
    fn slot(&self, key: Key) -> usize {
        // The uppermost bits of the product depend on all bits of the key.
        let mixed = (key.low ^ u64::from(key.high) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> self.shift) as usize
    }

    /// The value of a board searched with so many chance layers; with more of them too, if `deeper` is allowed.
    #[inline(always)]
    pub(crate) fn get(&self, key: Key, depth: u32, deeper: bool) -> Option<f32> {
        let entry = &self.entries[self.slot(key) & (self.entries.len() - 1)];
        // No board is without tiles, so an unused entry, all zeros, is none's.
        let same = entry.key == key.low && entry.high == key.high;
        let found = u32::from(entry.depth);
        (same && (found == depth || deeper && found > depth)).then_some(entry.value)
    }

    /// Keeps a value, in the place of whatever was there.
    #[inline(always)]
    pub(crate) fn put(&mut self, key: Key, depth: u32, value: f32) {
        let slot = self.slot(key) & (self.entries.len() - 1);
        self.entries[slot] = Entry { key: key.low, value, high: key.high, depth: depth as u16 };
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.entries.fill(Entry::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_every_exponent_in_every_cell_apart() {
        let mut keys = Vec::new();
        for cell in 0..16 {
            for exponent in 1..32 {
                let mut board = [0; 16];
                board[cell] = exponent;
                keys.push(Key::new(&board));
            }
        }
        keys.push(Key::new(&[0; 16]));
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "{key:?}");
        }
    }

    #[test]
    fn only_the_same_board_and_depth_are_found() {
        let mut table = Table::new(1);
        let board = |exponent| {
            let mut board = [3; 16];
            board[5] = exponent;
            Key::new(&board)
        };
        table.put(board(1), 2, 7.0);
        assert_eq!(table.get(board(1), 2, false), Some(7.0));
        assert_eq!(table.get(board(1), 1, false), None);
        assert_eq!(table.get(board(1), 1, true), Some(7.0));
        assert_eq!(table.get(board(1), 3, true), None);
        // An exponent of 17 is a 1 with the fifth bit.
        assert_eq!(table.get(board(17), 2, true), None);
        (2..16).for_each(|exponent| assert_eq!(table.get(board(exponent), 2, true), None));
        table.clear();
        assert_eq!(table.get(board(1), 2, true), None);
    }
}
