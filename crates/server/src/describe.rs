//! What is known of a model without loading it.

use std::path::Path;

use afterstate_dcnn::{Architecture, DcnnInfo};
use afterstate_lab::{
    model::{BUILT_IN, open_file},
    recipe::Recipe,
};
use afterstate_network::{
    NetworkSpec, Values,
    file::{ModelInfo, safetensors::TensorFile},
};
use serde::Serialize;

use crate::models::{Kind, Named};

/// A line of the list of models.
#[derive(Serialize)]
pub(crate) struct Description {
    pub(crate) name: String,
    kind: Kind,
    #[serde(flatten)]
    contents: Contents,
    /// The size of its file.
    bytes: u64,
    default: bool,
}

/// What kind of network it is, and hence which searches it can do.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Class {
    /// An n-tuple network.
    NTuple,
    /// A convolutional network that says how probable moves are.
    Policy,
    /// A convolutional network that says what afterstates are worth.
    Value,
}

/// What the header of a file says.
#[derive(Serialize)]
struct Contents {
    network: Class,
    side: usize,
    /// None for convolutional networks, as for the stages.
    tuples: usize,
    weights: u64,
    stages: usize,
    values: String,
    description: String,
}

/// Describes a model; nothing for files that are no models.
pub(crate) fn describe(named: &Named, default: &Named) -> Option<Description> {
    let file = open_file(named.path.as_deref().unwrap_or(Path::new(BUILT_IN))).ok()?;
    let contents = if DcnnInfo::is_in(&file) { net(&file) } else { network(&file) }?;
    let is_default = default.name == named.name;
    let (name, bytes) = (named.name.clone(), file.size());
    Some(Description { name, kind: named.kind, contents, bytes, default: is_default })
}

fn network(file: &TensorFile) -> Option<Contents> {
    let info = ModelInfo::of(file).ok()?;
    let recipe = info.extra.get("recipe").and_then(|text| Recipe::parse("model", "", text, &[]).ok());
    let NetworkSpec { side, tuples, stages, values, .. } = &info.spec;
    Some(Contents {
        network: Class::NTuple,
        side: *side,
        tuples: tuples.as_slice().len(),
        weights: info.spec.weights(),
        stages: stages.count(),
        values: values.to_string(),
        description: recipe.map(|recipe| recipe.description).unwrap_or_default(),
    })
}

fn net(file: &TensorFile) -> Option<Contents> {
    let spec = DcnnInfo::of(file).ok()?.spec;
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
    Some(Contents { network, side: 4, tuples: 0, weights, stages: 0, values, description })
}
