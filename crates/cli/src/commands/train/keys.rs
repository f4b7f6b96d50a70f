//! `afterstate train --keys`: the reference of recipe keys, as docs/recipes.md has it.

use std::io::Write;

use serde_json::{Value, json};

use crate::error::Failure;

const REFERENCE: &str = include_str!("../../../recipes.md");

/// A key of recipes.
struct Key {
    name: String,
    default: String,
    meaning: String,
    paper: String,
}

/// Lists the keys with a prefix.
pub(super) fn list(begin: &str, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let keys: Vec<_> = keys().filter(|key| key.name.starts_with(begin)).collect();
    if keys.is_empty() {
        let message = format!("no key begins with `{begin}`");
        return Err(Failure::input(message, "`afterstate train --keys` shows all keys"));
    }
    if json {
        let entry = |key: &Key| json!({ "key": key.name, "default": key.default, "meaning": key.meaning, "paper": key.paper });
        return Ok(writeln!(out, "{}", keys.iter().map(entry).collect::<Value>())?);
    }
    for key in keys {
        let default = if key.default.is_empty() { "none".to_owned() } else { key.default };
        writeln!(out, "{} [{default}]", key.name)?;
        writeln!(out, "    {}", key.meaning)?;
    }
    Ok(writeln!(out, "`--set KEY=VALUE` changes a key; docs/recipes.md has examples")?)
}

/// The rows of the table of keys.
fn keys() -> impl Iterator<Item = Key> {
    let section = REFERENCE.split("\n## ").find(|section| section.starts_with("Keys\n")).unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| {
        let row = row.trim().strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<_> = row.split('|').map(plain).collect();
        let [name, default, meaning, paper] = cells.try_into().ok()?;
        Some(Key { name, default, meaning, paper })
    })
}

/// Text without Markdown: no backquotes, and links as their text.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell.trim();
    while let Some((before, link)) = rest.split_once('[') {
        let whole = link.split_once("](").and_then(|(name, after)| Some((name, after.split_once(')')?.1)));
        let Some((name, after)) = whole.filter(|(name, _)| !name.contains('[')) else {
            text += before;
            text.push('[');
            rest = link;
            continue;
        };
        text += before;
        text += name;
        rest = after;
    }
    (text + rest).replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_a_key() {
        let rows = REFERENCE.split("## Keys").nth(1).expect("a section").split("\n## ").next().expect("text");
        let rows = rows.lines().filter(|line| line.starts_with("| `")).count();
        assert!(rows > 40 && keys().count() == rows, "{} of {rows}", keys().count());
        let lambda = keys().find(|key| key.name == "learning.lambda").expect("a key");
        assert_eq!((lambda.default.as_str(), lambda.paper.contains("jaskowski-2016")), ("0.0", true));
        assert!(keys().all(|key| !key.meaning.contains("](") && !key.meaning.is_empty()));
    }
}
