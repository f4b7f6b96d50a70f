//! Reading: no data is returned before it is checked.

use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::Xxh3Default;

use super::{
    CHECKSUM, COMPRESSED, SPARSE, Tensor, checksum_key,
    header::{Dtype, Header, Info},
    hex, len,
    sparse::{self, Unread},
};
use crate::file::{Content, FileError, FileProblem, Floats};

/// The number of bytes that are processed at a time, so that the second pass finds them in the cache.
const CHUNK: usize = 256 * 1024;

/// A file of tensors, with its header checked.
pub struct TensorFile {
    path: PathBuf,
    content: Content,
    data_start: usize,
    tensors: BTreeMap<String, Info>,
    /// The tensors by name.
    entries: BTreeMap<String, Entry>,
    checksums: BTreeMap<String, String>,
    metadata: BTreeMap<String, String>,
}

/// A tensor as it is after decoding.
struct Entry {
    shape: Vec<u64>,
    stored: Stored,
}

/// How a tensor is stored.
enum Stored {
    /// Uncompressed.
    Plain,
    /// In a zstd frame.
    Compressed,
    /// Together with others: the name of all of them, which of them it is, and how many there are.
    Sparse { name: String, column: usize, tables: usize },
}

/// The numbers of a tensor: in the file, or decompressed.
pub enum Numbers<'a> {
    /// As stored in the file.
    Stored(Floats<'a>),
    /// The bytes of decompressed numbers.
    Decompressed(Vec<u8>),
}

impl Numbers<'_> {
    /// All of them.
    pub fn floats(&self) -> Floats<'_> {
        match self {
            Numbers::Stored(floats) => *floats,
            Numbers::Decompressed(bytes) => Floats::new(bytes),
        }
    }
}

impl<'a> IntoIterator for Numbers<'a> {
    type Item = f32;
    type IntoIter = Box<dyn Iterator<Item = f32> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        let len = self.floats().len();
        Box::new((0..len).map(move |i| self.floats().get(i).unwrap_or_default()))
    }
}

/// The shape of a compressed tensor.
fn parse_shape(text: &str) -> Option<Vec<u64>> {
    text.split_whitespace().map(|size| size.parse().ok()).collect()
}

