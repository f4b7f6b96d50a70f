//! Writing: the numbers go to the file as they come, so that no copy of a large table is made.

use std::{
    collections::BTreeMap,
    io::{self, Cursor, Seek, SeekFrom, Write},
    path::Path,
};

use xxhash_rust::xxh3::Xxh3Default;

use super::{
    COMPRESSED, checksum_key,
    header::{Dtype, Header, Info},
    hex,
    holes::Holes,
    len,
};
use crate::file::{FileError, Floats, Problem, atomic::write_atomically};

/// How many numbers are taken at a time.
const CHUNK: usize = 16 * 1024;

/// The level of compression: the fastest. Zeros compress as well at any.
const LEVEL: i32 = 1;

/// More than a streamed zstd frame is longer than its blocks.
const FRAME: u64 = 1024;

/// Appends the next numbers to the bytes: at most [`CHUNK`], and none at the end.
type NextChunk<'a> = Box<dyn FnMut(&mut Vec<u8>) + 'a>;

/// A named table that is still to be written.
pub struct Tensor<'a> {
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    next_chunk: NextChunk<'a>,
    compressed: bool,
}

impl<'a> Tensor<'a> {
    /// A flat table of `len` numbers.
    pub fn new(name: impl Into<String>, len: u64, values: impl IntoIterator<Item = f32> + 'a) -> Self {
        Tensor::shaped(name, vec![len], values)
    }

