//! What can be wrong with a recipe, and where.

use std::fmt;

use toml::Value;

/// Why a recipe could not be had.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// The name is neither a file nor a shipped recipe.
    #[error("no recipe `{name}`: it is neither a file nor a shipped recipe{}", did_you_mean(nearest))]
    NotFound {
        /// The requested one.
        name: String,
        /// The most similar shipped name.
        nearest: Option<String>,
    },
    /// A table of recipes, of which a row must be named.
    #[error("{file} is a table of recipes: add the name of a row, {}", names(rows))]
    Table {
        /// The file.
        file: String,
        /// The names of its rows.
        rows: Vec<String>,
    },
    /// One recipe, where a table of recipes was requested.
    #[error("{0} is one recipe, not a table of recipes")]
    NoTable(String),
    /// The file exists but cannot be read.
    #[error("cannot read the recipe {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The text is not a recipe that can be run.
    #[error("{place}: {problem}")]
    Invalid {
        /// The line or override to blame.
        place: Place,
        /// What is wrong there.
        problem: Box<RecipeProblem>,
    },
    /// A number too large for TOML, such as a seed above 2^63 − 1 set by a program.
    #[error("the recipe cannot be written as TOML: {0}")]
    Write(#[from] toml::ser::Error),
}

/// Where a value of a recipe was given.
#[derive(Clone, PartialEq, Debug)]
pub enum Place {
    /// Somewhere in a file: what is missing has no line.
    File(String),
    /// On a line of a file.
    Line(String, usize),
    /// In an override, `KEY=VALUE`.
    Override(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::File(file) => write!(f, "{file}"),
            Place::Line(file, line) => write!(f, "{file} line {line}"),
            Place::Override(text) => write!(f, "--set {text}"),
        }
    }
}

/// What is wrong at a place of a recipe. Keys are dotted paths, such as `learning.lambda`.
#[derive(Debug, thiserror::Error)]
pub enum RecipeProblem {
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// An override without `=`, or without a key.
    #[error("an override is KEY=VALUE, such as learning.lambda=0.5")]
    NotAnOverride,
    /// No recipe has this key.
    #[error("unknown key `{key}`{}", did_you_mean(nearest))]
    UnknownKey {
        /// The key.
        key: String,
        /// The most similar right one.
        nearest: Option<String>,
    },
    /// A value of the wrong type, or out of range.
    #[error("`{key}` must be {expected}, not {found}")]
    Wrong {
        /// The key.
        key: String,
        /// What the key takes.
        expected: String,
        /// What it was given.
        found: Value,
    },
    /// A word that is not one of the choices.
    #[error("`{key}` must be one of {}, not {found}{}", quoted(choices), did_you_mean(nearest))]
    Choice {
        /// The key.
        key: String,
        /// The right words.
        choices: Vec<&'static str>,
        /// What the key was given.
        found: Value,
        /// The most similar right word.
        nearest: Option<String>,
    },
    /// None of several keys was given, and one of them is needed.
    #[error("no {section}; give one of {}", listed(keys))]
    Missing {
        /// The section of the keys.
        section: String,
        /// The keys to choose from.
        keys: Vec<&'static str>,
    },
    /// Two keys of which only one may be given.
    #[error("`{key}` cannot stand beside `{other}`; keep one of them")]
    Both {
        /// The key given last.
        key: &'static str,
        /// The key given before it.
        other: &'static str,
    },
    /// A key that means nothing, or something impossible, beside the others.
    #[error("`{key}` cannot be used here: {reason}")]
    Impossible {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

fn listed(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

fn quoted(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>().join(", ")
}

/// The candidate most similar to what was written, if any is similar at all.
pub(super) fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let written = written.to_lowercase();
    let last = |key: &str| key.rsplit(['.', '/']).next().unwrap_or_default().to_owned();
    // A right word in the wrong section counts for a little less than a misspelt one in the right place.
    let similarity = |candidate: &str| {
        let whole = strsim::normalized_damerau_levenshtein(&written, candidate);
        whole.max(0.9 * strsim::normalized_damerau_levenshtein(&last(&written), &last(candidate)))
    };
    let rated = candidates.into_iter().map(|candidate| (similarity(candidate), candidate));
    rated
        .filter(|(similarity, _)| *similarity > 0.55)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate.to_owned())
}

/// The first names of many.
fn names(rows: &[String]) -> String {
    const TOLD: usize = 50;
    let names: Vec<_> = rows.iter().take(TOLD).map(|row| format!("`/{row}`")).collect();
    let more = if rows.len() > TOLD { format!(" and {} more", rows.len() - TOLD) } else { String::new() };
    names.join(", ") + &more
}
