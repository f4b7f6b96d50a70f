//! Networks on disk: safetensors with PyTorch's names, shapes and weight order.

use std::{collections::BTreeMap, path::Path};

use afterstate_network::file::{
    FileError, FileProblem,
    safetensors::{self, Tensor, TensorFile},
};

use crate::{
    Adam, Dcnn, Trainer,
    graph::{Graph, Parameter},
    loss::Loss,
    spec::{Architecture, DcnnSpec, SpecError},
};

const FORMAT: &str = "afterstate-dcnn";

/// The metadata keys that describe the network; all others are the caller's.
const KEYS: [&str; 8] =
    ["format", "version", "architecture", "tile_values", "layers", "channels", "first", "second"];

/// PyTorch's names of Adam's averages, which precede that of the weights.
const STATE: [&str; 2] = ["exp_avg", "exp_avg_sq"];

const STEPS: &str = "adam_steps";

/// The description of a file, without its weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DcnnInfo {
    /// The network's specification.
    pub spec: DcnnSpec,
    /// The other metadata.
    pub extra: BTreeMap<String, String>,
}

impl DcnnInfo {
    /// Whether an open file claims to hold such a network.
    pub fn is_in(file: &TensorFile) -> bool {
        file.metadata().get("format").is_some_and(|format| format == FORMAT)
    }

    /// The description of an open file.
    ///
    /// # Errors
    /// If it does not hold such a network, or its tensors do not match the network.
    pub fn of(file: &TensorFile) -> Result<Self, FileError> {
        let info = || -> Result<DcnnInfo, FileProblem> {
            let spec = spec_of(file.metadata())?;
            check_shapes(file, &Graph::new(&spec))?;
            let mut extra = file.metadata().clone();
            extra.retain(|key, _| !KEYS.contains(&key.as_str()));
            Ok(DcnnInfo { spec, extra })
        };
        info().map_err(|problem| problem.at(file.path()))
    }
}

fn metadata(spec: &DcnnSpec, extra: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let sizes = match spec.architecture {
        Architecture::Dcnn { layers, channels } => [("layers", layers), ("channels", channels)],
        Architecture::Tjwei { first, second } => [("first", first), ("second", second)],
    };
    let architecture = match spec.architecture {
        Architecture::Dcnn { .. } => "dcnn",
        Architecture::Tjwei { .. } => "tjwei",
    };
    let texts = [("format", FORMAT), ("version", "1"), ("architecture", architecture)];
    let mut metadata = extra.clone();
    metadata.retain(|key, _| !KEYS.contains(&key.as_str()));
    metadata.extend(texts.map(|(key, text)| (key.into(), text.into())));
    metadata.extend(sizes.map(|(key, size)| (key.into(), size.to_string())));
    metadata.insert("tile_values".into(), spec.tile_values.to_string());
    metadata
}

fn spec_of(metadata: &BTreeMap<String, String>) -> Result<DcnnSpec, FileProblem> {
    let text = |key: &str| metadata.get(key).map(String::as_str).unwrap_or_default();
    let wrong = |key, right| FileProblem::Metadata { key, found: text(key).into(), right };
    let size = |key: &'static str| text(key).parse().map_err(|_| wrong(key, "a number"));
    if text("format") != FORMAT {
        return Err(wrong("format", "`afterstate-dcnn`"));
    }
    if text("version") != "1" {
        return Err(wrong("version", "`1`; a newer version of this program may be able to read it"));
    }
    let architecture = match text("architecture") {
        "dcnn" => Architecture::Dcnn { layers: size("layers")?, channels: size("channels")? },
        "tjwei" => Architecture::Tjwei { first: size("first")?, second: size("second")? },
        _ => return Err(wrong("architecture", "`dcnn` or `tjwei`")),
    };
    let spec = DcnnSpec { architecture, tile_values: size("tile_values")? };
    spec.checked().map_err(unsupported)
}

