//! Descriptions of models, without loading them.

use afterstate_dcnn::{Architecture, DcnnInfo};
use afterstate_network::{
    NetworkSpec, Values,
    file::{FileError, ModelInfo, safetensors::TensorFile},
};
use serde::Serialize;

use crate::recipe::Recipe;

/// The kind of a network, which determines its searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// An n-tuple network.
    NTuple,
    /// A convolutional network that gives probabilities of moves.
    Policy,
    /// A convolutional network that gives values of afterstates.
    Value,
}

/// What a file's header tells.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Description {
    /// The kind of network.
    pub network: Class,
    /// The side of its board.
    pub side: usize,
    /// The number of tuples; 0 for convolutional networks, as for the stages.
    pub tuples: usize,
    /// The number of weights.
    pub weights: u64,
    /// The number of stages.
    pub stages: usize,
    /// What its values describe.
    pub values: String,
    /// The network in words.
    pub description: String,
}

/// Describes the model in a file.
///
/// # Errors
/// If there is none in it.
pub fn describe(file: &TensorFile) -> Result<Description, FileError> {
    if DcnnInfo::is_in(file) { describe_dcnn(file) } else { describe_network(file) }
}

fn describe_network(file: &TensorFile) -> Result<Description, FileError> {
    let info = ModelInfo::of(file)?;
    let recipe = info.extra.get("recipe").and_then(|text| Recipe::parse("model", "", text, &[]).ok());
    let NetworkSpec { side, tuples, stages, values, .. } = &info.spec;
    Ok(Description {
        network: Class::NTuple,
        side: *side,
        tuples: tuples.as_slice().len(),
        weights: info.spec.weights(),
        stages: stages.count(),
        values: values.to_string(),
        description: recipe.map(|recipe| recipe.description).unwrap_or_default(),
    })
}

fn describe_dcnn(file: &TensorFile) -> Result<Description, FileError> {
    let spec = DcnnInfo::of(file)?.spec;
    let (network, values, description) = match spec.architecture {
        Architecture::Dcnn { layers, channels } => {
            let description = format!("a policy of {layers} convolutions with {channels} channels");
            (Class::Policy, "probabilities".into(), description)
        }
        Architecture::Tjwei { first, second } => {
            let description = format!("values by convolutions with {first} and {second} filters");
            (Class::Value, Values::Afterstates.to_string(), description)
        }
    };
    let weights = spec.weights() as u64;
    Ok(Description { network, side: 4, tuples: 0, weights, stages: 0, values, description })
}
