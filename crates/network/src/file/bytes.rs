//! The bytes of files, and the numbers in them.

use std::{
    fmt::Display,
    fs::File,
    io::{self, Read},
    ops::Deref,
    path::Path,
};

use memmap2::Mmap;

use super::FileProblem;

/// Files up to this size are read into memory.
const SMALL: u64 = 512 << 20;

/// The bytes of a file.
///
/// A small file is copied to memory, so later changes to the file do not matter. A large one is mapped, so that it takes
/// no memory of its own; truncating it in the meantime ends the process with SIGBUS, for which the command has a message.
/// All our own formats have checksums, so changes during reading are detected; the formats of other programs have none.
pub enum Content {
    /// Read into memory.
    Read(Vec<u8>),
    /// Mapped from disk.
    Mapped(Mmap),
    /// Part of the program.
    Static(&'static [u8]),
}

impl Content {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        if metadata.len() > SMALL {
            return map(&file).map(Content::Mapped);
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        file.read_to_end(&mut bytes)?;
        Ok(Content::Read(bytes))
    }
}

/// Maps a file for reading.
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: files are replaced by renaming and never written in place, so the bytes do not change
    // while they are mapped unless another program damages the file.
    unsafe { Mmap::map(file) }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Content::Read(bytes) => bytes,
            Content::Mapped(map) => map,
            Content::Static(bytes) => bytes,
        }
    }
}

/// Little-endian f32 numbers in a file, at any alignment.
#[derive(Clone, Copy, Debug)]
pub struct Floats<'a>(&'a [[u8; 4]]);

impl<'a> Floats<'a> {
    /// The numbers in these bytes; a remainder of fewer than four bytes is ignored.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Floats(bytes.as_chunks().0)
    }

    /// The number of them.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The number at an index, if there is one.
    pub fn get(self, index: usize) -> Option<f32> {
        self.0.get(index).copied().map(f32::from_le_bytes)
    }

    /// Up to `len` numbers, beginning at index `start`.
    pub(super) fn range(self, start: usize, len: usize) -> Self {
        Floats(self.0.get(start..).map_or(&[], |rest| &rest[..len.min(rest.len())]))
    }

    /// The numbers.
    pub fn iter(self) -> impl ExactSizeIterator<Item = f32> + Clone + 'a {
        self.0.iter().copied().map(f32::from_le_bytes)
    }

    /// Rejects infinities and NaNs. `first` is the index of the first of these numbers in its table.
    pub(super) fn check_finite(self, table: impl Display, first: u64) -> Result<(), FileProblem> {
        // Without an early exit, the loop compiles to a few vector instructions.
        if self.iter().fold(true, |finite, value| finite & value.is_finite()) {
            return Ok(());
        }
        let bad = self.iter().enumerate().find(|(_, value)| !value.is_finite());
        bad.map_or(Ok(()), |(i, value)| {
            Err(FileProblem::NotFinite { table: table.to_string(), index: first + i as u64, value })
        })
    }
}

/// Reads a binary file from start to end.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, offset: 0 }
    }

    /// The offset of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// The next `len` bytes; `what` describes them in error messages.
    pub(super) fn take(&mut self, what: &'static str, len: u64) -> Result<&'a [u8], FileProblem> {
        let end = usize::try_from(len).ok().and_then(|len| self.offset.checked_add(len));
        let taken = end.and_then(|end| self.bytes.get(self.offset..end));
        let cut_off = || FileProblem::CutOff {
            what,
            needed: len,
            offset: self.offset as u64,
            len: self.bytes.len() as u64,
        };
        let taken = taken.ok_or_else(cut_off)?;
        self.offset += taken.len();
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], FileProblem> {
        self.take(what, N as u64).map(|bytes| *bytes.first_chunk().expect("N bytes were taken"))
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, FileProblem> {
        self.array(what).map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, FileProblem> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, FileProblem> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self, what: &'static str) -> Result<i32, FileProblem> {
        self.array(what).map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, FileProblem> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// The next `len` numbers.
    pub(super) fn floats(&mut self, what: &'static str, len: u64) -> Result<Floats<'a>, FileProblem> {
        self.take(what, len.saturating_mul(4)).map(Floats::new)
    }

    /// The next number, if there is one, without consuming it.
    pub(super) fn peek_f32(&self) -> Option<f32> {
        self.bytes[self.offset..].first_chunk().copied().map(f32::from_le_bytes)
    }

    /// Rejects a file with more bytes.
    pub(super) fn end(&self) -> Result<(), FileProblem> {
        match self.bytes.len() - self.offset {
            0 => Ok(()),
            rest => Err(FileProblem::Trailing(rest as u64)),
        }
    }
}

/// Rejects a number at `offset` that is not as expected.
pub(super) fn expect(
    holds: bool,
    what: &'static str,
    offset: usize,
    found: impl TryInto<i64>,
    right: &'static str,
) -> Result<(), FileProblem> {
    if holds {
        return Ok(());
    }
    let found = found.try_into().unwrap_or(i64::MAX);
    Err(FileProblem::Field { what, offset: offset as u64, found, right })
}
