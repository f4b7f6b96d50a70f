//! Entropy coding: rANS (Duda 2013) with adaptive frequencies of flags and of sixteen symbols.
//!
//! Encoding and decoding share the code that walks over the data: an [`Encoder`] records the symbols that it is given, a
//! [`Decoder`] replaces them by those that it reads.

/// The number of symbols.
pub(super) const SYMBOLS: usize = 16;

/// log₂ of the sum of all frequencies.
const SCALE: u32 = 15;

/// The lower bound of a state: below it, sixteen more bits are read.
const LOWEST: u32 = 1 << 16;

/// The frequencies of symbols so far.
///
/// Stored as signed 16-bit numbers, for which every x86-64 has vector instructions.
#[derive(Clone)]
#[repr(align(64))]
pub(super) struct Model {
    /// The cumulative frequency of the symbols before each symbol; no symbol's frequency is less than 1.
    before: [i16; SYMBOLS],
    /// The number of updates, up to where the learning rate is at its slowest.
    uses: u16,
}

/// What the cumulative frequencies move towards when a symbol occurs: all of the probability is its own, except for one
/// slot that is left to each of the others.
static TARGETS: [[i16; SYMBOLS]; SYMBOLS] = {
    let mut targets = [[0; SYMBOLS]; SYMBOLS];
    let mut i = 0;
    while i < SYMBOLS * SYMBOLS {
        let (symbol, other) = (i / SYMBOLS, i % SYMBOLS);
        let most = (1 << SCALE) - SYMBOLS as i32;
        targets[symbol][other] = (other as i32 + if other > symbol { most } else { 0 }) as i16;
        i += 1;
    }
    targets
};

impl Default for Model {
    fn default() -> Self {
        let even = (1 << SCALE) / SYMBOLS as i32;
        Model { before: std::array::from_fn(|symbol| (symbol as i32 * even) as i16), uses: 0 }
    }
}

impl Model {
    /// The slowest learning rate, as a shift.
    const SLOWEST: u16 = 7;

    /// A symbol's range of slots: its start and length.
    #[inline(always)]
    fn range(&self, symbol: usize) -> (u32, u32) {
        let start = self.before[symbol] as u32;
        let end = self.before.get(symbol + 1).map_or(1 << SCALE, |&end| end as u32);
        (start, end - start)
    }

    /// The symbol that owns a slot.
    #[inline(always)]
    fn find(&self, slot: u32) -> usize {
        // Branch-free, so that the loop compiles to a few vector instructions.
        let reached: i16 = self.before.iter().map(|&start| i16::from(start <= slot as i16)).sum();
        (reached as usize).wrapping_sub(1) & (SYMBOLS - 1)
    }

    /// Moves the frequencies towards a symbol: fast at first, then more slowly.
    #[inline(always)]
    fn learn(&mut self, symbol: usize) {
        let rate = (3 + self.uses / 8).min(Self::SLOWEST);
        self.uses += u16::from(rate < Self::SLOWEST);
        for (before, target) in self.before.iter_mut().zip(&TARGETS[symbol]) {
            *before += (target - *before) >> rate;
        }
    }
}

/// The frequency of a flag so far.
#[derive(Clone)]
pub(super) struct Flag {
    /// The frequency of `false`; that of `true` is the rest of the total.
    unset: u16,
    /// The number of updates, up to where the learning rate is at its slowest.
    uses: u16,
}

impl Default for Flag {
    fn default() -> Self {
        Flag { unset: 1 << (SCALE - 1), uses: 0 }
    }
}

impl Flag {
    /// The slowest learning rate, as a shift.
    const SLOWEST: u16 = 6;

    /// The range of slots of a value: its start and length.
    #[inline(always)]
    fn range(&self, is_set: bool) -> (u32, u32) {
        let unset = u32::from(self.unset);
        if is_set { (unset, (1 << SCALE) - unset) } else { (0, unset) }
    }

    /// Moves the frequency towards a value; neither ever becomes less than 1.
    #[inline(always)]
    fn learn(&mut self, is_set: bool) {
        let rate = (2 + self.uses / 4).min(Self::SLOWEST);
        self.uses += u16::from(rate < Self::SLOWEST);
        let change = if is_set {
            -i32::from((self.unset - 1) >> rate)
        } else {
            i32::from(((1 << SCALE) - 1 - self.unset) >> rate)
        };
        self.unset = (i32::from(self.unset) + change) as u16;
    }
}

/// Encoding or decoding.
pub(super) trait Coder {
    /// Codes a flag with a model, which learns from it.
    fn flag(&mut self, model: &mut Flag, is_set: bool) -> bool;

    /// Codes a symbol with a model, which learns from it.
    fn symbol(&mut self, model: &mut Model, symbol: u8) -> u8;

    /// Codes a number of up to fifteen equally likely bits.
    fn bits(&mut self, bits: u32, number: u32) -> u32;
}

/// Records the ranges of symbols; rANS codes them from last to first.
#[derive(Default)]
pub(super) struct Encoder {
    ranges: Vec<(u16, u16)>,
}

impl Encoder {
    /// The encoded bytes.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut state = LOWEST;
        let mut words: Vec<u16> = Vec::new();
        for (start, len) in
            self.ranges.into_iter().rev().map(|(start, len)| (u32::from(start), u32::from(len)))
        {
            if u64::from(state) >= u64::from(len) << (32 - SCALE) {
                words.push(state as u16);
                state >>= 16;
            }
            state = ((state / len) << SCALE) + state % len + start;
        }
        words.extend([state as u16, (state >> 16) as u16]);
        words.into_iter().rev().flat_map(u16::to_le_bytes).collect()
    }
}

