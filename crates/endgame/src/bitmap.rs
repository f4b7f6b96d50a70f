//! A sparse bitmap with ranks: of the words of a layer's bitmap only those with a bit are kept.

use std::{
    mem::take,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// The words of a block.
const WORDS: usize = 64;
/// The bits of a block.
pub(crate) const BLOCK_BITS: u64 = 64 * WORDS as u64;

/// Sixty-four words of the bitmap.
#[derive(Clone, Copy, Default)]
struct Block {
    /// The words that are not 0.
    words: u64,
    /// The index of the first of them.
    first_word: u32,
    /// The number of bits before the block.
    rank: u32,
}

/// A word with a bit, beside the number that is looked up with it.
#[derive(Clone, Copy)]
#[repr(Rust, packed(2))]
struct Word {
    bits: u64,
    /// The number of bits before the word, from the start of its block.
    rank: u16,
}

/// The bytes of a word in memory.
const WORD_BYTES: usize = size_of::<Word>();

/// A set of indices that knows the rank of each.
#[derive(Default)]
pub(crate) struct Bitmap {
    blocks: Vec<Block>,
    words: Vec<Word>,
    /// The number of bits.
    pub(crate) len: usize,
}

impl Bitmap {
    /// The bits of words; they are cleared.
    pub(crate) fn take(plain: &mut [AtomicU64]) -> Self {
        let mut bitmap =
            Bitmap { blocks: Vec::with_capacity(plain.len().div_ceil(WORDS)), ..Bitmap::default() };
        for block in plain.chunks_mut(WORDS) {
            let mut flags = 0;
            for (i, word) in block.iter_mut().enumerate() {
                flags |= u64::from(*word.get_mut() != 0) << i;
            }
            // What has no bit is not written to: a page that no bit is in takes no memory.
            bitmap.push(flags, |i| take(block[i].get_mut()));
        }
        bitmap.words.shrink_to_fit();
        bitmap
    }

    /// Adds a block with these words that are not 0.
    #[inline]
    fn push(&mut self, flags: u64, mut word: impl FnMut(usize) -> u64) {
        let before = self.len;
        self.blocks.push(Block { words: flags, first_word: self.words.len() as u32, rank: before as u32 });
        let mut rest = flags;
        while rest != 0 {
            let bits = word(rest.trailing_zeros() as usize);
            self.words.push(Word { bits, rank: (self.len - before) as u16 });
            self.len += bits.count_ones() as usize;
            rest &= rest - 1;
        }
    }

    /// The number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The number of bits before a block.
    pub(crate) fn rank_of_block(&self, block: usize) -> usize {
        self.blocks.get(block).map_or(self.len, |block| block.rank as usize)
    }

    /// The rank of a bit that is set.
    #[inline(always)]
    pub(crate) fn rank(&self, index: u64) -> usize {
        let block = &self.blocks[(index / BLOCK_BITS) as usize];
        let before = block.words & ((1 << (index / 64 % 64)) - 1);
        let Word { bits, rank } = self.words[block.first_word as usize + before.count_ones() as usize];
        let bits = bits & ((1 << (index % 64)) - 1);
        block.rank as usize + usize::from(rank) + bits.count_ones() as usize
    }

    /// The rank of a bit, if it is set.
    #[inline(always)]
    pub(crate) fn find(&self, index: u64) -> Option<usize> {
        let block = self.blocks.get((index / BLOCK_BITS) as usize)?;
        if block.words >> (index / 64 % 64) & 1 == 0 {
            return None;
        }
        let before = block.words & ((1 << (index / 64 % 64)) - 1);
        let word = block.first_word as usize + before.count_ones() as usize;
        (self.words[word].bits >> (index % 64) & 1 == 1).then(|| self.rank(index))
    }

    /// The bits of a range of blocks, in order.
    pub(crate) fn bits(&self, blocks: std::ops::Range<usize>) -> Bits<'_> {
        Bits { bitmap: self, blocks, flags: 0, next_word: 0, block_index: 0, word: 0, word_index: 0 }
    }

    /// The index behind the last bit that is set.
    fn end(&self) -> u64 {
        let (Some(last), Some(word)) =
            (self.blocks.iter().rposition(|block| block.words != 0), self.words.last())
        else {
            return 0;
        };
        let (flags, bits) = (self.blocks[last].words, word.bits);
        64 * (last as u64 * WORDS as u64 + u64::from(flags.ilog2())) + u64::from(bits.ilog2()) + 1
    }

    /// The bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Block>() * self.blocks.len() + WORD_BYTES * self.words.len()
    }

    /// The most that a bitmap of so many bits takes with so many of them set.
    pub(crate) fn most_bytes(bits: u64, set: u64) -> u64 {
        size_of::<Block>() as u64 * bits.div_ceil(BLOCK_BITS) + WORD_BYTES as u64 * set.min(bits.div_ceil(64))
    }

    /// The bitmap as bytes: the flags of all blocks, then the words.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 8 * (self.blocks.len() + self.words.len())];
        let (flags, words) = bytes.split_at_mut(8 * self.blocks.len());
        let put = |(bytes, number): (&mut [u8], u64)| bytes.copy_from_slice(&number.to_le_bytes());
        flags.chunks_exact_mut(8).zip(self.blocks.iter().map(|block| block.words)).for_each(put);
        words.chunks_exact_mut(8).zip(self.words.iter().map(|word| word.bits)).for_each(put);
        bytes
    }

    /// The bitmap of so many bits from its bytes; `None` when they are not those of one.
    pub(crate) fn from_bytes(bytes: &[u8], bits: u64) -> Option<Self> {
        let blocks = bits.div_ceil(BLOCK_BITS) as usize;
        let (flags, words) = bytes.split_at_checked(8 * blocks)?;
        let count = numbers(flags).map(|flags| u64::from(flags.count_ones())).sum::<u64>();
        if words.len() as u64 != 8 * count || numbers(words).any(|word| word == 0) {
            return None;
        }
        let mut bitmap =
            Bitmap { blocks: Vec::with_capacity(blocks), words: Vec::with_capacity(count as usize), len: 0 };
        let mut words = numbers(words);
        numbers(flags).for_each(|flags| bitmap.push(flags, |_| words.next().unwrap_or_default()));
        // No bit is behind the last one.
        (bitmap.end() <= bits).then_some(bitmap)
    }
}

