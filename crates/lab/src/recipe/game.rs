//! `[game]`: which board, which rules; `[network]`: the shape of the value function.

use afterstate_game::Rules;
use afterstate_network::{self as network, NetworkSpec, SpecError};
use serde::Serialize;
use toml::Value;

use super::document::Document;
use super::value::FromToml;

/// The game that is learned.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Game {
    /// The number of rows, and of columns: 2, 3 or 4.
    pub side: usize,
    /// The probability that a new tile is a 4 rather than a 2.
    pub four: f64,
    /// The number of tiles on the board at the start.
    pub start_tiles: u32,
}

impl Game {
    /// The parameters of the rules.
    pub fn rules(&self) -> Rules {
        Rules { four: self.four, start_tiles: self.start_tiles }
    }

    pub(super) fn read(doc: &mut Document) -> Self {
        let rules = Rules::default();
        let side = doc.read("game.side", 4, "2, 3 or 4", |side| (2..=4).contains(side));
        let four =
            doc.read("game.four", rules.four, "a probability from 0 to 1", |p| (0.0..=1.0).contains(p));
        // A free cell at the start means a legal move: no game is over before it begins.
        let most = (side * side - 1) as u32;
        let expected = format!("a whole number from 1 to {most}");
        let start_tiles = rules.start_tiles;
        let start_tiles =
            doc.read("game.start_tiles", start_tiles, &expected, |tiles| (1..=most).contains(tiles));
        Game { side, four, start_tiles }
    }
}

/// The shape of the n-tuple network.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Network {
    /// The tuples.
    pub tuples: Tuples,
    /// The number of tile values that a cell is told apart by, c: 16, 17 or 18.
    pub tile_values: u32,
    /// Whether each tuple is looked up in all eight symmetric images of the board.
    pub symmetric: bool,
}

impl Network {
    /// The network on a board of this side.
    ///
    /// # Errors
    /// When a tuple set has no such name or a cell is not on the board; never for a recipe that was
    /// read from a text.
    pub fn spec(&self, side: usize) -> Result<NetworkSpec, SpecError> {
        let tuples = match &self.tuples {
            Tuples::Named(name) => network::Tuples::named(name)?,
            Tuples::List(tuples) => {
                network::Tuples::new(tuples.iter().map(|tuple| tuple.parse()).collect::<Result<_, _>>()?)?
            }
        };
        let tile_values = self.tile_values as usize;
        let spec = NetworkSpec { side, tuples, tile_values, symmetric: self.symmetric };
        spec.check().map(|()| spec)
    }

    pub(super) fn read(doc: &mut Document, side: usize) -> Self {
        let expected =
            r#"the name of a set, such as "4x6", or a list of tuples, such as ["012345", "012456"]"#;
        let default = match side {
            4 => Tuples::Named("4x6".to_owned()),
            3 => Tuples::Named("3x3-2x6".to_owned()),
            _ => Tuples::List(vec!["0123".to_owned()]),
        };
        let tuples = doc.read("network.tuples", default, expected, |tuples| !tuples.is_empty());
        let tile_values = doc.read("network.tile_values", 16, "16, 17 or 18", |c| (16..=18).contains(c));
        let symmetric = match &tuples {
            Tuples::Named(name) => network::Tuples::named_symmetric(name).unwrap_or(true),
            Tuples::List(_) => true,
        };
        let symmetric = doc.read("network.symmetric", symmetric, "true or false", |_| true);
        let network = Network { tuples, tile_values, symmetric };
        if let Err(error) = network.spec(side) {
            doc.impossible("network.tuples", &error.to_string());
        }
        network
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
