//! A lookup: eight table positions computed from one board.
//!
//! With symmetric sampling the eight lanes are the eight images of one tuple; without it they are
//! up to eight different tuples. A position is linear in the exponents, so any order of cells, any
//! number of tile values and any [layout](crate::Layout) is the same few vector operations: pick
//! the bytes, multiply and add in pairs, again in pairs, and once more.

use crate::layout::Digit;

/// The number of positions that one lookup gives.
pub const LANES: usize = 8;

/// Eight positions in the array of weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(64))]
pub struct Positions(pub [u64; LANES]);

/// How eight positions are computed. Byte `p` of a lane stands for one cell (or none): the lower
/// bits of its exponent count `pair[p] · quad[p/2]` in the lower half of the lane, that times `high`
/// in the upper; its upper bit chooses the block.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Lookup {
    /// The byte of the board that each byte takes; 0x80 takes 0.
    pub(crate) shuffle: [u8; 64],
    pub(crate) pair: [i8; 64],
    pub(crate) quad: [i16; 32],
    pub(crate) high: [u64; LANES],
    /// The size of a block: the upper bits of the cells, as a number, times this are added.
    pub(crate) block: [u64; LANES],
    /// What is added to each position.
    pub(crate) offset: [u64; LANES],
    /// The bits of an exponent that count inside a block; the bit above them chooses the block.
    pub(crate) low_bits: u8,
    /// The bit of an exponent that chooses the block, or 0.
    pub(crate) block_bit: u8,
    /// The number of lanes that are in use; the others point at a weight that stays 0.
    pub(crate) live: usize,
}

impl Lookup {
    /// The lookup whose lanes all point at the weight that stays 0.
    pub(crate) fn idle(low_bits: u8, block_bit: u8) -> Self {
        let zeros = [0; LANES];
        let (shuffle, pair, quad) = ([0x80; 64], [0; 64], [0; 32]);
        Lookup { shuffle, pair, quad, high: zeros, block: zeros, offset: zeros, low_bits, block_bit, live: 0 }
    }

    /// Takes the next lane: at `offset`, with the board byte and the stride of every digit, in
    /// ascending order of the strides.
    ///
    /// Strides grow by factors of at most 127 from one digit to the next, which every layout keeps.
    pub(crate) fn add_lane(&mut self, offset: u64, block: u64, digits: &[Digit]) {
        let lane = self.live;
        self.live += 1;
        self.offset[lane] = offset;
        self.block[lane] = block;
        self.high[lane] = digits.get(4).map_or(0, |digit| digit.stride);
        for (p, digit) in digits.iter().enumerate() {
            let half = if p < 4 { 1 } else { self.high[lane] };
            let first_of_pair = digits[p / 2 * 2].stride;
            self.shuffle[8 * lane + p] = digit.byte;
            self.pair[8 * lane + p] = i8::try_from(digit.stride / first_of_pair).expect("a small factor");
            self.quad[4 * lane + p / 2] = i16::try_from(first_of_pair / half).expect("a small stride");
        }
    }

    /// The number of lanes in use.
    #[inline(always)]
    pub fn live(&self) -> usize {
        self.live
    }
}
