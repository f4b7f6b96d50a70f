//! `afterstate model info` for convolutional networks.

use std::io::Write;

use afterstate_dcnn::{Architecture, DcnnInfo};
use afterstate_network::file::safetensors::TensorFile;
use serde_json::json;

use super::{
    failure,
    info::{Summary, printable},
};
use crate::{error::Failure, format::thousands};

/// Shows the content of a file: the layers, and each tensor with its range. Checks all checksums.
pub(super) fn show(file: &TensorFile, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let DcnnInfo { spec, extra } = DcnnInfo::of(file).map_err(failure)?;
    let summary =
        |name| Ok((name, file.tensor(name).map(|values| Summary::of(values.iter())).map_err(failure)?));
    let tensors: Vec<(&str, Summary)> = file.names().map(summary).collect::<Result<_, Failure>>()?;
    let what = match spec.architecture {
        Architecture::Dcnn { layers, channels } => {
            format!("policy network, {layers} convolutions with {channels} channels")
        }
        Architecture::Tjwei { first, second } => {
            format!("value network of tjwei, {first} and {second} filters of each shape")
        }
    };
    if as_json {
        let tensors: serde_json::Map<_, _> =
            tensors.iter().map(|(name, summary)| (name.to_string(), summary.json())).collect();
        let answer = json!({
            "network": what,
            "tile_values": spec.tile_values,
            "weights": spec.weights(),
            "tensors": tensors,
            "extra": extra,
        });
        return Ok(writeln!(out, "{answer}")?);
    }
    writeln!(
        out,
        "{what}, {} tile values, {} weights\n",
        spec.tile_values,
        thousands(spec.weights() as u64)
    )?;
    writeln!(out, "{:<24}{:>15}{:>11}{:>14}{:>14}", "tensor", "weights", "not 0", "least", "largest")?;
    for (name, summary) in &tensors {
        writeln!(out, "{}", summary.row(name))?;
    }
    for (key, value) in &extra {
        writeln!(out, "\n{}:\n  {}", printable(key), printable(value))?;
    }
    Ok(())
}