impl TensorFile {
    /// Opens a file and checks its header: syntax, names, types, shapes, offsets, its checksum and the
    /// file's length. Does not read the tensors yet.
    ///
    /// # Errors
    /// If the file cannot be read or is invalid.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let open = || Self::parse(path, Content::open(path).map_err(FileProblem::Read)?);
        open().map_err(|problem| problem.at(path))
    }

    /// Opens a file that is part of the program; `name` is for messages.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn from_static(name: &Path, bytes: &'static [u8]) -> Result<Self, FileError> {
        Self::parse(name, Content::Static(bytes)).map_err(|problem| problem.at(name))
    }

    /// Opens a file in memory; `name` is for messages.
    ///
    /// # Errors
    /// If it is invalid.
    pub(crate) fn from_bytes(name: &Path, bytes: Vec<u8>) -> Result<Self, FileError> {
        Self::parse(name, Content::Read(bytes)).map_err(|problem| problem.at(name))
    }

    fn parse(path: &Path, content: Content) -> Result<Self, FileProblem> {
        let (header, data_start) = Header::parse(&content)?;
        let is_checksum = |key: &str| key.strip_prefix(CHECKSUM).is_some_and(|rest| rest.starts_with('.'));
        let (checksums, mut metadata): (BTreeMap<_, _>, BTreeMap<_, _>) =
            header.metadata.into_iter().partition(|(key, _)| is_checksum(key));
        let mut entries = BTreeMap::new();
        let mut insert =
            |name: &str, shape, stored| match entries.insert(name.to_owned(), Entry { shape, stored }) {
                Some(_) => Err(FileProblem::Twice(name.to_owned())),
                None => Ok(()),
            };
        for (name, info) in &header.tensors {
            let mut shape = || {
                let text: Option<String> = metadata.remove(name);
                text.and_then(|text| parse_shape(&text)).ok_or_else(|| FileProblem::Packed(name.to_owned()))
            };
            if let Some(names) = name.strip_prefix(SPARSE) {
                let (shape, tables) = (shape()?, names.split('+').count());
                for (column, tensor) in names.split('+').enumerate() {
                    insert(tensor, shape.clone(), Stored::Sparse { name: name.clone(), column, tables })?;
                }
            } else if let Some(tensor) = name.strip_prefix(COMPRESSED) {
                insert(tensor, shape()?, Stored::Compressed)?;
            } else {
                insert(name, info.shape.clone(), Stored::Plain)?;
            }
        }
        Ok(TensorFile {
            path: path.into(),
            content,
            data_start,
            tensors: header.tensors,
            entries,
            checksums,
            metadata,
        })
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of bytes of the whole file.
    pub fn size(&self) -> u64 {
        self.content.len() as u64
    }

    /// The bytes of the header. They contain the checksums of everything, so they identify the file.
    pub fn header(&self) -> &[u8] {
        &self.content[8..self.data_start]
    }

    /// The metadata without checksums.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The names of the tensors, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The number of numbers in a tensor, if it exists.
    pub fn len_of(&self, name: &str) -> Option<u64> {
        self.shape_of(name).map(len)
    }

    /// The shape of a tensor, if it exists.
    pub fn shape_of(&self, name: &str) -> Option<&[u64]> {
        self.entries.get(name).map(|entry| &entry.shape[..])
    }

    /// The numbers of a tensor, decompressed if necessary. All of them are checked as those of
    /// [`tensor`](Self::tensor).
    ///
    /// # Errors
    /// If there is no such tensor or it is damaged.
    pub fn numbers(&self, name: &str) -> Result<Numbers<'_>, FileError> {
        if self.tensors.contains_key(name) {
            return self.tensor(name).map(Numbers::Stored);
        }
        self.decompressed(name).map(Numbers::Decompressed).map_err(|problem| problem.at(&self.path))
    }

    fn decompressed(&self, name: &str) -> Result<Vec<u8>, FileProblem> {
        let missing = || FileProblem::MissingTensor(name.into());
        let Entry { shape, stored } = self.entries.get(name).ok_or_else(missing)?;
        let damaged = || FileProblem::Packed(name.to_owned());
        let len = usize::try_from(len(shape))
            .ok()
            .filter(|len| len.checked_mul(4).is_some())
            .ok_or_else(damaged)?;
        let content = match stored {
            Stored::Plain => return Err(missing()),
            Stored::Compressed => {
                let frame = self.checked(&format!("{COMPRESSED}{name}"), Dtype::U8)?;
                // The length is checksummed, but memory is allocated only as it is filled.
                let decoder = zstd::stream::read::Decoder::with_buffer(frame).map_err(|_| damaged())?;
                let mut content = Vec::new();
                decoder.take(4 * len as u64 + 1).read_to_end(&mut content).map_err(|_| damaged())?;
                content
            }
            Stored::Sparse { name: stored, column, tables } => {
                let bytes = self.checked(stored, Dtype::U8)?;
                sparse::read(bytes, *column, *tables, len).map_err(|unread| match unread {
                    Unread::Damaged => damaged(),
                    Unread::Version(version) => FileProblem::Unsupported(format!(
                        "has tables of format {version}, of a later version of afterstate"
                    )),
                })?
            }
        };
        if content.len() != 4 * len {
            return Err(damaged());
        }
        Floats::new(&content).check_finite(name, 0)?;
        Ok(content)
    }

    /// The numbers of an uncompressed tensor. All of them are read and checked: the checksum, and that they are finite.
    ///
    /// # Errors
    /// If there is no such tensor or it is damaged.
    pub fn tensor(&self, name: &str) -> Result<Floats<'_>, FileError> {
        self.checked(name, Dtype::F32).map(Floats::new).map_err(|problem| problem.at(&self.path))
    }

    /// The bytes of a packed table, after checking their checksum.
    ///
    /// # Errors
    /// If there is no such tensor or it is damaged.
    pub fn bytes(&self, name: &str) -> Result<&[u8], FileError> {
        self.checked(name, Dtype::U8).map_err(|problem| problem.at(&self.path))
    }

    /// A tensor of this file, to be written to another one.
    ///
    /// # Errors
    /// The same as [`tensor`](Self::tensor).
    pub fn to_tensor(&self, name: &str) -> Result<Tensor<'_>, FileError> {
        let shape = self.shape_of(name).unwrap_or_default().to_vec();
        self.numbers(name).map(|numbers| Tensor::shaped(name, shape, numbers))
    }

    /// The bytes of a tensor, after checking their checksum; numbers must be finite.
    fn checked(&self, name: &str, dtype: Dtype) -> Result<&[u8], FileProblem> {
        let info = self.tensors.get(name).ok_or_else(|| FileProblem::MissingTensor(name.into()))?;
        info.expect(name, dtype)?;
        let [start, end] = info.data_offsets.map(|offset| self.data_start + offset as usize);
        let data = &self.content[start..end];
        let mut checksum = Xxh3Default::new();
        let mut finite = Ok(());
        for (i, chunk) in data.chunks(CHUNK).enumerate() {
            checksum.update(chunk);
            if dtype == Dtype::F32 {
                finite = finite.and(Floats::new(chunk).check_finite(name, (i * CHUNK / 4) as u64));
            }
        }
        let found = hex(checksum.digest());
        let what = format!("tensor `{name}`");
        match self.checksums.get(&checksum_key(name)) {
            Some(expected) if *expected == found => finite.map(|()| data),
            Some(expected) => Err(FileProblem::Checksum { what, expected: expected.clone(), found }),
            None => Err(FileProblem::NoChecksum(what)),
        }
    }
}