/// Numbers of eight bytes each.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}

/// The bits of a bitmap. It is not an iterator with closures around it, since those would not be compiled for the instruction set of a
/// hot loop.
pub(crate) struct Bits<'a> {
    bitmap: &'a Bitmap,
    blocks: std::ops::Range<usize>,
    /// The words of the block that are to come.
    flags: u64,
    next_word: usize,
    block_index: u64,
    /// The bits of the word that are to come.
    word: u64,
    word_index: u64,
}

impl Bits<'_> {
    /// The next bit.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<u64> {
        while self.word == 0 {
            while self.flags == 0 {
                let index = self.blocks.next()?;
                let block = self.bitmap.blocks[index];
                (self.flags, self.next_word) = (block.words, block.first_word as usize);
                self.block_index = index as u64 * BLOCK_BITS;
            }
            self.word_index = self.block_index + 64 * u64::from(self.flags.trailing_zeros());
            self.word = self.bitmap.words[self.next_word].bits;
            self.flags &= self.flags - 1;
            self.next_word += 1;
        }
        let bit = self.word_index + u64::from(self.word.trailing_zeros());
        self.word &= self.word - 1;
        Some(bit)
    }
}

/// Sets a bit that threads may set at the same time.
#[inline(always)]
pub(crate) fn set(plain: &[AtomicU64], index: u64) {
    let (word, bit) = (&plain[(index / 64) as usize], 1 << (index % 64));
    // Most bits are set many times.
    if word.load(Relaxed) & bit == 0 {
        word.fetch_or(bit, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_a_list() {
        let indices: Vec<u64> =
            (0..40_000).filter(|i| i * i % 1009 < 40 || (8192..8300).contains(i)).collect();
        let mut plain: Vec<_> = (0..625).map(|_| AtomicU64::new(0)).collect();
        indices.iter().for_each(|&i| set(&plain, i));
        let bitmap = Bitmap::take(&mut plain);
        assert!(plain.iter_mut().all(|word| *word.get_mut() == 0));
        assert_eq!(bitmap.len, indices.len());
        let end = indices[indices.len() - 1] + 1;
        let again = Bitmap::from_bytes(&bitmap.to_bytes(), end).expect("its own bytes");
        for bitmap in [&bitmap, &again] {
            let mut bits = bitmap.bits(0..bitmap.blocks());
            assert_eq!(std::iter::from_fn(|| bits.next()).collect::<Vec<_>>(), indices);
            for (rank, &i) in indices.iter().enumerate() {
                assert_eq!((bitmap.rank(i), bitmap.find(i)), (rank, Some(rank)));
            }
            let others = (0..40_000).filter(|i| !indices.contains(i));
            assert!(others.into_iter().all(|i| bitmap.find(i).is_none()));
        }
        let bytes = bitmap.to_bytes();
        assert!(Bitmap::from_bytes(&bytes[8..], end).is_none());
        assert!(Bitmap::from_bytes(&bytes, end + BLOCK_BITS).is_none());
        assert!(Bitmap::from_bytes(&bytes, end - 1).is_none());
    }
}
