//! A recipe's text as values by dotted key, each with the place that it came from.
//!
//! A text may hold a whole table of recipes: its `[[row]]`s, each with a name and the values in which it differs from
//! the rest of the text. A recipe may begin with another one: `extends = "NAME"`. Later layers win: what is extended,
//! the text, its row, overrides.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::error::{Place, RecipeError, RecipeProblem};
use super::shipped::Shipped;

/// Values by dotted key.
pub(super) type Entries = BTreeMap<String, Entry>;

/// A value of a recipe.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) place: Place,
    /// Values of a higher layer win, also over those that they make meaningless.
    pub(super) layer: usize,
}

/// The key that names the rows of a table.
const ROW: &str = "row";
/// The key that names the recipe to begin with.
const EXTENDS: &str = "extends";
/// What a recipe does not take over from the one that it extends.
const OWN: [&str; 2] = ["name", "description"];

/// A recipe's text, or that of a table of recipes.
pub(super) struct Source {
    common: Entries,
    rows: Vec<(String, Entries)>,
}

impl Source {
    /// Reads a text.
    pub(super) fn parse(file: &str, text: &str) -> Result<Self, RecipeError> {
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let line = |at: usize| 1 + ends.partition_point(|&end| end < at);
        let place = |at: usize| Place::Line(file.to_owned(), line(at));
        let table = DeTable::parse(text).map_err(|error| syntax(error, place))?;
        let mut source = Source { common: Entries::new(), rows: Vec::new() };
        for (key, value) in table.into_inner() {
            let at = key.span().start;
            match (key.get_ref().as_ref(), value.into_inner()) {
                (ROW, DeValue::Array(rows)) => {
                    source.rows =
                        rows.into_iter().map(|row| read_row(row, &place)).collect::<Result<_, _>>()?;
                }
                (key, value) => {
                    insert(&mut source.common, key.to_owned(), Spanned::new(at..at, value), at, &place)?;
                }
            }
        }
        Ok(source)
    }

    /// The names of the rows; none if the text is one recipe.
    pub(super) fn rows(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|(name, _)| name.as_str())
    }

    /// What the text says of itself.
    pub(super) fn description(&self) -> &str {
        self.common.get("description").and_then(|entry| entry.value.as_str()).unwrap_or_default()
    }

    /// Checks that there is such a row, or that the text is one recipe.
    pub(super) fn check_row(&self, file: &str, row: Option<&str>) -> Result<(), RecipeError> {
        let is_right = match row {
            Some(row) => self.rows().any(|other| other == row),
            None => self.rows.is_empty(),
        };
        let rows = || self.rows().map(str::to_owned).collect();
        if is_right { Ok(()) } else { Err(RecipeError::Table { file: file.to_owned(), rows: rows() }) }
    }

    /// The values of a row, or of the text if it has none, on top of those that it extends.
    pub(super) fn resolve(mut self, row: Option<&str>) -> Result<Entries, RecipeError> {
        let found = row.and_then(|name| self.rows.iter().position(|(row, _)| row == name));
        let own = found.map(|i| self.rows.swap_remove(i).1).unwrap_or_default();
        let extends = own.get(EXTENDS).or(self.common.get(EXTENDS)).cloned();
        let mut entries = extends.as_ref().map(base).transpose()?.unwrap_or_default();
        overlay(&mut entries, self.common);
        overlay(&mut entries, own);
        entries.remove(EXTENDS);
        Ok(entries)
    }
}

/// The values of a recipe that is extended.
fn base(extends: &Entry) -> Result<Entries, RecipeError> {
    let invalid = |problem: RecipeProblem| RecipeError::Invalid {
        place: extends.place.clone(),
        problem: problem.into(),
    };
    let Some(name) = extends.value.as_str() else {
        let (key, expected) = (EXTENDS.to_owned(), "the name of a shipped recipe".to_owned());
        return Err(invalid(RecipeProblem::Wrong { key, expected, found: extends.value.clone() }));
    };
    let shipped = Shipped::find(name).map_err(|error| {
        invalid(RecipeProblem::Impossible { key: EXTENDS.to_owned(), reason: error.to_string() })
    })?;
    let mut entries = shipped.source()?.resolve(shipped.row.as_deref())?;
    entries.retain(|key, _| !OWN.contains(&key.as_str()));
    Ok(entries)
}

/// Puts values on top of others.
pub(super) fn overlay(entries: &mut Entries, above: Entries) {
    let layer = entries.values().map(|entry| entry.layer + 1).max().unwrap_or_default();
    entries.extend(above.into_iter().map(|(key, entry)| (key, Entry { layer, ..entry })));
}

/// The name of a row, and its values.
fn read_row(
    row: Spanned<DeValue>,
    place: &impl Fn(usize) -> Place,
) -> Result<(String, Entries), RecipeError> {
    let at = row.span().start;
    let mut entries = Entries::new();
    insert(&mut entries, ROW.to_owned(), row, at, place)?;
    let prefix = format!("{ROW}.");
    let strip = |(key, entry): (String, Entry)| (key.strip_prefix(&prefix).unwrap_or(&key).to_owned(), entry);
    let mut entries: Entries = entries.into_iter().map(strip).collect();
    let name = entries.remove("name").and_then(|entry| entry.value.as_str().map(str::to_owned));
    let missing = || {
        let problem = RecipeProblem::Missing { section: "name of a row".to_owned(), keys: vec!["name"] };
        RecipeError::Invalid { place: place(at), problem: problem.into() }
    };
    Ok((name.ok_or_else(missing)?, entries))
}

/// Adds a value under its dotted key, or the values of a table under theirs.
fn insert(
    entries: &mut Entries,
    key: String,
    value: Spanned<DeValue>,
    at: usize,
    place: &impl Fn(usize) -> Place,
) -> Result<(), RecipeError> {
    let span = value.span();
    match value.into_inner() {
        // An empty table stays, so that a misspelt section without keys is noticed too.
        DeValue::Table(table) if !table.is_empty() => {
            for (inner, value) in table {
                let at = inner.span().start;
                insert(entries, format!("{key}.{}", inner.get_ref()), value, at, place)?;
            }
        }
        value => {
            let deserializer = toml::de::ValueDeserializer::from(Spanned::new(span, value));
            let value = Value::deserialize(deserializer).map_err(|error| syntax(error, place))?;
            entries.insert(key, Entry { value, place: place(at), layer: 0 });
        }
    }
    Ok(())
}

/// An override, `KEY=VALUE`: its value is TOML, or else a bare word.
pub(super) fn read_override(entries: &mut Entries, text: &str) -> Result<(), RecipeError> {
    let place = |_| Place::Override(text.to_owned());
    let (key, value) = match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => (key.trim(), value.trim()),
        _ => {
            return Err(RecipeError::Invalid {
                place: place(0),
                problem: RecipeProblem::NotAnOverride.into(),
            });
        }
    };
    let word = || Spanned::new(0..value.len(), DeValue::String(value.into()));
    let value = DeValue::parse(value).unwrap_or_else(|_| word());
    insert(entries, key.to_owned(), value, 0, &place)
}

fn syntax(error: toml::de::Error, place: impl Fn(usize) -> Place) -> RecipeError {
    let at = error.span().map_or(0, |span| span.start);
    let problem = RecipeProblem::Syntax(error.message().to_owned());
    RecipeError::Invalid { place: place(at), problem: problem.into() }
}
