//! Reading: nothing is given out that has not been checked.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::Xxh3Default;

use super::{
    CHECKSUM, Tensor, checksum_key,
    header::{Dtype, Header, Info},
    hex,
};
use crate::file::{Content, FileError, Floats, Problem};

/// How many bytes are looked at in one go, so that the second look finds them in the cache.
const CHUNK: usize = 256 * 1024;

/// A file of tensors, with its header checked.
pub struct TensorFile {
    path: PathBuf,
    content: Content,
    data_start: usize,
    tensors: BTreeMap<String, Info>,
    checksums: BTreeMap<String, String>,
    metadata: BTreeMap<String, String>,
}

impl TensorFile {
    /// Opens a file and checks its header: form, names, types, shapes, offsets, its checksum and the
    /// file's length. The tensors are not read yet.
    ///
    /// # Errors
    /// When the file cannot be read or anything is wrong with it.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let open = || Self::parse(path, Content::open(path).map_err(Problem::Read)?);
        open().map_err(|problem| problem.at(path))
    }

    /// Takes a file that is part of the program; `name` is for messages.
    ///
    /// # Errors
    /// When anything is wrong with it.
    pub fn from_static(name: &Path, bytes: &'static [u8]) -> Result<Self, FileError> {
        Self::parse(name, Content::Static(bytes)).map_err(|problem| problem.at(name))
    }

    fn parse(path: &Path, content: Content) -> Result<Self, Problem> {
        let (header, data_start) = Header::parse(&content)?;
        let is_checksum = |key: &str| key.strip_prefix(CHECKSUM).is_some_and(|rest| rest.starts_with('.'));
        let (checksums, metadata) = header.metadata.into_iter().partition(|(key, _)| is_checksum(key));
        Ok(TensorFile {
            path: path.into(),
            content,
            data_start,
            tensors: header.tensors,
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

    /// The bytes of the header: they hold the checksums of everything, so they tell one file from another.
    pub fn header(&self) -> &[u8] {
        &self.content[8..self.data_start]
    }

    /// The metadata, checksums left out.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The names of the tensors, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The number of numbers in a tensor, if there is such a tensor.
    pub fn len_of(&self, name: &str) -> Option<u64> {
        self.tensors.get(name).map(Info::len)
    }

    /// The shape of a tensor, if there is such a tensor.
    pub fn shape_of(&self, name: &str) -> Option<&[u64]> {
        self.tensors.get(name).map(|info| &info.shape[..])
    }

    /// The numbers of a tensor. All of them are read and checked: the checksum, and that they are finite.
    ///
    /// # Errors
    /// When there is no such tensor or it is damaged.
    pub fn tensor(&self, name: &str) -> Result<Floats<'_>, FileError> {
        self.checked(name, Dtype::F32).map(Floats::new).map_err(|problem| problem.at(&self.path))
    }

    /// The bytes of a packed table, with their checksum checked.
    ///
    /// # Errors
    /// When there is no such tensor or it is damaged.
    pub fn bytes(&self, name: &str) -> Result<&[u8], FileError> {
        self.checked(name, Dtype::U8).map_err(|problem| problem.at(&self.path))
    }

    /// A tensor of this file to be written to another one.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn to_tensor(&self, name: &str) -> Result<Tensor<'_>, FileError> {
        let shape = self.shape_of(name).unwrap_or_default().to_vec();
        self.tensor(name).map(|numbers| Tensor::shaped(name, shape, numbers.iter()))
    }

    /// The bytes of a tensor, with their checksum checked; numbers in them must be finite.
    fn checked(&self, name: &str, dtype: Dtype) -> Result<&[u8], Problem> {
        let info = self.tensors.get(name).ok_or_else(|| Problem::MissingTensor(name.into()))?;
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
            Some(expected) => Err(Problem::Checksum { what, expected: expected.clone(), found }),
            None => Err(Problem::NoChecksum(what)),
        }
    }
}
