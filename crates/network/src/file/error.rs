//! What can be wrong with a file.

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
    /// The system does not let us read it.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The system does not let us write it.
    #[error("cannot be written: {0}")]
    Write(#[source] io::Error),
    /// No room for it.
    #[error("cannot be written: the disk is full ({0}); what was there before is unchanged")]
    DiskFull(#[source] io::Error),
    /// A device, a directory or the like, which a rename would destroy.
    #[error("cannot be written: it exists and is not a regular file")]
    NotRegular,
    /// None of the formats that we know.
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
        /// Where it begins.
        offset: u64,
        /// The length of the file.
        len: u64,
    },
    /// A number in a binary file that makes no sense.
    #[error("at byte {offset}, {what} is {found}, but should be {right}")]
    Field {
        /// What the number says.
        what: &'static str,
        /// Where it stands.
        offset: u64,
        /// What it is.
        found: i64,
        /// What it should be.
        right: &'static str,
    },
    /// There is more in the file than belongs there.
    #[error("has {0} bytes after its end")]
    Trailing(u64),
    /// The header is not of the right form.
    #[error("has a damaged header: {0}")]
    Header(#[from] serde_json::Error),
    /// The entry of a tensor is not of the right form.
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
    /// Numbers of another type.
    #[error("tensor `{tensor}` has type `{found}`, but should have `{right}`")]
    Dtype {
        /// The name of the tensor.
        tensor: String,
        /// Its type.
        found: String,
        /// The type that it should have.
        right: &'static str,
    },
    /// A tensor of another shape than it should have.
    #[error("tensor `{tensor}` has shape {found:?}, but should have {expected:?}")]
    Shape {
        /// The name of the tensor.
        tensor: String,
        /// Its shape.
        found: Vec<u64>,
        /// The right shape.
        expected: Vec<u64>,
    },
    /// A tensor that does not stand where the one before it ends, or is not as long as its shape says.
    #[error("tensor `{tensor}` is at bytes {found:?} of the data, but should be at {expected:?}")]
    Offsets {
        /// The name of the tensor.
        tensor: String,
        /// Where it is said to be.
        found: [u64; 2],
        /// Where it should be.
        expected: [u64; 2],
    },
    /// More or fewer bytes of data than the header says.
    #[error("holds {found} bytes of data, but its header says {expected}")]
    DataLength {
        /// The bytes that the header describes.
        expected: u64,
        /// The bytes that there are.
        found: u64,
    },
    /// A part without a checksum.
    #[error("has no checksum for {0}")]
    NoChecksum(String),
    /// A part that has changed.
    #[error("is damaged: the checksum of {what} is {found}, but should be {expected}")]
    Checksum {
        /// The part.
        what: String,
        /// The checksum that the file names.
        expected: String,
        /// The checksum of what the file holds.
        found: String,
    },
    /// A packed table that does not end where it should.
    #[error("is damaged: the packed table `{0}` does not end where its data ends")]
    Packed(String),
    /// A weight that is no number.
    #[error("`{table}` holds {value} at {index}, where all numbers should be finite")]
    NotFinite {
        /// The name of the tensor or tuple.
        table: String,
        /// The index of the number.
        index: u64,
        /// The number.
        value: f32,
    },
    /// A tensor that should be there.
    #[error("has no tensor `{0}`")]
    MissingTensor(String),
    /// A tensor that should not be there.
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
        /// The number it should have.
        expected: u64,
        /// The number it has.
        found: u64,
    },
    /// A metadata entry that is missing or wrong.
    #[error("its metadata has `{key}` = `{found}`, but should have {right}")]
    Metadata {
        /// The key.
        key: &'static str,
        /// What stands there.
        found: String,
        /// What should stand there.
        right: &'static str,
    },
    /// Tuples that make no sense.
    #[error(transparent)]
    Tuple(#[from] TupleError),
    /// A specification that makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A network that cannot be made.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Something that the format can say but we cannot use, or the other way round.
    #[error("{0}")]
    Unsupported(String),
}

impl From<io::Error> for FileProblem {
    /// What went wrong while writing; reading says so explicitly.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FileProblem::DiskFull(error),
            _ => FileProblem::Write(error),
        }
    }
}

impl FileProblem {
    /// The problem of this file.
    pub fn at(self, path: &Path) -> FileError {
        FileError { path: path.into(), problem: self }
    }
}
