//! Model files: a network as tensors and metadata.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    str::FromStr,
    sync::atomic::Ordering::Relaxed,
};

use super::{
    FileError, FileProblem,
    fill::fill_table,
    packed,
    safetensors::{self, Tensor, TensorFile},
};
use crate::{Network, NetworkSpec, SpecError, Stages, Tuples, ValueRanges, Values};

const FORMAT: &str = "afterstate-network";
/// Networks of plain tuples are written as version 1, which older programs can read too.
const VERSIONS: [&str; 4] = ["1", "2", packed::VERSION, packed::VERSION_APART];

/// The metadata keys that describe the network; all others are the caller's.
const KEYS: [&str; 12] = [
    "format",
    "version",
    "side",
    "tuples",
    "tile_values",
    "symmetric",
    "ranges",
    "stages",
    "promotion",
    "initial",
    "values",
    packed::STEP,
];

/// The description of a model file, without its weights.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelInfo {
    /// The network's specification.
    pub spec: NetworkSpec,
    /// The other metadata, such as the recipe and the number of actions.
    pub extra: BTreeMap<String, String>,
    /// Whether the file also holds E and A, the learning state of TC, for every weight.
    pub has_coherence: bool,
    /// Whether the tables are [packed].
    pub is_packed: bool,
}

/// The metadata of a model file: the network's specification and the caller's entries. A specification key overrides
/// the same key in `extra`.
pub fn metadata(spec: &NetworkSpec, extra: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let initial: Vec<_> = spec.initial.iter().map(f32::to_string).collect();
    let later = [
        spec.ranges.as_ref().map(ValueRanges::to_string),
        (spec.stages != Stages::default()).then(|| spec.stages.to_string()),
        spec.promotion.then(|| "true".to_owned()),
        (spec.initial != [0.0]).then(|| initial.join(" ")),
        (spec.values != Values::default()).then(|| spec.values.to_string()),
    ];
    let version = VERSIONS[usize::from(later.iter().any(Option::is_some))];
    let values = [
        FORMAT.to_string(),
        version.to_string(),
        spec.side.to_string(),
        spec.tuples.to_string(),
        spec.tile_values.to_string(),
        spec.symmetric.to_string(),
    ];
    let mut metadata = extra.clone();
    metadata.retain(|key, _| !KEYS.contains(&key.as_str()));
    let values = values.map(Some).into_iter().chain(later);
    metadata.extend(KEYS.iter().zip(values).filter_map(|(key, value)| Some((key.to_string(), value?))));
    metadata
}

impl ModelInfo {
    /// Reads the description of a model file from its header.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is not a model.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        ModelInfo::of(&TensorFile::open(path)?)
    }

    /// The description of an open file.
    ///
    /// # Errors
    /// If it is not a model.
    pub fn of(file: &TensorFile) -> Result<Self, FileError> {
        let info = || -> Result<ModelInfo, FileProblem> {
            let spec = spec_of(file.metadata())?;
            let is_packed = file.metadata().contains_key(packed::STEP);
            let has_coherence = if is_packed {
                check_packed(file, &spec)?;
                false
            } else {
                check_tables(file, &spec)?
            };
            let mut extra = file.metadata().clone();
            extra.retain(|key, _| !KEYS.contains(&key.as_str()));
            Ok(ModelInfo { spec, extra, has_coherence, is_packed })
        };
        info().map_err(|problem| problem.at(file.path()))
    }
}

