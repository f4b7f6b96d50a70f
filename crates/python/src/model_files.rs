//! Model files: tables, and the files of other programs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use afterstate_lab::model::open_file;
use afterstate_network::{
    Network,
    file::{
        FileError, Format, ModelInfo, jaskowski, metadata,
        safetensors::{self, Tensor},
        tdl2048::{self, WeightFile},
    },
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::{
    error::{file_error, model_error, value_error},
    interrupt::{abandonable, interruptible, stoppable, unwind_if},
};

/// Copies of the tables, by name, of an n-tuple network that is packed in its file, or has no file.
#[pyfunction]
#[pyo3(name = "_tables")]
pub(crate) fn tables<'py>(
    py: Python<'py>,
    model: PathBuf,
) -> PyResult<Vec<(String, Bound<'py, PyArray1<f32>>)>> {
    let read = move || open_file(&model).and_then(|file| Ok(Network::from_file(&file)?));
    tables_of(py, &abandonable(py, read)?.map_err(model_error)?)
}

/// Copies of a network's tables, named as in files.
pub(crate) fn tables_of<'py>(
    py: Python<'py>,
    network: &Network,
) -> PyResult<Vec<(String, Bound<'py, PyArray1<f32>>)>> {
    let table = |i| {
        py.check_signals()?;
        let name = format!("V.{}", network.spec().table_name(i));
        Ok((name, py.detach(|| network.table(i).collect::<Vec<_>>()).into_pyarray(py)))
    };
    (0..network.spec().tables()).map(table).collect()
}

/// Converts a network of TDL2048+ or of Jaśkowski to a model file.
#[pyfunction]
pub(crate) fn import_model(py: Python<'_>, source: PathBuf, output: PathBuf) -> PyResult<()> {
    let run = |source: &Path, output: &Path, stop: &AtomicBool| -> Result<bool, FileError> {
        let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let extra = BTreeMap::from([("imported_from".to_string(), name)]);
        match Format::detect(source)? {
            Format::Model => return Ok(false),
            Format::Tdl2048 => {
                let file = WeightFile::open(source)?;
                unwind_if(stop);
                safetensors::write(output, &metadata(file.spec(), &extra), imported(&file, stop))?;
            }
            Format::Jaskowski => save(&jaskowski::import(source)?, output, &extra, stop)?,
        }
        Ok(true)
    };
    match interruptible(py, |stop| run(&source, &output, stop))?.map_err(file_error)? {
        true => Ok(()),
        false => Err(value_error(format!("{} is a model file already: load() reads it", source.display()))),
    }
}

/// The tensors of a `.w` file: `V.i`, and `E.i` and `A.i` if every tuple has them.
fn imported<'a>(file: &'a WeightFile, stop: &'a AtomicBool) -> impl Iterator<Item = Tensor<'a>> {
    let coherence = move |i| file.coherence(i).filter(|_| file.has_coherence());
    (0..file.spec().tables()).flat_map(move |i| {
        let [e, a] = coherence(i).map_or([None, None], |both| both.map(Some));
        let kinds = [("V", Some(file.values(i))), ("E", e), ("A", a)];
        kinds.into_iter().filter_map(move |(kind, numbers)| {
            let numbers = numbers?;
            let len = numbers.len() as u64;
            Some(Tensor::new(format!("{kind}.{i}"), len, stoppable(numbers.iter(), stop)))
        })
    })
}

/// Writes a network to a model file, unless the flag gets set: then an existing file is unchanged.
pub(crate) fn save(
    network: &Network,
    path: &Path,
    extra: &BTreeMap<String, String>,
    stop: &AtomicBool,
) -> Result<(), FileError> {
    safetensors::write(path, &metadata(network.spec(), extra), tensors(network, stop))
}

/// The tables of a network.
fn tensors<'a>(network: &'a Network, stop: &'a AtomicBool) -> impl Iterator<Item = Tensor<'a>> {
    let spec = network.spec();
    (0..spec.tables()).map(move |table| {
        let numbers = stoppable(network.table(table), stop);
        Tensor::new(format!("V.{}", spec.table_name(table)), spec.table_len(table), numbers)
    })
}

/// Writes a model file as a .w file of TDL2048+, with E and A if it holds them.
pub(crate) fn export_file(py: Python<'_>, model: &Path, output: &Path) -> PyResult<()> {
    interruptible(py, |stop| {
        let file = open_file(model).map_err(model_error)?;
        let info = ModelInfo::of(&file).map_err(file_error)?;
        if info.is_packed {
            let network = Network::from_file(&file).map_err(file_error)?;
            unwind_if(stop);
            return tdl2048::export(output, network.spec(), tensors(&network, stop)).map_err(file_error);
        }
        let tensor = |name: &str| {
            // Each tensor is read and checked here.
            unwind_if(stop);
            let (len, numbers) = (file.len_of(name).unwrap_or_default(), file.numbers(name)?);
            Ok(Tensor::new(name, len, stoppable(numbers.into_iter(), stop)))
        };
        let tensors: Result<Vec<_>, FileError> = file.names().map(tensor).collect();
        tdl2048::export(output, &info.spec, tensors.map_err(file_error)?).map_err(file_error)
    })?
}

/// Writes a network in memory as a .w file of TDL2048+.
pub(crate) fn export_network(py: Python<'_>, network: &Network, output: &Path) -> PyResult<()> {
    let export = |stop: &AtomicBool| tdl2048::export(output, network.spec(), tensors(network, stop));
    interruptible(py, export)?.map_err(file_error)
}
