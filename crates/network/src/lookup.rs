//! A lookup: sixteen table indices computed from one board.
//!
//! With symmetric sampling the lanes are the eight images of two tuples; without it they are up to
//! sixteen different tuples. An index comes from the exponents in one of two forms:
//!
//! * plain tables with c = 16: exponents are nibbles, and an index is the nibbles side by side, [scattered](scatter). Two
//!   byte shuffles put them there, one for the even and one for the odd nibbles;
//! * all others: exponents become labels, and the labels of four cells are multiplied and added in pairs,
//!   and again in pairs; the same for the next four, and the next.

/// The number of indices that one lookup gives.
pub const LANES: usize = 16;

/// By how many bits [`scatter`] moves: those of the cells that count most come upon those that choose the set of a cache or of a
/// TLB.
pub(crate) const SCATTER: u32 = 10;

/// The nibbles of a tuple's cells, so that tables of empty cells and small tiles, at which most boards look, do not all compete
/// for the same few sets of the caches. Different nibbles stay different, and those that differ in the last two cells
/// alone stay in one page.
#[inline(always)]
pub(crate) fn scatter(nibbles: u64) -> u64 {
    nibbles ^ nibbles >> SCATTER
}

/// Sixteen indices, counted from the lookup's base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub struct Indices(pub [i32; LANES]);

impl Default for Indices {
    fn default() -> Self {
        Indices([0; LANES])
    }
}

/// How sixteen indices are computed. The exponents of a lane's cells count `stride`, `stride · c`,
/// `stride · c²` and so on.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Lookup {
    /// The bytes of the board that are the even nibbles of each lane; 0x80 takes 0.
    pub(crate) even_nibbles: [u8; 64],
    /// And the odd ones.
    pub(crate) odd_nibbles: [u8; 64],
    /// log₂ `stride`.
    pub(crate) shift: [u32; LANES],
    /// The bytes of the board that are the first four cells of each lane; 0x80 takes 0.
    pub(crate) low_cells: [u8; 64],
    /// And the next four.
    pub(crate) high_cells: [u8; 64],
    /// 1 and c: what the two cells of a pair count.
    pub(crate) pair: [i8; 64],
    /// `stride` and `stride · c²`: what the two pairs of the first four count.
    pub(crate) low_pairs: [i16; 32],
    /// 1 and c²: what the two pairs of the next four count.
    pub(crate) high_pairs: [i16; 32],
    /// `stride · c⁴`: what the second four cells count.
    pub(crate) high: [u32; LANES],
    /// The bytes of the board that are the third four cells of each lane, where `is_long`.
    pub(crate) top_cells: [u8; 64],
    /// `stride · c⁸`: what the third four cells count.
    pub(crate) top: [u32; LANES],
    /// What is added to each index, modulo 2³².
    pub(crate) offset: [u32; LANES],
    /// What is added instead for boards of small tiles, whose index is then a number of three bits
    /// a cell; only where `is_private`.
    pub(crate) private_offset: [u32; LANES],
    /// The lanes whose tables have a place in the areas of threads, as a bit each.
    pub(crate) private_lanes: u16,
    /// How labels are computed, see [`crate::ValueRange::clamp`].
    pub(crate) smallest: u8,
    pub(crate) largest: u8,
    pub(crate) subtract: u8,
    /// Whether a lane has more than eight cells.
    pub(crate) is_long: bool,
    /// Whether weights of small tiles stand apart.
    pub(crate) is_private: bool,
    /// Where index 0 stands among all weights.
    pub(crate) base: i64,
    /// The number of lanes that are in use: the first ones.
    pub(crate) live: usize,
}

impl Lookup {
    /// A lookup without lanes, for tables of a value range with c labels. A table may begin as far as
    /// 2³¹ − 1 behind the base, and end as far.
    pub(crate) fn new(base: i64, c: u32, (smallest, largest, subtract): (u8, u8, u8)) -> Self {
        Lookup {
            even_nibbles: [0x80; 64],
            odd_nibbles: [0x80; 64],
            shift: [0; LANES],
            low_cells: [0x80; 64],
            high_cells: [0x80; 64],
            pair: std::array::from_fn(|i| if i % 2 == 0 { 1 } else { c as i8 }),
            low_pairs: [0; 32],
            high_pairs: std::array::from_fn(|i| if i % 2 == 0 { 1 } else { (c * c) as i16 }),
            high: [0; LANES],
            top_cells: [0x80; 64],
            top: [0; LANES],
            smallest,
            largest,
            subtract,
            is_long: false,
            offset: [0; LANES],
            private_offset: [0; LANES],
            private_lanes: 0,
            is_private: false,
            base,
            live: 0,
        }
    }

    /// Takes the next lane: a table at `offset` among all weights, with the board bytes of its cells,
    /// the one that counts least first.
    pub(crate) fn add_lane(&mut self, offset: u64, stride: u32, c: u32, bytes: &[u8]) {
        let lane = self.live;
        self.live += 1;
        self.offset[lane] = (offset as i64 - self.base) as u32;
        self.shift[lane] = stride.trailing_zeros();
        self.low_pairs[2 * lane] = stride as i16;
        self.low_pairs[2 * lane + 1] = (stride * c * c) as i16;
        self.high[lane] = stride.wrapping_mul(c.pow(4));
        self.top[lane] = stride.wrapping_mul(c.wrapping_pow(8));
        self.is_long |= bytes.len() > 8;
        for (p, &byte) in bytes.iter().enumerate() {
            let four = match p {
                0..4 => &mut self.low_cells,
                4..8 => &mut self.high_cells,
                _ => &mut self.top_cells,
            };
            four[4 * lane + p % 4] = byte;
            if p < 8 {
                let nibbles = if p % 2 == 0 { &mut self.even_nibbles } else { &mut self.odd_nibbles };
                nibbles[4 * lane + p / 2] = byte;
            }
        }
    }

    /// The number of lanes in use: the first ones.
    #[inline(always)]
    pub fn live(&self) -> usize {
        self.live
    }

    /// A bit for each of them.
    #[inline(always)]
    pub fn live_lanes(&self) -> u16 {
        (0xffff_u32 >> (LANES - self.live)) as u16
    }

    /// Where index 0 stands among all weights; it may lie outside of them.
    #[inline(always)]
    pub fn base(&self) -> isize {
        self.base as isize
    }
}
