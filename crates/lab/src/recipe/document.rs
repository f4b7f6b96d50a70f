//! The values of a recipe, as its sections read them.
//!
//! Sections read their keys with defaults and limits. Reading never stops at a problem, so
//! that at the end every right key is known and a misspelt one can be told the nearest.

use std::collections::BTreeSet;

use toml::Value;

use super::error::{Place, RecipeError, RecipeProblem, nearest};
use super::source::{Entries, Entry, overlay, read_override};
use super::value::FromToml;

/// The values given in a file and in overrides, and what is wrong with them so far.
pub(super) struct Document {
    file: String,
    entries: Entries,
    known: BTreeSet<&'static str>,
    problems: Vec<RecipeError>,
}

impl Document {
    /// The values of a file, with each override, `KEY=VALUE`, in the place of the file's value.
    pub(super) fn new(file: &str, mut entries: Entries, overrides: &[String]) -> Result<Self, RecipeError> {
        let mut above = Entries::new();
        for text in overrides {
            read_override(&mut above, text)?;
        }
        overlay(&mut entries, above);
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
        self.blame(key, RecipeProblem::Wrong { key: key.to_owned(), expected: expected.to_owned(), found });
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
        self.blame(key, RecipeProblem::Choice { key: key.to_owned(), choices: words, found, nearest });
        default
    }

    /// The one key that is given of several that exclude each other. A higher layer wins, as an override over the
    /// file.
    pub(super) fn one_of(&mut self, keys: &[&'static str]) -> Option<&'static str> {
        self.known.extend(keys);
        let highest = keys.iter().filter_map(|key| self.layer(key)).max();
        self.entries.retain(|key, entry| !keys.contains(&key.as_str()) || Some(entry.layer) == highest);
        let mut given = keys.iter().copied().filter(|key| self.entries.contains_key(*key));
        let (first, second) = (given.next(), given.next());
        if let (Some(other), Some(key)) = (first, second) {
            self.blame(key, RecipeProblem::Both { key, other });
        }
        first
    }

    /// Refuses a key that `decider` leaves without meaning. Where the decider is of a higher layer, the
    /// key is dropped instead: an override of the decider could not be used otherwise.
    pub(super) fn refuse(&mut self, key: &'static str, decider: &str, reason: &str) {
        self.known.insert(key);
        if self.layer(decider) > self.layer(key) {
            self.entries.remove(key);
        } else if self.entries.contains_key(key) {
            self.impossible(key, reason);
        }
    }

    /// Reports that the value of a key is impossible beside others.
    pub(super) fn impossible(&mut self, key: &str, reason: &str) {
        self.blame(key, RecipeProblem::Impossible { key: key.to_owned(), reason: reason.to_owned() });
    }

    /// Refuses a key, or all keys of a section, beside another section, as [`refuse`](Self::refuse) does beside a key.
    pub(super) fn refuse_all(&mut self, name: &str, decider: &str, reason: &str) {
        let deciding = self.inside(decider).filter_map(|key| self.layer(key)).max();
        for key in self.inside(name).map(str::to_owned).collect::<Vec<_>>() {
            if deciding <= self.layer(&key) {
                self.impossible(&key, reason);
            }
            self.entries.remove(&key);
        }
    }

    /// Whether a key was given, or any key of a section.
    pub(super) fn has(&self, name: &str) -> bool {
        self.inside(name).next().is_some()
    }

    /// The keys of a section, or the one of this name.
    fn inside(&self, name: &str) -> impl Iterator<Item = &str> {
        let is_inside = move |key: &&str| {
            key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.entries.keys().map(String::as_str).filter(is_inside)
    }

    /// Reports that none of these keys was given.
    pub(super) fn missing(&mut self, section: &str, keys: &[&'static str]) {
        let problem = RecipeProblem::Missing { section: section.to_owned(), keys: keys.to_vec() };
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

    fn unknown(&self, key: &str, entry: &Entry) -> RecipeProblem {
        if self.is_section(key) {
            let expected = format!("a section, as in [{key}]");
            return RecipeProblem::Wrong { key: key.to_owned(), expected, found: entry.value.clone() };
        }
        RecipeProblem::UnknownKey { key: key.to_owned(), nearest: nearest(key, self.known.iter().copied()) }
    }

    fn is_section(&self, key: &str) -> bool {
        self.known.iter().any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
    }

    fn layer(&self, key: &str) -> Option<usize> {
        self.entries.get(key).map(|entry| entry.layer)
    }

    fn blame(&mut self, key: &str, problem: RecipeProblem) {
        let place = match self.entries.get(key) {
            Some(entry) => entry.place.clone(),
            None => Place::File(self.file.clone()),
        };
        self.problems.push(RecipeError::Invalid { place, problem: problem.into() });
    }
}

fn is_empty_table(value: &Value) -> bool {
    value.as_table().is_some_and(|table| table.is_empty())
}
