//! `afterstate train --list`.

use std::io::Write;

use afterstate_lab::recipe::{Shipped, shipped};
use serde_json::{Value, json};

use super::failure;
use crate::error::Failure;

/// Lists the recipes with a prefix: single ones first, then those of the papers' tables.
pub(super) fn list(begin: &str, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let mut recipes: Vec<Shipped> = shipped().filter(|recipe| recipe.name.starts_with(begin)).collect();
    if recipes.is_empty() {
        let message = format!("no shipped recipe has a name that begins with `{begin}`");
        return Err(Failure::input(message, "`afterstate train --list` shows all recipes"));
    }
    recipes.sort_by_key(|recipe| !recipe.table.is_empty());
    let mut entries = Vec::new();
    let mut table = "";
    for shipped in &recipes {
        let recipe = shipped.recipe(&[]).map_err(|error| failure(error.into()))?;
        let description = &recipe.description;
        if json {
            entries.push(json!({ "name": shipped.name, "description": description, "table": shipped.table }));
            continue;
        }
        if shipped.table != table {
            table = &shipped.table;
            writeln!(out, "\n{}, {table}", shipped.name.split('/').next().unwrap_or_default())?;
        }
        let (indent, width) = if table.is_empty() { ("", 20) } else { ("  ", 42) };
        writeln!(out, "{indent}{:<width$} {description}", shipped.name)?;
    }
    if json {
        writeln!(out, "{}", Value::from(entries))?;
    }
    Ok(())
}
