//! Layers as bytes: compressed, with a checksum.

use xxhash_rust::xxh3::xxh3_64;

/// The bytes before a frame's content.
pub(crate) const HEAD: usize = 24;

/// What stands before a frame's content: the layer's sum, the number of its positions, and the lengths of its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    /// Half the sum of the free tiles.
    pub(crate) sum: u32,
    /// The number of positions.
    pub(crate) count: u32,
    /// The lengths of the bitmap and of the values, compressed.
    pub(crate) parts: [u32; 2],
    checksum: u64,
}

impl Head {
    /// The head of a layer with these parts.
    pub(crate) fn new(sum: u32, count: u32, parts: [&[u8]; 2]) -> Self {
        let lengths = parts.map(|part| part.len() as u32);
        let mut head = Head { sum, count, parts: lengths, checksum: 0 };
        head.checksum = head.checksum_of(&parts.concat());
        head
    }

    /// The head in bytes.
    pub(crate) fn of(bytes: &[u8; HEAD]) -> Self {
        let number = |i: usize| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().expect("four bytes"));
        let checksum = u64::from(number(4)) | u64::from(number(5)) << 32;
        Head { sum: number(0), count: number(1), parts: [number(2), number(3)], checksum }
    }

    /// The bytes of a head.
    pub(crate) fn to_bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        for (i, number) in [self.sum, self.count, self.parts[0], self.parts[1]].into_iter().enumerate() {
            bytes[4 * i..4 * i + 4].copy_from_slice(&number.to_le_bytes());
        }
        bytes[16..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// The length of the content.
    pub(crate) fn len(self) -> u64 {
        u64::from(self.parts[0]) + u64::from(self.parts[1])
    }

    /// Whether this is its content.
    pub(crate) fn fits(self, content: &[u8]) -> bool {
        content.len() as u64 == self.len() && self.checksum == self.checksum_of(content)
    }

    /// The checksum of the numbers before it and the content.
    fn checksum_of(self, content: &[u8]) -> u64 {
        let numbers = xxh3_64(&Head { checksum: 0, ..self }.to_bytes());
        numbers.rotate_left(1) ^ xxh3_64(content)
    }
}

/// Compressed bytes.
pub(crate) fn compress(bytes: &[u8], level: i32) -> Vec<u8> {
    zstd::bulk::compress(bytes, level).expect("compressing to memory does not fail")
}

/// What was compressed, if it is so long at most.
pub(crate) fn decompress(bytes: &[u8], longest: usize) -> Option<Vec<u8>> {
    zstd::bulk::decompress(bytes, longest).ok()
}