fn spec_of(metadata: &BTreeMap<String, String>) -> Result<NetworkSpec, FileProblem> {
    let text = |key: &str| metadata.get(key).cloned().unwrap_or_default();
    let wrong = |key, right| FileProblem::Metadata { key, found: text(key), right };
    if text("format") != FORMAT {
        return Err(wrong("format", "`afterstate-network`"));
    }
    if !VERSIONS.contains(&text("version").as_str()) {
        return Err(wrong(
            "version",
            "`1`, `2` or `3`; a newer version of this program may be able to read it",
        ));
    }
    fn parse<T: FromStr>(text: String) -> Option<T> {
        text.parse().ok()
    }
    let tuples = text("tuples").split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let tile_values = parse(text("tile_values")).filter(|c| (2..=18).contains(c));
    let tile_values = tile_values.ok_or_else(|| wrong("tile_values", "a number from 2 to 18"))?;
    let ranges = metadata.get("ranges").map(|text| ValueRanges::parse(text, tile_values)).transpose();
    let stages = metadata.get("stages").map_or(Ok(Stages::default()), |text| text.parse());
    let initial = metadata.get("initial").map_or("0", String::as_str).split_whitespace();
    let numbers = initial.map(|number| number.parse().ok()).collect::<Option<_>>();
    let promotion = metadata.get("promotion").map_or("false", String::as_str).parse();
    let values = metadata.get("values").map_or(Ok(Values::default()), |text| text.parse());
    let spec = NetworkSpec {
        side: parse(text("side")).ok_or_else(|| wrong("side", "2, 3 or 4"))?,
        tuples: Tuples::new(tuples)?,
        tile_values,
        symmetric: parse(text("symmetric")).ok_or_else(|| wrong("symmetric", "`true` or `false`"))?,
        ranges: ranges.map_err(SpecError::from)?,
        stages: stages.map_err(|_| wrong("stages", "a rule like `2^4` or `16384`"))?,
        promotion: promotion.map_err(|_| wrong("promotion", "`true` or `false`"))?,
        initial: numbers.ok_or_else(|| wrong("initial", "numbers"))?,
        values: values.map_err(|_| wrong("values", "`afterstates`, `states` or `actions`"))?,
    };
    spec.check()?;
    Ok(spec)
}

/// Checks that there is a tensor V of the right length for every table, the learning state of TC or of Autostep for all
/// tables or for none, and no other tensor. Returns whether there are E and A.
fn check_tables(file: &TensorFile, spec: &NetworkSpec) -> Result<bool, FileProblem> {
    let has = |kind: &str| file.names().any(|name| name.starts_with(kind));
    let (has_coherence, has_autostep) = (has("E."), has("alpha."));
    let kinds = match (has_coherence, has_autostep) {
        (true, _) => &["V", "E", "A"][..],
        (_, true) => &["V", "alpha", "h", "v"],
        _ => &["V"],
    };
    let mut expected = BTreeMap::new();
    for table in 0..spec.tables() {
        let name = |kind| (format!("{kind}.{}", spec.table_name(table)), spec.table_len(table));
        expected.extend(kinds.iter().map(name));
    }
    if let Some(name) = file.names().find(|&name| !expected.contains_key(name)) {
        return Err(FileProblem::UnexpectedTensor(name.into()));
    }
    for (table, expected) in expected {
        match file.shape_of(&table) {
            None => return Err(FileProblem::MissingTensor(table)),
            Some(&[found]) if found == expected => {}
            Some(&[found]) => return Err(FileProblem::TableLength { table, expected, found }),
            Some(found) => {
                let found = found.to_vec();
                return Err(FileProblem::Shape { tensor: table, found, expected: vec![expected] });
            }
        }
    }
    Ok(has_coherence)
}

/// Checks that there is a tensor of packed bytes for every table, and no other tensor.
fn check_packed(file: &TensorFile, spec: &NetworkSpec) -> Result<(), FileProblem> {
    let names: BTreeSet<_> = (0..spec.tables()).map(|i| format!("packed.{}", spec.table_name(i))).collect();
    if let Some(name) = file.names().find(|&name| !names.contains(name)) {
        return Err(FileProblem::UnexpectedTensor(name.into()));
    }
    match names.into_iter().find(|name| file.len_of(name).is_none()) {
        Some(missing) => Err(FileProblem::MissingTensor(missing)),
        None if spec.promotion => {
            Err(FileProblem::Unsupported("a packed network has no weight promotion".into()))
        }
        None => Ok(()),
    }
}

impl NetworkSpec {
    /// Checks that a file holds a network of the same tuples with at most as many stages.
    ///
    /// # Errors
    /// If the file is damaged or holds another network.
    pub fn check_first_stages(&self, file: &TensorFile) -> Result<(), FileError> {
        let is_first = |found: &NetworkSpec| self.begins_with(found);
        self.expect(file, "the first stages of ", |found| {
            is_first(found) || found.folded().as_ref().is_some_and(is_first)
        })
    }

