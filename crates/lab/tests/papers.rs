//! The papers' figures: every one stands in the text of the table that it is said to be from.

use std::{collections::HashSet, fs, path::Path};

use afterstate_lab::{
    recipe::Recipe,
    reproduce::{Options, Plan, Table, table_names},
};

const TEXTS: [(&str, &str); 5] = [
    ("jaskowski-2016", "000_"),
    ("kondo-2019", "001_"),
    ("terauchi-2025", "002_"),
    ("guei-2021", "003_"),
    ("ramesh-2018", "004_"),
];

fn tables() -> impl Iterator<Item = Table> {
    table_names().map(|name| Table::find(name).unwrap())
}

/// The text of a paper; none where the texts are not at hand.
fn text_of(paper: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/papers");
    let begin = TEXTS.iter().find(|(name, _)| *name == paper)?.1;
    let mut files = fs::read_dir(folder).ok()?.flatten();
    let file = files.find(|file| file.file_name().to_string_lossy().starts_with(begin))?;
    Some(fs::read_to_string(file.path()).unwrap())
}

/// A text without markup, in which `280\ 123 \pm 4920` and `280,123 ± 4,920` are the same; what is between two numbers
/// is kept apart.
fn plain(text: &str) -> String {
    let mut text = text.replace("\\pm", "±").replace("<math>", "").replace("</math>", "");
    for markup in ["<b>", "</b>", "\\%", "\\;", "\\ ", "\\,", "$", "{", "}", "%", "(", ")"] {
        text = text.replace(markup, " ");
    }
    while text.contains("  ") {
        text = text.replace("  ", " ");
    }
    let text: Vec<char> = text.replace(" ±", "±").replace("± ", "±").chars().collect();
    let digits = |range: std::ops::Range<usize>| {
        text.get(range).is_some_and(|chars| chars.iter().all(char::is_ascii_digit))
    };
    let groups = |at: usize| {
        let three = digits(at + 1..at + 4) && !digits(at + 4..at + 5);
        at > 0 && digits(at - 1..at) && three
    };
    let keep = |&(at, &c): &(usize, &char)| !((c == ' ' || c == ',') && groups(at));
    text.iter().enumerate().filter(keep).map(|(_, &c)| c).collect()
}

/// Whether a number, with what stands behind ±, is in a plain text, not as a part of another.
fn holds(text: &str, figure: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '.' || c == '±');
    text.match_indices(figure).any(|(at, found)| {
        let after = &text[at + found.len()..];
        !inside(text[..at].chars().next_back()) && !inside(after.chars().next())
    })
}

#[test]
fn plain_texts_are_alike_however_they_were_set() {
    for text in ["280,123 ± 4,920", "$280\\ 123 \\pm 4920$", "<b>280 123 <math>\\pm</math> 4920</b>"] {
        assert!(holds(&plain(text), &plain("280,123 ± 4,920")), "{}", plain(text));
    }
    assert_eq!(plain("$4390.9{\\pm}111.6$\t$19.0 \\pm 0.2\\%$").trim(), "4390.9±111.6 \t 19.0±0.2");
    assert!(!holds("12345", "234") && !holds("4610.2±81.1", "4610.2") && holds("a 932\n", "932"));
}

#[test]
fn every_figure_stands_in_its_table() {
    for table in tables() {
        let paper = table.name.split('/').next().unwrap();
        let Some(text) = text_of(paper) else {
            eprintln!("skipped: the texts of the papers are not in ../shared/papers");
            return;
        };
        let figures: Vec<_> = table.rows.iter().flat_map(|row| figures(&table, row)).collect();
        let Some([begin, end]) = &table.excerpt else {
            assert!(figures.is_empty(), "{}: figures without an excerpt", table.name);
            continue;
        };
        let start = text.find(begin).unwrap_or_else(|| panic!("{}: no `{begin}`", table.name));
        let length = text[start..].find(end).unwrap_or_else(|| panic!("{}: no `{end}`", table.name));
        let excerpt = plain(&text[start..start + length]);
        for figure in figures {
            assert!(holds(&excerpt, &plain(&figure)), "{}: `{figure}` is not in\n{excerpt}", table.name);
        }
    }
}

fn figures(table: &Table, row: &afterstate_lab::reproduce::paper::Row) -> Vec<String> {
    (0..table.columns.len())
        .filter_map(|column| row.figure(column))
        .map(|figure| figure.text.clone())
        .collect()
}

#[test]
fn tables_are_whole() {
    for table in tables() {
        let name = &table.name;
        let rows: HashSet<_> = table.rows.iter().map(|row| &row.name).collect();
        assert_eq!(rows.len(), table.rows.len(), "{name}: rows have names of their own");
        for claim in &table.claims {
            let cells = claim.above.iter().chain(&claim.below).chain(&claim.alike);
            for cell in cells {
                assert!(table.cell(cell, claim.column.as_deref()).is_some(), "{name}: no `{cell}`");
            }
            assert_eq!(claim.above.is_empty(), claim.below.is_empty(), "{name}: {}", claim.says);
            assert_ne!(claim.above.is_empty(), claim.alike.len() < 2, "{name}: {}", claim.says);
        }
        for row in table.rows.iter().filter(|row| row.left_out.is_none() && table.left_out.is_none()) {
            let recipe = Recipe::load(&table.recipe_name(row), &[]);
            assert!(recipe.is_ok(), "{name}: {recipe:?}");
            assert!(table.curve || row.figure(0).is_some() || row.name == "nt6", "{name}: {}", row.name);
        }
        let options = Options { share: 1e-6, trainings: None, games: None, plies: Some(1), threads: 2 };
        Plan::new(table.clone(), options).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Every shipped recipe of a table is a row here, so that none is forgotten.
#[test]
fn every_recipe_of_a_paper_is_in_a_table() {
    let used: HashSet<_> = tables()
        .flat_map(|table| table.rows.iter().map(|row| table.recipe_name(row)).collect::<Vec<_>>())
        .collect();
    for shipped in afterstate_lab::recipe::shipped().filter(|shipped| !shipped.table.is_empty()) {
        assert!(used.contains(&shipped.name), "{}", shipped.name);
    }
}
