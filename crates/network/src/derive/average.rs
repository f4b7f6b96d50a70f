//! The average of several networks of one shape: an ensemble at the cost of one network.
//!
//! A value is a sum of weights, so the network of the mean weights has the mean of the networks' values. Weight
//! promotion is resolved first, since a weight of 0 stands for a different number in each network.

use std::{collections::BTreeMap, path::Path};

use super::resolved::Resolved;
use crate::{
    NetworkSpec,
    file::{
        FileError, FileProblem, ModelInfo, metadata,
        safetensors::{self, Tensor, TensorFile},
    },
};

/// Writes the network whose weights are the means of these networks' weights, without the learning state of TC, and
/// returns its specification: that of the networks, without promotion. `extra` is additional metadata.
///
/// # Errors
/// If there are no files, a file is damaged or not a model, the networks differ in shape, or the output cannot be written.
pub fn average(
    files: &[TensorFile],
    output: &Path,
    extra: &BTreeMap<String, String>,
) -> Result<NetworkSpec, FileError> {
    let Some(first) = files.first() else {
        return Err(FileProblem::Unsupported("would be the average of no network".into()).at(output));
    };
    let spec = ModelInfo::of(first)?.spec;
    for file in &files[1..] {
        let found = ModelInfo::of(file)?.spec;
        if let Some(difference) = difference(&found, &spec) {
            let message = format!("{difference} of {}", first.path().display());
            return Err(FileProblem::Unsupported(message).at(file.path()));
        }
    }
    let mut tensors = Vec::new();
    for table in 0..spec.tables() {
        let open = |file| Resolved::open(file, &spec, table);
        let tables: Vec<Resolved> = files.iter().map(open).collect::<Result<_, _>>()?;
        let count = tables.len() as f64;
        let mean = move |index| {
            let sum: f64 = tables.iter().map(|table| f64::from(table.get(index))).sum();
            (sum / count) as f32
        };
        let len = spec.table_len(table);
        tensors.push(Tensor::new(format!("V.{}", spec.table_name(table)), len, (0..len as usize).map(mean)));
    }
    let averaged = NetworkSpec { promotion: false, ..spec.clone() };
    safetensors::write(output, &metadata(&averaged, extra), tensors)?;
    Ok(averaged)
}

/// The first metadata entry in which two shapes differ, as an error message.
fn difference(found: &NetworkSpec, expected: &NetworkSpec) -> Option<String> {
    let [found, expected] = [found, expected].map(|spec| metadata(spec, &BTreeMap::new()));
    let mut keys = expected.keys().chain(found.keys()).filter(|&key| key != "version");
    let key = keys.find(|&key| found.get(key) != expected.get(key))?;
    let word = |value: Option<&String>| value.map_or("none".to_owned(), |value| format!("`{value}`"));
    let [found, expected] = [found.get(key), expected.get(key)].map(word);
    Some(format!("has another shape: its `{key}` is {found}, not {expected} as that"))
}