    /// Whether a network has the same tuples as this one and its first stages.
    fn begins_with(&self, found: &NetworkSpec) -> bool {
        let count = found.stages.count();
        let first = NetworkSpec {
            stages: self.stages.clone(),
            promotion: if count == 1 { self.promotion } else { found.promotion },
            initial: self.initial.clone(),
            ..found.clone()
        };
        let initial = (0..count.min(self.stages.count())).all(|i| found.initial(i) == self.initial(i));
        first == *self && found.stages.are_first_of(&self.stages) && initial
    }

    /// Rejects a file that holds another network.
    fn expect(
        &self,
        file: &TensorFile,
        part: &str,
        is_right: impl Fn(&NetworkSpec) -> bool,
    ) -> Result<(), FileError> {
        let found = ModelInfo::of(file)?.spec;
        if is_right(&found) {
            return Ok(());
        }
        let metadata = |spec| serde_json::to_string(&metadata(spec, &BTreeMap::new())).unwrap_or_default();
        let (found, right) = (metadata(&found), metadata(self));
        let message = format!("holds the network {found}, but should hold {part}{right}");
        Err(FileProblem::Unsupported(message).at(file.path()))
    }
}

/// Model files.
impl Network {
    /// Writes the network to a model file, atomically, with additional metadata.
    ///
    /// # Errors
    /// If the file cannot be written or a weight is not finite; an existing file is then unchanged.
    pub fn save(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        safetensors::write(path, &metadata(self.spec(), extra), self.tensors())
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged or not a model, or the network does not fit into memory.
    pub fn load(path: &Path) -> Result<Network, FileError> {
        Network::from_file(&TensorFile::open(path)?)
    }

    /// Loads the network from an open model file.
    ///
    /// # Errors
    /// If the file is damaged or not a model, or the network does not fit into memory.
    pub fn from_file(file: &TensorFile) -> Result<Network, FileError> {
        let spec = ModelInfo::of(file)?.spec;
        let network = Network::new(spec).map_err(|error| FileProblem::from(error).at(file.path()))?;
        network.fill(file)?;
        Ok(network)
    }

    /// Loads the weights from an open file that holds a network of the same shape.
    ///
    /// # Errors
    /// If the file is damaged or holds another network.
    pub fn fill(&self, file: &TensorFile) -> Result<(), FileError> {
        self.spec().expect(file, "", |found| found == self.spec())?;
        self.take(file)
    }

    /// Loads the weights of the first stages from an open file that holds a network of the same tuples with at most as many
    /// stages; or of those tuples and redundant ones inside them, which are folded.
    ///
    /// # Errors
    /// If the file is damaged or holds another network.
    pub fn fill_first_stages(&self, file: &TensorFile) -> Result<(), FileError> {
        let spec = ModelInfo::of(file)?.spec;
        if spec.folded().is_some_and(|folded| self.spec().begins_with(&folded)) {
            let at = |error| FileProblem::from(error).at(file.path());
            let Some(folded) = Network::from_file(file)?.folded().map_err(at)? else { return Ok(()) };
            (0..folded.spec().tables()).for_each(|table| self.set_table(table, folded.table(table)));
            return Ok(());
        }
        self.spec().check_first_stages(file)?;
        self.take(file)
    }

    /// Copies the weights from an open file that holds the right network.
    fn take(&self, file: &TensorFile) -> Result<(), FileError> {
        let info = ModelInfo::of(file)?;
        let found = info.spec;
        if info.is_packed {
            return packed::fill(self, file);
        }
        for table in 0..found.tables() {
            let numbers = file.numbers(&format!("V.{}", found.table_name(table)))?;
            fill_table(self, table, numbers.floats());
        }
        Ok(())
    }

    /// The tables as tensors `V.0`, `V.1` …, to be written to a file.
    pub fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        self.tensors_of("V", |index| f32::from_bits(self.weights()[index].load(Relaxed)))
    }

    /// One number for each weight as tensors, one for each table, by the weights' indices.
    pub fn tensors_of<'a>(
        &'a self,
        kind: &'static str,
        number: impl Fn(usize) -> f32 + Copy + 'a,
    ) -> impl Iterator<Item = Tensor<'a>> {
        let spec = self.spec();
        (0..spec.tables()).map(move |table| {
            let name = format!("{kind}.{}", spec.table_name(table));
            Tensor::new(name, spec.table_len(table), self.indices(table).map(number))
        })
    }
}
