//! Model files: tables, and the files of other programs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use afterstate_lab::model::open_file;
use afterstate_network::{
    Network,
    file::{
        FileError, Format, ModelInfo, jaskowski, metadata, safetensors,
        tdl2048::{self, WeightFile},
    },
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::{
    error::{file_error, model_error, value_error},
    interrupt::interruptible,
};

/// The tables of an n-tuple network that is packed in its file, or has no file: copies, by name.
#[pyfunction]
#[pyo3(name = "_tables")]
pub(crate) fn tables<'py>(
    py: Python<'py>,
    model: PathBuf,
) -> PyResult<Vec<(String, Bound<'py, PyArray1<f32>>)>> {
    let network = interruptible(py, |_| open_file(&model).and_then(|file| Ok(Network::from_file(&file)?)))?;
    Ok(tables_of(py, &network.map_err(model_error)?))
}

/// Copies of the tables of a network, by the names that they have in files.
pub(crate) fn tables_of<'py>(py: Python<'py>, network: &Network) -> Vec<(String, Bound<'py, PyArray1<f32>>)> {
    let table = |i| {
        let name = format!("V.{}", network.spec().table_name(i));
        (name, py.detach(|| network.table(i).collect::<Vec<_>>()).into_pyarray(py))
    };
    (0..network.spec().tables()).map(table).collect()
}

/// Makes a model file from a network of TDL2048+ or of Jaśkowski.
#[pyfunction]
pub(crate) fn import_model(py: Python<'_>, source: PathBuf, output: PathBuf) -> PyResult<()> {
    let run = |source: &Path, output: &Path| -> Result<bool, FileError> {
        let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let extra = BTreeMap::from([("imported_from".to_string(), name)]);
        match Format::detect(source)? {
            Format::Model => return Ok(false),
            Format::Tdl2048 => {
                let file = WeightFile::open(source)?;
                safetensors::write(output, &metadata(file.spec(), &extra), file.tensors())?;
            }
            Format::Jaskowski => jaskowski::import(source)?.save(output, &extra)?,
        }
        Ok(true)
    };
    match interruptible(py, |_| run(&source, &output))?.map_err(file_error)? {
        true => Ok(()),
        false => Err(value_error(format!("{} is a model file already: load() reads it", source.display()))),
    }
}

/// Writes a model file as a .w file of TDL2048+, with E and A if it holds them.
pub(crate) fn export_file(py: Python<'_>, model: &Path, output: &Path) -> PyResult<()> {
    interruptible(py, |_| {
        let file = open_file(model).map_err(model_error)?;
        let info = ModelInfo::of(&file).map_err(file_error)?;
        if info.is_packed {
            let network = Network::from_file(&file).map_err(file_error)?;
            return tdl2048::export(output, network.spec(), network.tensors()).map_err(file_error);
        }
        let tensors: Result<Vec<_>, _> = file.names().map(|name| file.to_tensor(name)).collect();
        tdl2048::export(output, &info.spec, tensors.map_err(file_error)?).map_err(file_error)
    })?
}

/// Writes a network in memory as a .w file of TDL2048+.
pub(crate) fn export_network(py: Python<'_>, network: &Network, output: &Path) -> PyResult<()> {
    interruptible(py, |_| tdl2048::export(output, network.spec(), network.tensors()))?.map_err(file_error)
}
