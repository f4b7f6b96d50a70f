//! A lookup: sixteen table indices computed from one board.
//!
//! With symmetric sampling, the lanes are the eight images of two tuples; without it, up to sixteen different
//! tuples. There are two ways to compute an index from the exponents:
//!
//! * plain tables with c = 16: exponents are nibbles, and an index is the concatenated nibbles, [scattered](scatter). Two
//!   byte shuffles arrange them, one for the even and one for the odd nibbles;
//! * all others: exponents become labels; the labels of four cells are multiplied and added in pairs,
//!   then again in pairs; likewise for the next four cells, and the next.

/// The number of indices that one lookup computes.
pub const LANES: usize = 16;

/// The shift in [`scatter`]: it moves the most significant cells onto the bits that select the set of a cache or TLB.
pub(crate) const SCATTER: u32 = 10;

/// Scatters the nibbles of a tuple's cells, so that the weights of empty cells and small tiles, which most boards read, do
/// not all compete for the same few cache sets. The map is injective, and nibbles that differ only in the last two cells
/// stay in one page.
#[inline(always)]
pub(crate) fn scatter(nibbles: u64) -> u64 {
    nibbles ^ nibbles >> SCATTER
}

/// Sixteen indices, relative to the lookup's base.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub struct Indices(pub [i32; LANES]);

impl Default for Indices {
    fn default() -> Self {
        Indices([0; LANES])
    }
}

/// How sixteen indices are computed. The exponents of a lane's cells have the factors `stride`, `stride · c`,
/// `stride · c²` and so on.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Lookup {
    /// The board bytes that are the even nibbles of each lane; 0x80 yields 0.
    pub(crate) even_nibbles: [u8; 64],
    /// The same for the odd nibbles.
    pub(crate) odd_nibbles: [u8; 64],
    /// log₂ `stride`.
    pub(crate) shift: [u32; LANES],
    /// The board bytes of the first four cells of each lane; 0x80 yields 0.
    pub(crate) low_cells: [u8; 64],
    /// The same for the next four cells.
    pub(crate) high_cells: [u8; 64],
    /// 1 and c: the factors of the two cells of a pair.
    pub(crate) pair: [i8; 64],
    /// `stride` and `stride · c²`: the factors of the two pairs of the first four cells.
    pub(crate) low_pairs: [i16; 32],
    /// 1 and c²: the factors of the two pairs of the next four cells.
    pub(crate) high_pairs: [i16; 32],
    /// `stride · c⁴`: the factor of the second four cells.
    pub(crate) high: [u32; LANES],
    /// The board bytes of the third four cells of each lane, if `is_long`.
    pub(crate) top_cells: [u8; 64],
    /// `stride · c⁸`: the factor of the third four cells.
    pub(crate) top: [u32; LANES],
    /// The offset added to each index, modulo 2³².
    pub(crate) offset: [u32; LANES],
    /// The offset added instead for boards of small tiles, whose index then has three bits
    /// a cell; only if `is_private`.
    pub(crate) private_offset: [u32; LANES],
    /// A bit mask of the lanes whose tables have private areas.
    pub(crate) private_lanes: u16,
    /// How labels are computed, see [`crate::ValueRange::clamp`].
    pub(crate) smallest: u8,
    pub(crate) largest: u8,
    pub(crate) subtract: u8,
    /// Whether a lane has more than eight cells.
    pub(crate) is_long: bool,
    /// Whether threads keep the weights of small tiles in private areas.
    pub(crate) is_private: bool,
    /// The index among all weights of the lookup's index 0.
    pub(crate) base: i64,
    /// The number of lanes in use: the first ones.
    pub(crate) live: usize,
}

impl Lookup {
    /// A lookup without lanes, for tables of a value range with c labels. A table may begin up to
    /// 2³¹ − 1 after the base, and must end within that distance.
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

    /// Uses the next lane for a table at `offset` among all weights, with the board bytes of its cells,
    /// least significant first.
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

    /// A bit mask of the lanes in use.
    #[inline(always)]
    pub fn live_lanes(&self) -> u16 {
        (0xffff_u32 >> (LANES - self.live)) as u16
    }

    /// The index among all weights of the lookup's index 0; it may lie outside of them.
    #[inline(always)]
    pub fn base(&self) -> isize {
        self.base as isize
    }
}
