//! Tables that are mostly 0, stored together: the V, E and A of a tuple.
//!
//! The bytes are a version (1) and zstd frames. For each block of 2^17 indices they hold a bitmap of the indices at which
//! any of the tables is not 0 (lowest bit first), followed by the bits of the numbers at these indices, table by table,
//! little-endian. All tables but the last are stored as differences from the next one, modulo 2^32: a weight that was
//! updated once has A = |E|, and V is a multiple of E.

use std::io::{self, BufRead, Read, Write};

use super::write::NextChunk;
use crate::file::{FileProblem, Floats};

/// The first byte. Any other value is a later format.
const VERSION: u8 = 1;

/// The indices of a block.
const BLOCK: usize = 1 << 17;

/// Data up to this size is compressed thoroughly, as for small networks; larger data fast.
const SHORT: usize = 4 << 20;

/// The compression level that detects most of the weights whose tuple is its own mirror image.
const THOROUGH: i32 = 12;

/// The fastest level.
const FAST: i32 = 1;

/// An upper bound on the overhead of a streamed zstd frame over its blocks.
const FRAME: u64 = 1024;

/// An upper bound on the bytes of `tables` tables of `len` numbers.
pub(super) fn bound(tables: usize, len: u64) -> u64 {
    let blocks = len.div_ceil(BLOCK as u64);
    let bytes = len.saturating_mul(4 * tables as u64).saturating_add(blocks * (BLOCK as u64 / 8) + 1);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX / 2);
    zstd::zstd_safe::compress_bound(bytes) as u64 + FRAME
}

/// A table to be written.
pub(super) struct Column<'a> {
    pub(super) name: String,
    pub(super) next_chunk: NextChunk<'a>,
}

/// Writes tables of `len` numbers.
pub(super) fn write(
    columns: &mut [Column<'_>],
    len: u64,
    writer: &mut impl Write,
) -> Result<(), FileProblem> {
    let mut blocks = Blocks { columns, start: 0, bytes: Vec::new() };
    let mut short = vec![VERSION];
    while short.len() <= SHORT {
        if !blocks.append_next(&mut short)? {
            writer.write_all(&zstd::bulk::compress(&short, THOROUGH)?)?;
            return blocks.expect(len);
        }
    }
    let mut encoder = zstd::stream::write::Encoder::new(writer, FAST)?;
    let mut block = short;
    loop {
        encoder.write_all(&block)?;
        block.clear();
        if !blocks.append_next(&mut block)? {
            encoder.finish()?;
            return blocks.expect(len);
        }
    }
}

/// Consecutive blocks of several tables.
struct Blocks<'a, 'b> {
    columns: &'a mut [Column<'b>],
    /// The number of indices so far.
    start: u64,
    /// The bytes of the numbers of the current block, by table.
    bytes: Vec<Vec<u8>>,
}

impl Blocks<'_, '_> {
    /// Appends the next block; returns false at the end.
    fn append_next(&mut self, output: &mut Vec<u8>) -> Result<bool, FileProblem> {
        self.bytes.resize_with(self.columns.len(), Vec::new);
        for (column, bytes) in self.columns.iter_mut().zip(&mut self.bytes) {
            bytes.clear();
            let mut before = usize::MAX;
            while bytes.len() < 4 * BLOCK && bytes.len() != before {
                before = bytes.len();
                (column.next_chunk)(bytes);
            }
            Floats::new(bytes).check_finite(&column.name, self.start)?;
        }
        let tables: Vec<&[[u8; 4]]> = self.bytes.iter().map(|bytes| bytes.as_chunks().0).collect();
        let len = tables.iter().map(|table| table.len()).min().unwrap_or(0);
        if let Some(i) = tables.iter().position(|table| table.len() != len) {
            let (table, found) = (self.columns[i].name.clone(), self.start + tables[i].len() as u64);
            return Err(FileProblem::TableLength { table, expected: self.start + len as u64, found });
        }
        let bitmap = output.len();
        output.resize(bitmap + len.div_ceil(8), 0);
        for (i, first) in (0..len).step_by(8).enumerate() {
            let eight = first..len.min(first + 8);
            if tables.iter().all(|table| table[eight.clone()].iter().all(|number| *number == [0; 4])) {
                continue;
            }
            for index in eight.filter(|&index| tables.iter().any(|table| table[index] != [0; 4])) {
                output[bitmap + i] |= 1 << (index - first);
                let bits = |table: &&[[u8; 4]]| u32::from_le_bytes(table[index]);
                let next = tables.iter().skip(1).map(bits).chain([0]);
                let differences =
                    tables.iter().map(bits).zip(next).map(|(bits, next)| bits.wrapping_sub(next));
                differences.for_each(|difference| output.extend_from_slice(&difference.to_le_bytes()));
            }
        }
        self.start += len as u64;
        Ok(len > 0)
    }

    /// Rejects a length other than the announced one.
    fn expect(&self, len: u64) -> Result<(), FileProblem> {
        if self.start == len {
            return Ok(());
        }
        let table = self.columns.first().map(|column| column.name.clone()).unwrap_or_default();
        Err(FileProblem::TableLength { table, expected: len, found: self.start })
    }
}

/// Why bytes cannot be decoded as tables.
pub(super) enum Unread {
    /// They have a later format.
    Version(u8),
    /// They are damaged.
    Damaged,
}

impl From<io::Error> for Unread {
    fn from(_: io::Error) -> Self {
        Unread::Damaged
    }
}

/// The numbers of table `column` of `tables`, each with `len` numbers, as bytes.
pub(super) fn read(stored: &[u8], column: usize, tables: usize, len: usize) -> Result<Vec<u8>, Unread> {
    let decoder = zstd::stream::read::Decoder::with_buffer(stored)?;
    let mut reader = io::BufReader::with_capacity(1 << 17, decoder);
    let mut version = [0];
    reader.read_exact(&mut version)?;
    if version != [VERSION] {
        return Err(Unread::Version(version[0]));
    }
    let mut numbers = Vec::new();
    let (mut bitmap, mut words) = (Vec::new(), vec![[0; 4]; tables]);
    for start in (0..len).step_by(BLOCK) {
        let count = BLOCK.min(len - start);
        bitmap.resize(count.div_ceil(8), 0);
        reader.read_exact(&mut bitmap)?;
        // The length is checksummed, but memory is allocated only as it is filled.
        numbers.resize(4 * (start + count), 0);
        let block = numbers[4 * start..].as_chunks_mut::<4>().0;
        for (byte, eight) in bitmap.iter().zip(block.chunks_mut(8)) {
            if byte.checked_shr(eight.len() as u32).is_some_and(|rest| rest != 0) {
                return Err(Unread::Damaged);
            }
            for (_, number) in eight.iter_mut().enumerate().filter(|(i, _)| byte >> i & 1 == 1) {
                reader.read_exact(words.as_flattened_mut())?;
                let from_here_on = words[column..].iter().map(|&word| u32::from_le_bytes(word));
                *number = from_here_on.fold(0, u32::wrapping_add).to_le_bytes();
            }
        }
    }
    if reader.fill_buf()?.is_empty() { Ok(numbers) } else { Err(Unread::Damaged) }
}
