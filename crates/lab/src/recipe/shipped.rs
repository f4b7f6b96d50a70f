//! The recipes that come with the program.

use std::path::Path;

use super::error::nearest;
use super::source::Source;
use super::{Recipe, RecipeError};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Files of this name are pieces that others extend, not recipes.
const PIECE: &str = "common";

/// A recipe that comes with the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shipped {
    /// Its name: `recipes/reference/4x6-td.toml` is `reference/4x6-td`, and the row `a` of `recipes/paper/table-1.toml`
    /// is `paper/table-1/a`.
    pub name: String,
    /// What the table is about that it is a row of; empty if it is not.
    pub table: String,
    file: &'static str,
    text: &'static str,
    pub(super) row: Option<String>,
}

impl Shipped {
    /// The recipe itself.
    ///
    /// # Errors
    /// When an override is wrong.
    pub fn recipe(&self, overrides: &[String]) -> Result<Recipe, RecipeError> {
        Recipe::resolve(&self.name, &self.path(), self.source()?, self.row.as_deref(), overrides)
    }

    /// The text that it stands in.
    pub(super) fn source(&self) -> Result<Source, RecipeError> {
        Source::parse(&self.path(), self.text)
    }

    fn path(&self) -> String {
        format!("recipes/{}.toml", self.file)
    }

    /// The recipe, table or piece of this name.
    pub(crate) fn find(name: &str) -> Result<Shipped, RecipeError> {
        let whole = EMBEDDED.iter().find(|(file, _)| *file == name).map(|&(file, text)| Shipped {
            name: name.to_owned(),
            table: String::new(),
            file,
            text,
            row: None,
        });
        let row = || {
            let file = name.rsplit_once('/')?.0;
            let embedded = EMBEDDED.iter().find(|(other, _)| *other == file)?;
            recipes_of(embedded).into_iter().find(|shipped| shipped.name == name)
        };
        whole.or_else(row).ok_or_else(|| {
            let all: Vec<_> = shipped().collect();
            let nearest = nearest(name, all.iter().map(|shipped| shipped.name.as_str()));
            RecipeError::NotFound { name: name.to_owned(), nearest }
        })
    }
}

/// All recipes that come with the program: sorted by file, rows of a table in its order.
pub fn shipped() -> impl Iterator<Item = Shipped> {
    EMBEDDED.iter().filter(|(file, _)| file.rsplit('/').next() != Some(PIECE)).flat_map(recipes_of)
}

/// The names of a table's rows, by which [`Recipe::load`] finds them: of a table in a file, or a shipped one.
///
/// # Errors
/// When there is no such table, or it is one recipe.
pub fn rows(table: &str) -> Result<Vec<String>, RecipeError> {
    let source = if Path::new(table).is_file() {
        let read = std::fs::read_to_string(table);
        let text = read.map_err(|source| RecipeError::Read { path: table.to_owned(), source })?;
        Source::parse(table, &text)?
    } else {
        Shipped::find(table)?.source()?
    };
    let rows: Vec<_> = source.rows().map(|row| format!("{table}/{row}")).collect();
    if rows.is_empty() { Err(RecipeError::NoTable(table.to_owned())) } else { Ok(rows) }
}

/// The recipe in a file, or its rows. What cannot be read is one recipe, which says so when it is asked for.
fn recipes_of(&(file, text): &(&'static str, &'static str)) -> Vec<Shipped> {
    let whole = Shipped { name: file.to_owned(), table: String::new(), file, text, row: None };
    let Ok(source) = whole.source() else { return vec![whole] };
    let row = |row: &str| Shipped {
        name: format!("{file}/{row}"),
        table: source.description().to_owned(),
        row: Some(row.to_owned()),
        ..whole
    };
    let rows: Vec<_> = source.rows().map(row).collect();
    if rows.is_empty() { vec![whole] } else { rows }
}
