//! Writing: numbers are streamed to the file, so that large tables are not copied.

use std::{
    collections::BTreeMap,
    io::{self, Cursor, Seek, SeekFrom, Write},
    path::Path,
};

use xxhash_rust::xxh3::Xxh3Default;

use super::{
    SPARSE, checksum_key,
    header::{Dtype, Header, Info},
    hex,
    holes::Holes,
    len,
    sparse::{self, Column},
};
use crate::file::{FileError, FileProblem, Floats, atomic::write_atomically};

/// The number of numbers processed at a time.
const CHUNK: usize = 16 * 1024;

/// Appends the next numbers to the bytes: at most [`CHUNK`], and none at the end.
pub(super) type NextChunk<'a> = Box<dyn FnMut(&mut Vec<u8>) + 'a>;

/// A named table to be written.
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

    /// A table with the given shape, the last dimension varying fastest.
    pub fn shaped(
        name: impl Into<String>,
        shape: Vec<u64>,
        values: impl IntoIterator<Item = f32> + 'a,
    ) -> Self {
        // One virtual call moves a whole chunk, and the loop over its numbers is monomorphized.
        let mut values = values.into_iter();
        let next_chunk = move |bytes: &mut Vec<u8>| {
            for value in values.by_ref().take(CHUNK) {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        };
        let next_chunk = Box::new(next_chunk);
        Tensor { name: name.into(), dtype: Dtype::F32, shape, next_chunk }
    }

    /// Raw bytes, as in packed tables.
    pub fn bytes(name: impl Into<String>, content: &'a [u8]) -> Self {
        let mut chunks = content.chunks(4 * CHUNK);
        let next_chunk =
            move |bytes: &mut Vec<u8>| bytes.extend_from_slice(chunks.next().unwrap_or_default());
        let shape = vec![content.len() as u64];
        let next_chunk = Box::new(next_chunk);
        Tensor { name: name.into(), dtype: Dtype::U8, shape, next_chunk }
    }

    /// The same table with a number added to each element.
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

    /// A table of another file.
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

    /// Writes the numbers.
    pub(crate) fn write_to(mut self, writer: &mut impl Write) -> Result<(), FileProblem> {
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
            return Err(FileProblem::TableLength { table: self.name, expected, found: written });
        }
        Ok(())
    }
}

/// A unit of storage in a file.
pub enum Part<'a> {
    /// A table, number by number.
    Plain(Tensor<'a>),
    /// Tables of one shape that are read and written together; zeros take no space.
    Sparse(Vec<Tensor<'a>>),
}

impl<'a> From<Tensor<'a>> for Part<'a> {
    fn from(tensor: Tensor<'a>) -> Self {
        Part::Plain(tensor)
    }
}

impl<'a> Part<'a> {
    /// Its name in the file.
    fn stored_name(&self) -> String {
        match self {
            Part::Plain(tensor) => tensor.name.clone(),
            Part::Sparse(tensors) => {
                let names: Vec<_> = tensors.iter().map(Tensor::name).collect();
                format!("{SPARSE}{}", names.join("+"))
            }
        }
    }

    /// The shape of sparse tables.
    fn sparse_shape(&self) -> Option<&[u64]> {
        match self {
            Part::Plain(_) => None,
            Part::Sparse(tensors) => Some(tensors.first().map_or(&[], |tensor| &tensor.shape)),
        }
    }

    /// Its type and shape in the file; for sparse tables, an upper bound on their bytes.
    fn stored(&self) -> (Dtype, Vec<u64>) {
        match self {
            Part::Plain(tensor) => (tensor.dtype, tensor.shape.clone()),
            Part::Sparse(tensors) => {
                let len = tensors.first().map_or(0, Tensor::len);
                (Dtype::U8, vec![sparse::bound(tensors.len(), len)])
            }
        }
    }

    /// Writes its bytes to the file, and returns their number and checksum.
    fn store(self, writer: &mut impl Write) -> Result<(u64, u64), FileProblem> {
        let mut counted = Counted { writer, bytes: 0, checksum: Xxh3Default::new() };
        match self {
            Part::Plain(tensor) => tensor.write_to(&mut counted)?,
            Part::Sparse(tensors) => {
                let len = tensors.first().map_or(0, Tensor::len);
                let column = |tensor: Tensor<'a>| Column { name: tensor.name, next_chunk: tensor.next_chunk };
                let mut columns: Vec<_> = tensors.into_iter().map(column).collect();
                sparse::write(&mut columns, len, &mut counted)?;
            }
        }
        Ok((counted.bytes, counted.checksum.digest()))
    }
}

/// A writer that counts and checksums the bytes.
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

/// Writes tensors, alone or together, and metadata to a file, atomically.
///
/// # Errors
/// If the file cannot be written, a number is not finite, a tensor's length differs from the announced one,
/// or a name occurs twice. An existing file is then unchanged.
pub fn write<'a>(
    path: &Path,
    metadata: &BTreeMap<String, String>,
    parts: impl IntoIterator<Item = impl Into<Part<'a>>>,
) -> Result<(), FileError> {
    let parts = parts.into_iter().map(Into::into).collect();
    write_atomically(path, |writer| write_all(writer, metadata, parts))
}

/// The bytes of a file with these tensors and metadata.
pub(crate) fn to_bytes<'a>(
    metadata: &BTreeMap<String, String>,
    tensors: impl IntoIterator<Item = Tensor<'a>>,
) -> Result<Vec<u8>, FileProblem> {
    let mut bytes = Cursor::new(Vec::new());
    write_all(&mut bytes, metadata, tensors.into_iter().map(Part::Plain).collect())?;
    Ok(bytes.into_inner())
}

fn write_all(
    writer: &mut (impl Write + Seek),
    metadata: &BTreeMap<String, String>,
    parts: Vec<Part<'_>>,
) -> Result<(), FileProblem> {
    let mut header = Header { metadata: metadata.clone(), ..Header::default() };
    let mut end = 0;
    for part in &parts {
        let (name, (dtype, shape)) = (part.stored_name(), part.stored());
        let info = Info::new(end, dtype, shape);
        end = info.data_offsets[1];
        // All checksums have the same length, and sparse tables are never longer than announced, so the header can be
        // completed once they are known.
        header.metadata.insert(checksum_key(&name), hex(0));
        if let Some(shape) = part.sparse_shape() {
            let shape: Vec<_> = shape.iter().map(u64::to_string).collect();
            header.metadata.insert(name.clone(), shape.join(" "));
        }
        if header.tensors.insert(name.clone(), info).is_some() {
            return Err(FileProblem::Twice(name));
        }
    }
    let reserved = header.to_bytes(0)?;
    writer.write_all(&reserved)?;
    let mut holes = Holes::new(&mut *writer)?;
    let mut end = 0;
    for part in parts {
        let (name, is_sparse) = (part.stored_name(), part.sparse_shape().is_some());
        let (bytes, checksum) = part.store(&mut holes)?;
        header.metadata.insert(checksum_key(&name), hex(checksum));
        if let Some(info) = header.tensors.get_mut(&name) {
            if is_sparse {
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