impl Coder for Encoder {
    fn flag(&mut self, model: &mut Flag, is_set: bool) -> bool {
        let (start, len) = model.range(is_set);
        self.ranges.push((start as u16, len as u16));
        model.learn(is_set);
        is_set
    }

    fn symbol(&mut self, model: &mut Model, symbol: u8) -> u8 {
        let (start, len) = model.range(usize::from(symbol));
        self.ranges.push((start as u16, len as u16));
        model.learn(usize::from(symbol));
        symbol
    }

    fn bits(&mut self, bits: u32, number: u32) -> u32 {
        let len = 1 << (SCALE - bits);
        self.ranges.push(((number * len) as u16, len as u16));
        number
    }
}

/// Decodes symbols. It never fails: damage shows at the end.
pub(super) struct Decoder<'a> {
    words: std::slice::Iter<'a, [u8; 2]>,
    state: u32,
    /// Whether it has read beyond the end.
    is_short: bool,
    /// Whether the length is odd, so that half a word is left over.
    is_odd: bool,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let (words, rest) = bytes.as_chunks();
        let mut decoder =
            Decoder { words: words.iter(), state: 0, is_short: false, is_odd: !rest.is_empty() };
        decoder.state = decoder.word() << 16;
        decoder.state |= decoder.word();
        decoder
    }

    #[inline(always)]
    fn word(&mut self) -> u32 {
        let word = self.words.next();
        self.is_short |= word.is_none();
        word.map_or(0, |&word| u16::from_le_bytes(word).into())
    }

    #[inline(always)]
    fn take(&mut self, start: u32, len: u32) {
        let slot = self.state & ((1 << SCALE) - 1);
        self.state = len * (self.state >> SCALE) + slot - start;
        if self.state < LOWEST {
            self.state = self.state << 16 | self.word();
        }
    }

    /// Whether everything was read, and nothing beyond it.
    pub(super) fn is_complete(&self) -> bool {
        self.state == LOWEST && !self.is_short && !self.is_odd && self.words.as_slice().is_empty()
    }
}

impl Coder for Decoder<'_> {
    #[inline(always)]
    fn flag(&mut self, model: &mut Flag, _: bool) -> bool {
        let is_set = self.state & ((1 << SCALE) - 1) >= u32::from(model.unset);
        let (start, len) = model.range(is_set);
        self.take(start, len);
        model.learn(is_set);
        is_set
    }

    #[inline(always)]
    fn symbol(&mut self, model: &mut Model, _: u8) -> u8 {
        let symbol = model.find(self.state & ((1 << SCALE) - 1));
        let (start, len) = model.range(symbol);
        self.take(start, len);
        model.learn(symbol);
        symbol as u8
    }

    #[inline(always)]
    fn bits(&mut self, bits: u32, _: u32) -> u32 {
        let number = (self.state & ((1 << SCALE) - 1)) >> (SCALE - bits);
        let len = 1 << (SCALE - bits);
        self.take(number * len, len);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes numbers and symbols of skewed and of uniform distributions.
    fn walk(coder: &mut impl Coder, given: &mut [(u8, u32)]) {
        let mut models: [Model; 4] = Default::default();
        let mut flag = Flag::default();
        for (i, (symbol, number)) in given.iter_mut().enumerate() {
            let is_set = *symbol >= 128;
            *symbol = coder.symbol(&mut models[i % 4], *symbol & 15);
            *number = coder.bits(u32::from(*symbol), *number);
            *symbol |= u8::from(coder.flag(&mut flag, is_set)) << 7;
        }
    }

    fn example() -> Vec<(u8, u32)> {
        let mut seed = 1u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as u32
        };
        let mut entry = || {
            let symbol = random().leading_zeros().saturating_sub(8).min(15);
            let flag = u8::from(random() % 8 == 0) << 7;
            (symbol as u8 | flag, random() & ((1 << symbol) - 1))
        };
        (0..20_000).map(|_| entry()).collect()
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let mut given = example();
        let mut encoder = Encoder::default();
        walk(&mut encoder, &mut given);
        let bytes = encoder.finish();
        let mut read = vec![(0, 0); given.len()];
        let mut decoder = Decoder::new(&bytes);
        walk(&mut decoder, &mut read);
        assert!(decoder.is_complete());
        assert_eq!(read, given);
        // The entropy of the symbols is 2 bits, the numbers have 1 bit on average, and the entropy of the flags is 0.54 bits.
        assert!((bytes.len() as f64 * 8.0 / given.len() as f64 - 3.54).abs() < 0.1, "{}", bytes.len());
    }

    #[test]
    fn damage_is_seen_or_changes_symbols_but_nothing_worse() {
        let mut given = example();
        let mut encoder = Encoder::default();
        walk(&mut encoder, &mut given);
        let bytes = encoder.finish();
        for damage in 0..bytes.len().min(500) {
            let mut damaged = bytes.clone();
            damaged[damage] ^= 0x55;
            let mut read = given.clone();
            walk(&mut Decoder::new(&damaged), &mut read);
            assert_ne!(read, given);
            let mut decoder = Decoder::new(&bytes[..damage]);
            walk(&mut decoder, &mut read);
            assert!(!decoder.is_complete());
        }
    }
}
