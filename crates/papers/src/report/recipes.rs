//! Recipes side by side, with their differences highlighted.

use std::collections::BTreeMap;

use toml::Value;

use super::{
    ReportError, Series,
    html::{escape, table},
};
use afterstate_lab::recipe::RecipeError;

/// Keys that affect only how a run is recorded, not what it learns.
const ASIDE: [&str; 4] = ["evaluation.", "checkpoint.", "log.", "description"];

/// The recipes as a table: first the keys in which they differ, then the others, collapsed.
pub(super) fn section(series: &[&Series]) -> Result<String, ReportError> {
    let recipes: Vec<BTreeMap<String, String>> =
        series.iter().map(|series| keys(series)).collect::<Result<_, _>>()?;
    let mut names: Vec<&String> = recipes.iter().flat_map(BTreeMap::keys).collect();
    names.sort();
    names.dedup();
    let values = |name: &String| recipes.iter().map(|recipe| recipe.get(name)).collect::<Vec<_>>();
    let differs = |name: &String| values(name).windows(2).any(|pair| pair[0] != pair[1]);
    let (different, same): (Vec<&String>, Vec<&String>) = names.into_iter().partition(|name| differs(name));

    let mut head = vec!["key".to_owned()];
    head.extend(series.iter().map(|series| escape(&series.label)));
    let row = |name: &&String| {
        let mut cells = vec![format!("<code>{}</code>", escape(name))];
        cells.extend(values(name).into_iter().map(|value| match value {
            Some(value) => format!("<code>{}</code>", escape(value)),
            None => "<span class=\"none\">—</span>".to_owned(),
        }));
        cells
    };
    let mut text = String::new();
    if series.len() > 1 {
        let rows: Vec<_> = different.iter().map(row).collect();
        text += if rows.is_empty() { "<p>The recipes are the same.</p>\n" } else { "" };
        text += &if rows.is_empty() { String::new() } else { table("keys differ", &head, &rows) };
    }
    let shared: Vec<_> = same.iter().map(|name| row(name)[..2].to_vec()).collect();
    let title = if series.len() > 1 { "What all have in common" } else { "The whole recipe" };
    let open = if series.len() > 1 { "" } else { " open" };
    let shared = table("keys", &["key".to_owned(), "value".to_owned()], &shared);
    text += &format!("<details{open}><summary>{title}</summary>\n{shared}</details>\n");
    Ok(text)
}

/// The values of a recipe by dotted key, without the seed if the series has several.
fn keys(series: &Series) -> Result<BTreeMap<String, String>, ReportError> {
    let toml = toml::Table::try_from(&series.recipe).map_err(RecipeError::from)?;
    let mut found = BTreeMap::new();
    flatten("", &Value::Table(toml), &mut found);
    found.retain(|key, _| !ASIDE.iter().any(|begin| key.starts_with(begin)));
    if series.members.len() > 1 {
        found.insert("seed".to_owned(), format!("1 to {}", series.members.len()));
    }
    Ok(found)
}

fn flatten(key: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&key, value, found);
            }
        }
        Value::String(text) => {
            found.insert(key.to_owned(), text.clone());
        }
        value => {
            found.insert(key.to_owned(), value.to_string());
        }
    }
}
