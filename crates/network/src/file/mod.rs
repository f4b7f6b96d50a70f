//! Networks on disk.
//!
//! Model files are [safetensors] with the network's shape in the metadata: one flat
//! tensor `V.0`, `V.1` … for each tuple, or `V.0.range1.stage2` for each tuple, range and stage, and
//! `V.0.up` … for each action with its own tables. [`tdl2048`] and [`jaskowski`] read the files of
//! other programs. Everything is checked before it is used, and everything is written
//! [atomically](atomic).

pub mod atomic;
mod bytes;
mod error;
mod fill;
pub mod jaskowski;
mod model;
pub mod packed;
pub mod safetensors;
pub mod tdl2048;

use std::{fs::File, io::Read, path::Path};

use crate::NetworkSpec;

pub use bytes::{Content, Floats};
pub use error::{FileError, FileProblem};
pub use model::{ModelInfo, metadata};

/// The file formats that hold networks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Our own model files.
    Model,
    /// `.w` files of TDL2048+.
    Tdl2048,
    /// Jaśkowski's player files.
    Jaskowski,
}

/// Opens a file that holds a network. Files of other programs are converted to the model format in memory.
///
/// # Errors
/// If it cannot be read, is damaged, or holds no network.
pub fn open(path: &Path) -> Result<safetensors::TensorFile, FileError> {
    match Format::detect(path)? {
        Format::Model => safetensors::TensorFile::open(path),
        Format::Tdl2048 => {
            let file = tdl2048::WeightFile::open(path)?;
            convert(path, "TDL2048+", file.spec(), file.tensors())
        }
        Format::Jaskowski => {
            let network = jaskowski::import(path)?;
            convert(path, "Jaśkowski", network.spec(), network.tensors())
        }
    }
}

/// Converts the tensors of another program's file to a model file in memory.
fn convert<'a>(
    path: &Path,
    program: &str,
    spec: &NetworkSpec,
    tensors: impl Iterator<Item = safetensors::Tensor<'a>>,
) -> Result<safetensors::TensorFile, FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let extra = [("imported_from".to_owned(), name), ("imported_format".to_owned(), program.to_owned())];
    let bytes = safetensors::to_bytes(&metadata(spec, &extra.into()), tensors);
    safetensors::TensorFile::from_bytes(path, bytes.map_err(|problem| problem.at(path))?)
}

impl Format {
    /// Detects the format of a file from its first bytes.
    ///
    /// # Errors
    /// If it cannot be read, or has none of these formats.
    pub fn detect(path: &Path) -> Result<Format, FileError> {
        let detect = || -> Result<Format, FileProblem> {
            let file = File::open(path).map_err(FileProblem::Read)?;
            let mut head = Vec::new();
            file.take(9).read_to_end(&mut head).map_err(FileProblem::Read)?;
            match head[..] {
                // As the length of a header, either of these would mean terabytes or gigabytes.
                [0, _, _, _, _, 4, ..] => Ok(Format::Tdl2048),
                [1 | 2, 0, 0, 0, 16, 0, 0, 0, ..] => Ok(Format::Jaskowski),
                [_, _, _, _, _, _, _, _, b'{'] => Ok(Format::Model),
                _ => Err(FileProblem::UnknownFormat),
            }
        };
        detect().map_err(|problem| problem.at(path))
    }
}
