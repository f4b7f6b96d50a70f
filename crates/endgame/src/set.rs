//! Named sets of tables, in TOML.

use serde::Deserialize;

use crate::{Endgame, EndgameError, Precision};

/// The sets that are part of the program, by name.
const SHIPPED: [(&str, &str); 2] = [
    ("laptop", include_str!("../sets/laptop.toml")),
    ("workstation", include_str!("../sets/workstation.toml")),
];

/// Tables to be built together.
#[derive(Clone, Debug)]
pub struct Set {
    /// The tables, each with its name.
    pub tables: Vec<SetTable>,
}

/// A table of a set.
#[derive(Clone, Debug)]
pub struct SetTable {
    /// The name of its file, without the extension.
    pub name: String,
    /// The endgame.
    pub endgame: Endgame,
    /// How exactly chances are kept.
    pub precision: Precision,
}

/// Why a text is no set.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// No TOML, or other keys.
    #[error("{place}: {source}")]
    Toml {
        /// Where it stands.
        place: String,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
    /// A name that is no file's.
    #[error("{place}: `{name}` is no name of a table: write letters, digits, - and _")]
    Name {
        /// Where it stands.
        place: String,
        /// The name.
        name: String,
    },
    /// A table that is no endgame.
    #[error("{place}: {name}: {source}")]
    Endgame {
        /// Where it stands.
        place: String,
        /// The name of the table.
        name: String,
        /// What is wrong with it.
        source: EndgameError,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    table: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    target: u32,
    walls: Vec<String>,
    /// The cells in which the target has to stand.
    place: Option<String>,
    #[serde(default)]
    precision: Precision,
}

impl Set {
    /// The names of the sets that are part of the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// A set of this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        Some(Set::parse(name, text).expect("shipped sets are tested"))
    }

    /// A set from a text; `place` is where it stands.
    ///
    /// # Errors
    /// When it is invalid.
    pub fn parse(place: &str, text: &str) -> Result<Self, SetError> {
        let toml = |source| SetError::Toml { place: place.into(), source: Box::new(source) };
        let document: Document = toml::from_str(text).map_err(toml)?;
        let table = |entry: Entry| {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            let Entry { name, target, walls, place: cells, precision } = entry;
            if name.is_empty() || !name.chars().all(is_name) {
                return Err(SetError::Name { place: place.into(), name });
            }
            let placed = |endgame: Endgame| match &cells {
                None => Ok(endgame),
                Some(cells) => endgame.with_place(cells.parse()?),
            };
            match Endgame::parse(&walls, target).and_then(placed) {
                Ok(endgame) => Ok(SetTable { name, endgame, precision }),
                Err(source) => Err(SetError::Endgame { place: place.into(), name, source }),
            }
        };
        Ok(Set { tables: document.table.into_iter().map(table).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_sets_are_sets() {
        for name in Set::names() {
            let set = Set::named(name).expect("a shipped set");
            assert!(!set.tables.is_empty());
        }
        assert!(Set::named("mainframe").is_none());
    }

    #[test]
    fn errors_say_which_table_is_wrong() {
        let error = |text: &str| Set::parse("my.toml", text).unwrap_err().to_string();
        let six = "walls = [\"FFFF/FF../..../....\"]";
        assert!(
            error(&format!("[[table]]\nname = \"a/b\"\ntarget = 512\n{six}")).contains("`a/b` is no name")
        );
        assert!(
            error(&format!("[[table]]\nname = \"a\"\ntarget = 500\n{six}"))
                .contains("my.toml: a: 500 is no target")
        );
        assert!(error(&format!("[[table]]\nname = \"a\"\ntargets = 512\n{six}")).contains("my.toml"));
    }
}
