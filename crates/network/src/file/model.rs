//! Model files: a network as tensors and metadata.

use std::{collections::BTreeMap, path::Path, str::FromStr};

use super::{
    FileError, Problem,
    fill::fill_table,
    safetensors::{self, Tensor, TensorFile},
};
use crate::{Network, NetworkSpec, Tuples};

const FORMAT: &str = "afterstate-network";
const VERSION: &str = "1";

/// The keys of the metadata that describe the network; all others are the caller's.
const KEYS: [&str; 6] = ["format", "version", "side", "tuples", "tile_values", "symmetric"];

/// What a model file holds, without its weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelInfo {
    /// What the network is.
    pub spec: NetworkSpec,
    /// The other metadata: recipe, number of actions and whatever else was stored.
    pub extra: BTreeMap<String, String>,
    /// Whether the file also holds E and A, the learning state of TC, for every weight.
    pub has_coherence: bool,
}

/// The metadata of a model file: what the network is, and whatever else is to be stored. Keys of the
/// specification that occur in `extra` are the specification's.
pub fn metadata(spec: &NetworkSpec, extra: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let values = [
        FORMAT.to_string(),
        VERSION.to_string(),
        spec.side.to_string(),
        spec.tuples.to_string(),
        spec.tile_values.to_string(),
        spec.symmetric.to_string(),
    ];
    let mut metadata = extra.clone();
    metadata.extend(KEYS.map(String::from).into_iter().zip(values));
    metadata
}

impl ModelInfo {
    /// Reads what a model file holds from its header alone.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is no model.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        ModelInfo::of(&TensorFile::open(path)?)
    }

    /// What an open file holds.
    ///
    /// # Errors
    /// When it is no model.
    pub fn of(file: &TensorFile) -> Result<Self, FileError> {
        let info = || -> Result<ModelInfo, Problem> {
            let spec = spec_of(file.metadata())?;
            let has_coherence = check_tables(file, &spec)?;
            let mut extra = file.metadata().clone();
            extra.retain(|key, _| !KEYS.contains(&key.as_str()));
            Ok(ModelInfo { spec, extra, has_coherence })
        };
        info().map_err(|problem| problem.at(file.path()))
    }
}

fn spec_of(metadata: &BTreeMap<String, String>) -> Result<NetworkSpec, Problem> {
    let text = |key: &str| metadata.get(key).cloned().unwrap_or_default();
    let wrong = |key, right| Problem::Metadata { key, found: text(key), right };
    if text("format") != FORMAT {
        return Err(wrong("format", "`afterstate-network`"));
    }
    if text("version") != VERSION {
        return Err(wrong("version", "`1`; a newer version of this program may be able to read it"));
    }
    fn parse<T: FromStr>(text: String) -> Option<T> {
        text.parse().ok()
    }
    let tuples = text("tuples").split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let spec = NetworkSpec {
        side: parse(text("side")).ok_or_else(|| wrong("side", "2, 3 or 4"))?,
        tuples: Tuples::new(tuples)?,
        tile_values: parse(text("tile_values")).ok_or_else(|| wrong("tile_values", "a number"))?,
        symmetric: parse(text("symmetric")).ok_or_else(|| wrong("symmetric", "`true` or `false`"))?,
    };
    spec.check()?;
    Ok(spec)
}

/// Checks that there is a table V of the right length for every tuple, E and A for all or for none,
/// and no other. Returns whether there are E and A.
fn check_tables(file: &TensorFile, spec: &NetworkSpec) -> Result<bool, Problem> {
    let has_coherence = file.names().any(|name| name.starts_with("E."));
    let kinds = if has_coherence { &["V", "E", "A"][..] } else { &["V"] };
    let mut expected = BTreeMap::new();
    for (i, tuple) in spec.tuples.as_slice().iter().enumerate() {
        expected.extend(kinds.iter().map(|kind| (format!("{kind}.{i}"), spec.table_len(tuple))));
    }
    if let Some(name) = file.names().find(|&name| !expected.contains_key(name)) {
        return Err(Problem::UnexpectedTensor(name.into()));
    }
    for (table, expected) in expected {
        match file.len_of(&table) {
            None => return Err(Problem::MissingTensor(table)),
            Some(found) if found != expected => {
                return Err(Problem::TableLength { table, expected, found });
            }
            Some(_) => {}
        }
    }
    Ok(has_coherence)
}

/// Model files.
impl Network {
    /// Writes the network to a model file, atomically, with some more metadata.
    ///
    /// # Errors
    /// When the file cannot be written or a weight is not finite; what was there before is unchanged.
    pub fn save(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        safetensors::write(path, &metadata(self.spec(), extra), self.tensors())
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged or no model, or does not fit into memory.
    pub fn load(path: &Path) -> Result<Network, FileError> {
        let file = TensorFile::open(path)?;
        let spec = ModelInfo::of(&file)?.spec;
        let network = Network::new(spec).map_err(|error| Problem::from(error).at(path))?;
        network.fill(&file)?;
        Ok(network)
    }

    /// Takes the weights from an open file that holds a network of the same shape.
    ///
    /// # Errors
    /// When the file is damaged or holds another network.
    pub fn fill(&self, file: &TensorFile) -> Result<(), FileError> {
        let found = ModelInfo::of(file)?.spec;
        if found != *self.spec() {
            let message =
                format!("holds a network of {}, but should hold {}", found.tuples, self.spec().tuples);
            return Err(Problem::Unsupported(message).at(file.path()));
        }
        for i in 0..found.tuples.as_slice().len() {
            fill_table(self, i, file.tensor(&format!("V.{i}"))?);
        }
        Ok(())
    }

    /// The tables as tensors `V.0`, `V.1` …, to be written to a file.
    pub fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        let tuples = self.spec().tuples.as_slice().iter().enumerate();
        tuples.map(|(i, tuple)| Tensor::new(format!("V.{i}"), self.spec().table_len(tuple), self.table(i)))
    }
}
