//! `[network]`: the shape of the value function.

use afterstate_network::{self as network, NetworkSpec, SpecError, Stages, ValueRanges, Values};
use serde::{Serialize, Serializer};
use toml::Value;

use super::document::Document;
use super::value::FromToml;

/// The shape of the n-tuple network.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Network {
    /// The tuples.
    pub tuples: Tuples,
    /// The number of tile values that a cell is told apart by, c.
    pub tile_values: u32,
    /// Whether each tuple is looked up in all eight symmetric images of the board.
    pub symmetric: bool,
    /// Vertical Split Encoding: the value ranges, as `1-8 9-17`; empty is the plain encoding.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ranges: String,
    /// The stages, as `1`, `2^4`, `2^4-carried` or `16384 16384+8192`.
    pub stages: String,
    /// Whether the weights of a stage start from those of the stage before.
    pub promotion: bool,
    /// The model, a file or the directory of a run, whose weights are the first ones; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// For each stage, what the first stage's weights for tiles halved are multiplied by to be its first weights, 0 for a
    /// stage that has others; empty for none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub halved: Vec<f64>,
    /// Optimistic initialization: the value of every board at the start, V_init, for all stages or for each.
    pub initial_value: Vec<f64>,
    /// What the values are of: afterstates, states, or actions, which have tables of their own.
    #[serde(serialize_with = "as_name")]
    pub values: Values,
}

fn as_name<S: Serializer>(values: &Values, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(values.name())
}

impl Network {
    /// The network on a board of this side.
    ///
    /// # Errors
    /// When a part is wrong or they do not fit together; never for a recipe that was read from a text.
    pub fn spec(&self, side: usize) -> Result<NetworkSpec, SpecError> {
        let tuples = match &self.tuples {
            Tuples::Named(name) => network::Tuples::named(name)?,
            Tuples::List(tuples) => {
                network::Tuples::new(tuples.iter().map(|tuple| tuple.parse()).collect::<Result<_, _>>()?)?
            }
        };
        let tile_values = self.tile_values as usize;
        let ranges = (!self.ranges.is_empty()).then(|| ValueRanges::parse(&self.ranges, tile_values));
        let spec = NetworkSpec {
            side,
            tuples,
            tile_values,
            symmetric: self.symmetric,
            ranges: ranges.transpose()?,
            stages: self.stages.parse()?,
            promotion: self.promotion,
            initial: self.initial_value.iter().map(|&value| value as f32).collect(),
            values: self.values,
        };
        spec.check().map(|()| spec)
    }

    /// m, the number of weights that make up a value; 1 where there is no such network.
    pub(super) fn active_features(&self, side: usize) -> usize {
        self.spec(side).map_or(1, |spec| spec.active_features())
    }

    pub(super) fn read(doc: &mut Document, side: usize) -> Self {
        let expected =
            r#"the name of a set, such as "4x6", or a list of tuples, such as ["012345", "012456"]"#;
        let default = match side {
            4 => Tuples::Named("4x6".to_owned()),
            3 => Tuples::Named("mnt6".to_owned()),
            _ => Tuples::List(vec!["0123".to_owned()]),
        };
        let tuples = doc.read("network.tuples", default, expected, |tuples| !tuples.is_empty());
        let expected = "a number from 2 to 18, the largest tile that is told apart being 2^(c-1)";
        let tile_values = doc.read("network.tile_values", 16, expected, |c| (2..=18).contains(c));
        let symmetric = match &tuples {
            Tuples::Named(name) => network::Tuples::named_symmetric(name).unwrap_or(true),
            Tuples::List(_) => true,
        };
        let mut network = Network {
            tuples,
            tile_values,
            symmetric: doc.read("network.symmetric", symmetric, "true or false", |_| true),
            ranges: String::new(),
            stages: "1".to_owned(),
            promotion: false,
            from: doc.read("network.from", String::new(), "a model file or the directory of a run", |_| true),
            halved: Vec::new(),
            initial_value: vec![0.0],
            values: doc.choice("network.values", &Values::ALL.map(|values| (values.name(), values))),
        };
        let ranges = doc.read("network.ranges", String::new(), "a text such as \"1-8 9-17\"", |_| true);
        match (ranges.is_empty(), ValueRanges::parse(&ranges, tile_values as usize)) {
            (false, Err(error)) => doc.impossible("network.ranges", &error.to_string()),
            _ => network.ranges = ranges,
        }
        // Long tuples fit with value ranges only.
        check(doc, "network.tuples", network.spec(side));
        let expected = r#"a text such as "2^4" or "16384 16384+8192", or a tile"#;
        let Rule(stages) = doc.read("network.stages", Rule("1".to_owned()), expected, |_| true);
        match stages.parse::<Stages>() {
            Err(error) => doc.impossible("network.stages", &error.to_string()),
            Ok(_) => network.stages = stages,
        }
        network.promotion = doc.read("network.promotion", false, "true or false", |_| true);
        // After a first problem these find it again, which changes nothing: the first one is told.
        check(doc, "network.promotion", network.spec(side));
        network.initial_value = initial(doc, &network, side);
        network.halved = halved(doc, &network, side);
        network
    }

