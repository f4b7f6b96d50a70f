//! The errors of reading and writing files.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::{NetworkError, SpecError, TupleError};

/// A file that could not be read, used or written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: FileProblem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The system does not allow reading it.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The system does not allow writing it.
    #[error("cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The disk is full.
    #[error("cannot be written: the disk is full ({0}); any existing file is unchanged")]
    DiskFull(#[source] io::Error),
    /// A device, a directory or the like, which a rename would destroy.
    #[error("cannot be written: it exists and is not a regular file")]
    NotRegular,
    /// None of the known formats.
    #[error(
        "is not a network: neither a model file, nor a .w file of TDL2048+, nor a player file of Jaśkowski"
    )]
    UnknownFormat,
    /// It ends too early.
    #[error("is cut off: {what} needs {needed} bytes from byte {offset} on, but the file has {len} bytes")]
    CutOff {
        /// What was to be read.
        what: &'static str,
        /// The number of bytes that it takes.
        needed: u64,
        /// The offset at which it begins.
        offset: u64,
        /// The length of the file.
        len: u64,
    },
    /// An invalid number in a binary file.
    #[error("at byte {offset}, {what} is {found}, but should be {right}")]
    Field {
        /// The meaning of the number.
        what: &'static str,
        /// Its offset.
        offset: u64,
        /// Its value.
        found: i64,
        /// The expected value.
        right: &'static str,
    },
    /// There are bytes after the end of the content.
    #[error("has {0} bytes after its end")]
    Trailing(u64),
    /// The header is malformed.
    #[error("has a damaged header: {0}")]
    Header(#[from] serde_json::Error),
    /// The header's entry for a tensor is malformed.
    #[error("has a damaged header: tensor `{tensor}`: {source}")]
    TensorInfo {
        /// The name of the tensor.
        tensor: String,
        /// What is wrong with its entry.
        source: serde_json::Error,
    },
    /// A header without a `__metadata__` entry.
    #[error("has no `__metadata__` in its header, so it is not one of our files")]
    NoMetadata,
    /// A tensor with numbers of the wrong type.
    #[error("tensor `{tensor}` has type `{found}`, but should have `{right}`")]
    Dtype {
        /// The name of the tensor.
        tensor: String,
        /// Its type.
        found: String,
        /// The type that it should have.
        right: &'static str,
    },
    /// A tensor of the wrong shape.
    #[error("tensor `{tensor}` has shape {found:?}, but should have {expected:?}")]
    Shape {
        /// The name of the tensor.
        tensor: String,
        /// Its shape.
        found: Vec<u64>,
        /// The expected shape.
        expected: Vec<u64>,
    },
    /// A tensor that does not begin where the previous one ends, or whose length does not match its shape.
    #[error("tensor `{tensor}` is at bytes {found:?} of the data, but should be at {expected:?}")]
    Offsets {
        /// The name of the tensor.
        tensor: String,
        /// Its position according to the header.
        found: [u64; 2],
        /// The expected position.
        expected: [u64; 2],
    },
    /// More or fewer bytes of data than the header says.
    #[error("holds {found} bytes of data, but its header says {expected}")]
    DataLength {
        /// The bytes that the header describes.
        expected: u64,
        /// The bytes in the file.
        found: u64,
    },
    /// A part without a checksum.
    #[error("has no checksum for {0}")]
    NoChecksum(String),
    /// A part whose checksum does not match.
    #[error("is damaged: the checksum of {what} is {found}, but should be {expected}")]
    Checksum {
        /// The part.
        what: String,
        /// The checksum in the file.
        expected: String,
        /// The checksum of the data in the file.
        found: String,
    },
    /// A packed table that does not end where its data ends.
    #[error("is damaged: the packed table `{0}` does not end where its data ends")]
    Packed(String),
    /// A weight that is not finite.
    #[error("`{table}` holds {value} at {index}, where all numbers should be finite")]
    NotFinite {
        /// The name of the tensor or tuple.
        table: String,
        /// The index of the number.
        index: u64,
        /// The number.
        value: f32,
    },
    /// A missing tensor.
    #[error("has no tensor `{0}`")]
    MissingTensor(String),
    /// A tensor that belongs to no tuple.
    #[error("has a tensor `{0}`, which belongs to no tuple")]
    UnexpectedTensor(String),
    /// A name that occurs twice.
    #[error("has two tensors `{0}`")]
    Twice(String),
    /// A table that is too long or too short.
    #[error("`{table}` has {found} weights, but should have {expected}")]
    TableLength {
        /// The name of the tensor or tuple.
        table: String,
        /// The expected number.
        expected: u64,
        /// The actual number.
        found: u64,
    },
    /// A metadata entry that is missing or wrong.
    #[error("its metadata has `{key}` = `{found}`, but should have {right}")]
    Metadata {
        /// The key.
        key: &'static str,
        /// The value found.
        found: String,
        /// The expected value.
        right: &'static str,
    },
    /// Invalid tuples.
    #[error(transparent)]
    Tuple(#[from] TupleError),
    /// An invalid specification.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A network that cannot be created.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Something that the format supports but we do not, or the other way round.
    #[error("{0}")]
    Unsupported(String),
}

impl From<io::Error> for FileProblem {
    /// Treats I/O errors as failed writes; failed reads are converted explicitly.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FileProblem::DiskFull(error),
            _ => FileProblem::Write(error),
        }
    }
}

impl FileProblem {
    /// This problem, at a path.
    pub fn at(self, path: &Path) -> FileError {
        FileError { path: path.into(), problem: self }
    }
}