    /// A table with as many numbers as its shape says, the last dimension running fastest.
    pub fn shaped(
        name: impl Into<String>,
        shape: Vec<u64>,
        values: impl IntoIterator<Item = f32> + 'a,
    ) -> Self {
        // One virtual call moves a whole chunk, and the loop over its numbers is compiled for the iterator.
        let mut values = values.into_iter();
        let next_chunk = move |bytes: &mut Vec<u8>| {
            for value in values.by_ref().take(CHUNK) {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        };
        let next_chunk = Box::new(next_chunk);
        Tensor { name: name.into(), dtype: Dtype::F32, shape, next_chunk, compressed: false }
    }

    /// Bytes, as packed tables are.
    pub fn bytes(name: impl Into<String>, content: &'a [u8]) -> Self {
        let mut chunks = content.chunks(4 * CHUNK);
        let next_chunk =
            move |bytes: &mut Vec<u8>| bytes.extend_from_slice(chunks.next().unwrap_or_default());
        let shape = vec![content.len() as u64];
        let next_chunk = Box::new(next_chunk);
        Tensor { name: name.into(), dtype: Dtype::U8, shape, next_chunk, compressed: false }
    }

    /// The same table with a number added to each of its numbers.
    pub(crate) fn plus(self, addend: f32) -> Self {
        let mut next_chunk = self.next_chunk;
        let next_chunk = move |bytes: &mut Vec<u8>| {
            let start = bytes.len();
            next_chunk(bytes);
            for number in bytes[start..].as_chunks_mut().0 {
                *number = (f32::from_le_bytes(*number) + addend).to_le_bytes();
            }
        };
        Tensor { next_chunk: Box::new(next_chunk), ..self }
    }

    /// The same table, compressed: what is 0 takes next to no room.
    pub fn compressed(self) -> Self {
        Tensor { compressed: true, ..self }
    }

    /// A table that stands in another file.
    pub fn copy(name: impl Into<String>, numbers: Floats<'a>) -> Self {
        Tensor::new(name, numbers.len() as u64, numbers.iter())
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of numbers.
    pub fn len(&self) -> u64 {
        len(&self.shape)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it is called in the file.
    fn stored_name(&self) -> String {
        if self.compressed { format!("{COMPRESSED}{}", self.name) } else { self.name.clone() }
    }

    /// Its type and shape in the file; a compressed one has no more bytes than this.
    fn stored(&self) -> (Dtype, Vec<u64>) {
        if !self.compressed {
            return (self.dtype, self.shape.clone());
        }
        let bytes = usize::try_from(self.len().saturating_mul(4)).unwrap_or(usize::MAX / 2);
        (Dtype::U8, vec![zstd::zstd_safe::compress_bound(bytes) as u64 + FRAME])
    }

    /// Writes the bytes that stand for it in the file, and gives their number and checksum.
    fn store(self, writer: &mut impl Write) -> Result<(u64, u64), Problem> {
        let mut counted = Counted { writer, bytes: 0, checksum: Xxh3Default::new() };
        if self.compressed {
            let mut encoder = zstd::stream::write::Encoder::new(&mut counted, LEVEL)?;
            self.write_to(&mut encoder)?;
            encoder.finish()?;
        } else {
            self.write_to(&mut counted)?;
        }
        Ok((counted.bytes, counted.checksum.digest()))
    }

    /// Writes the numbers.
    pub(crate) fn write_to(mut self, writer: &mut impl Write) -> Result<(), Problem> {
        let expected = self.len();
        let mut written = 0;
        let mut bytes = Vec::with_capacity(4 * CHUNK);
        loop {
            bytes.clear();
            (self.next_chunk)(&mut bytes);
            if bytes.is_empty() {
                break;
            }
            written += match self.dtype {
                Dtype::U8 => bytes.len() as u64,
                Dtype::F32 => {
                    let numbers = Floats::new(&bytes);
                    numbers.check_finite(&self.name, written)?;
                    numbers.len() as u64
                }
            };
            writer.write_all(&bytes)?;
        }
        if written != expected {
            return Err(Problem::TableLength { table: self.name, expected, found: written });
        }
        Ok(())
    }
}

/// A writer that counts bytes and adds them up to a checksum.
struct Counted<'a, W> {
    writer: &'a mut W,
    bytes: u64,
    checksum: Xxh3Default,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write_all(bytes)?;
        self.checksum.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Writes tensors and metadata to a file, atomically.
///
/// # Errors
/// When the file cannot be written, a number is not finite, a tensor has not the length that it says,
/// or a name occurs twice. What was there before is then unchanged.
pub fn write<'a>(
    path: &Path,
    metadata: &BTreeMap<String, String>,
    tensors: impl IntoIterator<Item = Tensor<'a>>,
) -> Result<(), FileError> {
    write_atomically(path, |writer| write_all(writer, metadata, tensors.into_iter().collect()))
}

/// The bytes of a file with these tensors and metadata.
pub(crate) fn to_bytes<'a>(
    metadata: &BTreeMap<String, String>,
    tensors: impl IntoIterator<Item = Tensor<'a>>,
) -> Result<Vec<u8>, Problem> {
    let mut bytes = Cursor::new(Vec::new());
    write_all(&mut bytes, metadata, tensors.into_iter().collect())?;
    Ok(bytes.into_inner())
}

fn write_all(
    writer: &mut (impl Write + Seek),
    metadata: &BTreeMap<String, String>,
    tensors: Vec<Tensor<'_>>,
) -> Result<(), Problem> {
    let mut header = Header { metadata: metadata.clone(), ..Header::default() };
    let mut end = 0;
    for tensor in &tensors {
        let (name, (dtype, shape)) = (tensor.stored_name(), tensor.stored());
        let info = Info::new(end, dtype, shape);
        end = info.data_offsets[1];
        // All checksums are equally long, and compressed tensors not longer than said, so the header can be filled in
        // when they are known.
        header.metadata.insert(checksum_key(&name), hex(0));
        if tensor.compressed {
            let shape: Vec<_> = tensor.shape.iter().map(u64::to_string).collect();
            header.metadata.insert(name.clone(), shape.join(" "));
        }
        if header.tensors.insert(name, info).is_some() {
            return Err(Problem::Twice(tensor.name.clone()));
        }
    }
    let reserved = header.to_bytes(0)?;
    writer.write_all(&reserved)?;
    let mut holes = Holes::new(&mut *writer)?;
    let mut end = 0;
    for tensor in tensors {
        let (name, compressed) = (tensor.stored_name(), tensor.compressed);
        let (bytes, checksum) = tensor.store(&mut holes)?;
        header.metadata.insert(checksum_key(&name), hex(checksum));
        if let Some(info) = header.tensors.get_mut(&name) {
            if compressed {
                info.shape = vec![bytes];
            }
            info.data_offsets = [end, end + bytes];
        }
        end += bytes;
    }
    holes.finish()?;
    writer.seek(SeekFrom::Start(0))?;
    Ok(writer.write_all(&header.to_bytes(reserved.len())?)?)
}