    /// The stages that begin with the first one's weights for tiles halved, each with its factor.
    pub(crate) fn halved_stages(&self) -> impl Iterator<Item = (usize, f32)> + '_ {
        let factors = self.halved.iter().map(|&factor| factor as f32).enumerate();
        factors.filter(|&(_, factor)| factor != 0.0)
    }
}

/// The factors by which stages begin with the first one's weights for tiles halved.
fn halved(doc: &mut Document, network: &Network, side: usize) -> Vec<f64> {
    const KEY: &str = "network.halved";
    let expected = "a list with a number for each stage, 0 for a stage that begins with other weights";
    let Ok(spec) = network.spec(side) else { return doc.read(KEY, Vec::new(), expected, |_| true) };
    let fits = |factors: &Vec<f64>| {
        factors.len() == spec.stages.count() && factors.iter().all(|factor| (*factor as f32).is_finite())
    };
    let halved = doc.read(KEY, Vec::new(), expected, fits);
    let network = Network { halved, ..network.clone() };
    if let Some(error) = network.halved_stages().find_map(|(stage, _)| spec.halved_from(stage).err()) {
        doc.impossible(KEY, &error.to_string());
    } else if network.halved_stages().next().is_some() && network.from.is_empty() {
        doc.impossible(KEY, "the first stage comes from a trained model; give network.from");
    }
    network.halved
}

/// V_init for each stage, or for all: given as such, or as the first value of every weight.
fn initial(doc: &mut Document, network: &Network, side: usize) -> Vec<f64> {
    let keys = ["network.initial_value", "network.initial_weight"];
    let expected = "a number, or a list with one for each stage";
    let given = doc.one_of(&keys).unwrap_or(keys[0]);
    let numbers = doc.read(given, OneOrMore(vec![0.0]), expected, |numbers| !numbers.0.is_empty()).0;
    let factor = if given == keys[1] { network.active_features(side) as f64 } else { 1.0 };
    let initial_value: Vec<f64> = numbers.iter().map(|number| number * factor).collect();
    let network = Network { initial_value: initial_value.clone(), ..network.clone() };
    check(doc, given, network.spec(side));
    initial_value
}

/// Reports what is wrong with a network under a key.
fn check(doc: &mut Document, key: &'static str, spec: Result<NetworkSpec, SpecError>) {
    if let Err(error) = spec {
        doc.impossible(key, &error.to_string());
    }
}

/// One number or a list of them.
struct OneOrMore(Vec<f64>);

impl FromToml for OneOrMore {
    fn from_toml(value: &Value) -> Option<Self> {
        let single = f64::from_toml(value).map(|number| vec![number]);
        single.or_else(|| Vec::from_toml(value)).map(OneOrMore)
    }
}

/// A text, or a number in its place: `--set network.stages=16384` needs no quotes.
struct Rule(String);

impl FromToml for Rule {
    fn from_toml(value: &Value) -> Option<Self> {
        let number = || u64::from_toml(value).map(|number| number.to_string());
        String::from_toml(value).or_else(number).map(Rule)
    }
}

/// The tuples of a network.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Tuples {
    /// A set of tuples by its name, such as `4x6`.
    Named(String),
    /// Each tuple by its cells in hexadecimal, such as `012345`.
    List(Vec<String>),
}

impl Tuples {
    fn is_empty(&self) -> bool {
        match self {
            Tuples::Named(name) => name.is_empty(),
            Tuples::List(tuples) => tuples.is_empty(),
        }
    }
}

impl FromToml for Tuples {
    fn from_toml(value: &Value) -> Option<Self> {
        let named = String::from_toml(value).map(Tuples::Named);
        named.or_else(|| Vec::from_toml(value).map(Tuples::List))
    }
}