/// Checks that each parameter has its shape, Adam's averages exist for all or for none, and there is no other tensor.
fn check_shapes(file: &TensorFile, graph: &Graph) -> Result<(), FileProblem> {
    let with_state = has_state(file);
    let mut expected = BTreeMap::new();
    for Parameter { name, shape, .. } in &graph.parameters {
        expected.insert(name.clone(), shape);
        if with_state {
            expected.extend(STATE.map(|kind| (format!("{kind}.{name}"), shape)));
        }
    }
    if let Some(name) = file.names().find(|&name| !expected.contains_key(name)) {
        return Err(FileProblem::Unsupported(format!("has a tensor `{name}`, which the network has not")));
    }
    for (tensor, expected) in expected {
        match file.shape_of(&tensor) {
            None => return Err(FileProblem::MissingTensor(tensor)),
            Some(found) if found != &expected[..] => {
                let (found, expected) = (found.to_vec(), expected.clone());
                return Err(FileProblem::Shape { tensor, found, expected });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn has_state(file: &TensorFile) -> bool {
    file.names().any(|name| name.starts_with(STATE[0]))
}

/// One number for each weight as tensors, in PyTorch's order.
fn tensors<'a>(
    graph: &'a Graph,
    kind: Option<&'static str>,
    numbers: &'a [f32],
) -> impl Iterator<Item = Tensor<'a>> {
    graph.parameters.iter().map(move |parameter| {
        let name = tensor_name(parameter, kind);
        Tensor::shaped(name, parameter.shape.clone(), parameter.places().map(|place| numbers[place]))
    })
}

/// Reads one number for each weight from tensors.
fn read(graph: &Graph, kind: Option<&'static str>, file: &TensorFile) -> Result<Vec<f32>, FileError> {
    let mut numbers = vec![0.0; graph.weights()];
    for parameter in &graph.parameters {
        let tensor = file.tensor(&tensor_name(parameter, kind))?;
        for (place, number) in parameter.places().zip(tensor.iter()) {
            numbers[place] = number;
        }
    }
    Ok(numbers)
}

fn tensor_name(parameter: &Parameter, kind: Option<&'static str>) -> String {
    kind.map_or_else(|| parameter.name.clone(), |kind| format!("{kind}.{}", parameter.name))
}

/// Model files.
impl Dcnn {
    /// Writes the network, atomically, with additional metadata. The tensors are those of a PyTorch module with
    /// `conv1` … and `fc`, which can load them directly.
    ///
    /// # Errors
    /// If the file cannot be written or a weight is not finite; an existing file is then unchanged.
    pub fn save(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        safetensors::write(path, &metadata(self.spec(), extra), tensors(self.graph(), None, &self.weights))
    }

    /// Reads the network of a model file or a checkpoint.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or holds something else.
    pub fn load(path: &Path) -> Result<Dcnn, FileError> {
        Dcnn::from_file(&TensorFile::open(path)?)
    }

    /// Reads the network of an open file.
    ///
    /// # Errors
    /// The same as [`load`](Self::load).
    pub fn from_file(file: &TensorFile) -> Result<Dcnn, FileError> {
        let spec = DcnnInfo::of(file)?.spec;
        let weights = read(&Graph::new(&spec), None, file)?;
        Dcnn::from_weights(spec, weights).map_err(|error| unsupported(error).at(file.path()))
    }
}

fn unsupported(error: SpecError) -> FileProblem {
    FileProblem::Unsupported(format!("has {error}"))
}

/// Checkpoints.
impl<L: Loss> Trainer<L> {
    /// Writes the network and the optimizer's state, atomically, with additional metadata.
    ///
    /// # Errors
    /// If the file cannot be written or a number is not finite; an existing file is then unchanged.
    pub fn save(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        let (graph, adam) = (self.net.graph(), &self.adam);
        let mut extra = extra.clone();
        extra.insert(STEPS.into(), adam.steps.to_string());
        let all = tensors(graph, None, &self.net.weights)
            .chain(tensors(graph, Some(STATE[0]), &adam.exp_avg))
            .chain(tensors(graph, Some(STATE[1]), &adam.exp_avg_sq));
        safetensors::write(path, &metadata(self.net.spec(), &extra), all)
    }

    /// Resumes exactly from a checkpoint; also returns the other metadata.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is not a checkpoint of such a training.
    pub fn load(path: &Path, threads: usize) -> Result<(Self, BTreeMap<String, String>), FileError> {
        let file = TensorFile::open(path)?;
        let DcnnInfo { mut extra, .. } = DcnnInfo::of(&file)?;
        let net = Dcnn::from_file(&file)?;
        let steps = extra.remove(STEPS).unwrap_or_default();
        let wrong = || FileProblem::Metadata { key: STEPS, found: steps.clone(), right: "a number of steps" };
        let steps = steps.parse().map_err(|_| wrong().at(path))?;
        let [exp_avg, exp_avg_sq] = STATE.map(|kind| read(net.graph(), Some(kind), &file));
        let adam = Adam { steps, exp_avg: exp_avg?, exp_avg_sq: exp_avg_sq? };
        let trainer = Trainer::resume(net, adam, threads);
        Ok((trainer.map_err(|error| unsupported(error).at(path))?, extra))
    }
}
