//! The recipes that come with the program.

use super::error::nearest;
use super::{Recipe, RecipeError};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// A recipe that comes with the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shipped {
    /// Its name: `recipes/reference/4x6-td.toml` is `reference/4x6-td`.
    pub name: &'static str,
    /// The recipe as it was written.
    pub text: &'static str,
}

impl Shipped {
    /// The recipe itself.
    pub fn recipe(&self, overrides: &[String]) -> Result<Recipe, RecipeError> {
        let file = format!("recipes/{}.toml", self.name);
        Recipe::parse(self.name, &file, self.text, overrides)
    }

    pub(super) fn find(name: &str) -> Result<Shipped, RecipeError> {
        let found = shipped().find(|shipped| shipped.name == name);
        found.ok_or_else(|| {
            let nearest = nearest(name, shipped().map(|shipped| shipped.name));
            RecipeError::NotFound { name: name.to_owned(), nearest }
        })
    }
}

/// All recipes that come with the program, sorted by name.
pub fn shipped() -> impl Iterator<Item = Shipped> {
    EMBEDDED.iter().map(|&(name, text)| Shipped { name, text })
}
