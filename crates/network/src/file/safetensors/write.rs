//! Writing: the numbers go to the file as they come, so that no copy of a large table is made.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufWriter, Seek, SeekFrom, Write},
    path::Path,
};

use xxhash_rust::xxh3::Xxh3Default;

use super::{
    checksum_key,
    header::{Dtype, Header, Info},
    hex,
};
use crate::file::{FileError, Floats, Problem, atomic::write_atomically};

/// How many numbers are taken at a time.
const CHUNK: usize = 16 * 1024;

/// Appends the next numbers to the bytes: at most [`CHUNK`], and none at the end.
type NextChunk<'a> = Box<dyn FnMut(&mut Vec<u8>) + 'a>;

/// A named table that is still to be written.
pub struct Tensor<'a> {
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    next_chunk: NextChunk<'a>,
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
        Tensor { name: name.into(), dtype: Dtype::F32, shape, next_chunk: Box::new(next_chunk) }
    }

    /// Bytes, as packed tables are.
    pub fn bytes(name: impl Into<String>, content: &'a [u8]) -> Self {
        let mut chunks = content.chunks(4 * CHUNK);
        let next_chunk =
            move |bytes: &mut Vec<u8>| bytes.extend_from_slice(chunks.next().unwrap_or_default());
        let shape = vec![content.len() as u64];
        Tensor { name: name.into(), dtype: Dtype::U8, shape, next_chunk: Box::new(next_chunk) }
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
        self.shape.iter().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the numbers, and gives their checksum.
    pub(crate) fn write_to(mut self, writer: &mut impl Write) -> Result<u64, Problem> {
        let expected = self.len();
        let mut checksum = Xxh3Default::new();
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
            checksum.update(&bytes);
            writer.write_all(&bytes)?;
        }
        if written != expected {
            return Err(Problem::TableLength { table: self.name, expected, found: written });
        }
        Ok(checksum.digest())
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

fn write_all(
    writer: &mut BufWriter<File>,
    metadata: &BTreeMap<String, String>,
    tensors: Vec<Tensor<'_>>,
) -> Result<(), Problem> {
    let mut header = Header { metadata: metadata.clone(), ..Header::default() };
    let mut end = 0;
    for tensor in &tensors {
        let info = Info::new(end, tensor.dtype, tensor.shape.clone());
        end = info.data_offsets[1];
        // All checksums are equally long, so the header can be filled in when they are known.
        header.metadata.insert(checksum_key(&tensor.name), hex(0));
        if header.tensors.insert(tensor.name.clone(), info).is_some() {
            return Err(Problem::Twice(tensor.name.clone()));
        }
    }
    writer.write_all(&header.to_bytes()?)?;
    for tensor in tensors {
        let key = checksum_key(&tensor.name);
        header.metadata.insert(key, hex(tensor.write_to(writer)?));
    }
    writer.seek(SeekFrom::Start(0))?;
    Ok(writer.write_all(&header.to_bytes()?)?)
}
