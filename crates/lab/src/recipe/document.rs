//! A recipe's text as values by dotted key, each with the place that it came from.
//!
//! Sections read their keys from it with defaults and limits. Reading never stops at a problem, so
//! that at the end every right key is known and a misspelt one can be told the nearest.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use super::error::{Place, Problem, RecipeError, nearest};
use super::value::FromToml;

/// The values given in a file and in overrides, and what is wrong with them so far.
pub(super) struct Document {
    file: String,
    entries: BTreeMap<String, Entry>,
    known: BTreeSet<&'static str>,
    problems: Vec<RecipeError>,
}

struct Entry {
    value: Value,
    place: Place,
}

impl Document {
    /// Parses a text, then puts each override, `KEY=VALUE`, in the place of the file's value.
    pub(super) fn parse(file: &str, text: &str, overrides: &[String]) -> Result<Self, RecipeError> {
        let line = |at: usize| 1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count();
        let place = |at: usize| Place::Line(file.to_owned(), line(at));
        let table = DeTable::parse(text).map_err(|error| syntax(error, place))?;
        let mut entries = BTreeMap::new();
        for (key, value) in table.into_inner() {
            let at = key.span().start;
            insert(&mut entries, key.into_inner().into_owned(), value, at, &place)?;
        }
        for text in overrides {
            override_entry(&mut entries, text)?;
        }
        Ok(Document { file: file.to_owned(), entries, known: BTreeSet::new(), problems: Vec::new() })
    }

    /// The value of a key, or its default; `fits` says whether a value is as `expected` describes.
    pub(super) fn read<T: FromToml>(
        &mut self,
        key: &'static str,
        default: T,
        expected: &str,
        fits: impl Fn(&T) -> bool,
    ) -> T {
        self.known.insert(key);
        let Some(entry) = self.entries.get(key) else { return default };
        if let Some(value) = T::from_toml(&entry.value).filter(fits) {
            return value;
        }
        let found = entry.value.clone();
        self.blame(key, Problem::Wrong { key: key.to_owned(), expected: expected.to_owned(), found });
        default
    }

    /// What a word stands for; the first choice is the default.
    pub(super) fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&'static str, T)]) -> T {
        self.known.insert(key);
        let default = choices[0].1;
        let Some(entry) = self.entries.get(key) else { return default };
        let written = entry.value.as_str().unwrap_or_default();
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == written) {
            return *choice;
        }
        let found = entry.value.clone();
        let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
        let nearest = nearest(written, words.iter().copied());
        self.blame(key, Problem::Choice { key: key.to_owned(), choices: words, found, nearest });
        default
    }

    /// The one key that is given of several that exclude each other. An override wins over the file.
    pub(super) fn one_of(&mut self, keys: &[&'static str]) -> Option<&'static str> {
        self.known.extend(keys);
        let overridden = keys.iter().any(|key| self.is_override(key));
        if overridden {
            self.entries.retain(|key, entry| !keys.contains(&key.as_str()) || entry.place.is_override());
        }
        let mut given = keys.iter().copied().filter(|key| self.entries.contains_key(*key));
        let (first, second) = (given.next(), given.next());
        if let (Some(other), Some(key)) = (first, second) {
            self.blame(key, Problem::Both { key, other });
        }
        first
    }

    /// Refuses a key that `decider` leaves without meaning. Where the decider is an override, the
    /// file's key is dropped instead: the override could not be used otherwise.
    pub(super) fn refuse(&mut self, key: &'static str, decider: &str, reason: &str) {
        self.known.insert(key);
        if self.is_override(decider) && !self.is_override(key) {
            self.entries.remove(key);
        } else if self.entries.contains_key(key) {
            self.impossible(key, reason);
        }
    }

    /// Reports that the value of a key is impossible beside others.
    pub(super) fn impossible(&mut self, key: &'static str, reason: &str) {
        self.blame(key, Problem::Impossible { key, reason: reason.to_owned() });
    }

    /// Reports that none of these keys was given.
    pub(super) fn missing(&mut self, section: &str, keys: &[&'static str]) {
        let problem = Problem::Missing { section: section.to_owned(), keys: keys.to_vec() };
        self.blame(section, problem);
    }

    /// Whether a key was given.
    pub(super) fn is_given(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// The first problem: unknown keys before all others, since they are often the cause.
    pub(super) fn finish(self) -> Result<(), RecipeError> {
        let is_right = |key: &str, entry: &Entry| {
            self.known.contains(key) || (self.is_section(key) && is_empty_table(&entry.value))
        };
        if let Some((key, entry)) = self.entries.iter().find(|(key, entry)| !is_right(key, entry)) {
            let problem = self.unknown(key, entry);
            return Err(RecipeError::Invalid { place: entry.place.clone(), problem: problem.into() });
        }
        self.problems.into_iter().next().map_or(Ok(()), Err)
    }

    fn unknown(&self, key: &str, entry: &Entry) -> Problem {
        if self.is_section(key) {
            let expected = format!("a section, as in [{key}]");
            return Problem::Wrong { key: key.to_owned(), expected, found: entry.value.clone() };
        }
        Problem::UnknownKey { key: key.to_owned(), nearest: nearest(key, self.known.iter().copied()) }
    }

    fn is_section(&self, key: &str) -> bool {
        self.known.iter().any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
    }

    fn is_override(&self, key: &str) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.place.is_override())
    }

    fn blame(&mut self, key: &str, problem: Problem) {
        let place = match self.entries.get(key) {
            Some(entry) => entry.place.clone(),
            None => Place::File(self.file.clone()),
        };
        self.problems.push(RecipeError::Invalid { place, problem: problem.into() });
    }
}

/// Adds a value under its dotted key, or the values of a table under theirs.
fn insert(
    entries: &mut BTreeMap<String, Entry>,
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
            entries.insert(key, Entry { value, place: place(at) });
        }
    }
    Ok(())
}

fn is_empty_table(value: &Value) -> bool {
    value.as_table().is_some_and(|table| table.is_empty())
}

/// Applies an override: its value is TOML, or else a bare word.
fn override_entry(entries: &mut BTreeMap<String, Entry>, text: &str) -> Result<(), RecipeError> {
    let place = |_| Place::Override(text.to_owned());
    let (key, value) = match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => (key.trim(), value.trim()),
        _ => return Err(RecipeError::Invalid { place: place(0), problem: Problem::NotAnOverride.into() }),
    };
    let word = || Spanned::new(0..value.len(), DeValue::String(value.into()));
    let value = DeValue::parse(value).unwrap_or_else(|_| word());
    insert(entries, key.to_owned(), value, 0, &place)
}

fn syntax(error: toml::de::Error, place: impl Fn(usize) -> Place) -> RecipeError {
    let at = error.span().map_or(0, |span| span.start);
    let problem = Problem::Syntax(error.message().to_owned());
    RecipeError::Invalid { place: place(at), problem: problem.into() }
}
