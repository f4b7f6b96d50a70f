//! The papers' figures: each one occurs in the text of the table to which it is attributed.

use std::{collections::HashSet, fs, path::Path};

use afterstate_dcnn::DcnnSpec;
use afterstate_lab::recipe::{Recipe, Start};
use afterstate_papers::reproduce::{
    GameCounts, Options, Report, Table, TablePlan,
    paper::{Column, Measure, Row},
    table_names,
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

/// The text of a paper; `None` if the texts are not available.
fn text_of(paper: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/papers");
    let begin = TEXTS.iter().find(|(name, _)| *name == paper)?.1;
    let mut files = fs::read_dir(folder).ok()?.flatten();
    let file = files.find(|file| file.file_name().to_string_lossy().starts_with(begin))?;
    Some(fs::read_to_string(file.path()).unwrap())
}

/// A text without markup, in which `280\ 123 \pm 4920` and `280,123 ± 4,920` are the same; separators between two
/// numbers are kept.
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

/// Whether a number, with its ±, is in a plain text, not as a part of another number.
fn holds(text: &str, figure: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '.' || c == '±');
    text.match_indices(figure).any(|(at, found)| {
        let after = &text[at + found.len()..];
        // The full stop at the end of a sentence is not part of a number.
        let ends = after.starts_with(". ");
        !inside(text[..at].chars().next_back()) && (ends || !inside(after.chars().next()))
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

fn figures(table: &Table, row: &Row) -> Vec<String> {
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
            let divided = claim.per.len() == claim.alike.len() && claim.per.iter().all(|&per| per > 0.0);
            assert!(claim.per.is_empty() || divided, "{name}: {}", claim.says);
        }
        for row in table.rows.iter().filter(|row| row.left_out.is_none() && table.left_out.is_none()) {
            match row.dcnn {
                _ if row.tuples.is_some() => assert!(table.is_counted(), "{name}: {}", row.name),
                Some(dcnn) => {
                    // Error and accuracy are those of the end, not of an intermediate point.
                    let of_the_end =
                        |column: &Column| matches!(column.measure, Measure::Error | Measure::Accuracy);
                    let same = |other: &&Row| table.training_name(other) == table.training_name(row);
                    let alone = table.rows.iter().filter(same).count() == 1;
                    assert!(alone || !table.columns.iter().any(of_the_end), "{name}: {}", row.name);
                    let last = table.columns.iter().filter_map(|column| column.samples).max();
                    assert!(last.is_none_or(|last| last <= dcnn.samples), "{name}: {}", row.name);
                }
                None if row.lesson().is_some() => {}
                None => {
                    let recipe = Recipe::load(&table.training_name(row), &[]);
                    assert!(recipe.is_ok(), "{name}: {recipe:?}");
                }
            }
            assert!(table.curve || row.figure(0).is_some() || row.name == "nt6", "{name}: {}", row.name);
        }
        let options = Options {
            share: 1e-6,
            trainings: None,
            games: GameCounts::default(),
            plies: Some(1),
            threads: 2,
            records: None,
            device: Default::default(),
        };
        TablePlan::new(table.clone(), options).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// No table is listed both as run and as not run.
#[test]
fn what_has_results_has_a_way_to_them() {
    for table in tables() {
        assert!(table.shown.is_empty() || table.left_out.is_none(), "{}", table.name);
        let rows = table.rows.is_empty();
        assert_eq!(rows, table.left_out.is_some() || table.measured_by.is_some(), "{}", table.name);
    }
}

/// The paper's own times are as proportional to the number of tuples as its text and our claims say.
#[test]
fn the_papers_times_are_proportional_as_it_says() {
    let proportional = |table: &Table| {
        let divided = table.claims.iter().filter(|claim| !claim.per.is_empty()).cloned();
        divided.collect::<Vec<_>>()
    };
    let table = Table::find("jaskowski-2016/table-4").unwrap();
    let claims = proportional(&table);
    assert_eq!(claims.len(), 2);
    for claim in claims {
        let figure = |(cell, per): (&String, &f64)| {
            let (row, column) = table.cell(cell, claim.column.as_deref()).unwrap();
            table.rows[row].figure(column).unwrap().value / per
        };
        let figures: Vec<f64> = claim.alike.iter().zip(&claim.per).map(figure).collect();
        for other in &figures[1..] {
            assert!((other / figures[0] - 1.0).abs() < claim.within, "{}: {figures:?}", claim.says);
        }
    }
}

/// The networks of kondo-2019's tables are those of its Table 2, and five layers with fewer channels.
#[test]
fn dcnn_rows_are_the_networks_of_table_2() {
    for table in tables() {
        for dcnn in table.rows.iter().filter_map(|row| row.dcnn) {
            let known = DcnnSpec::TABLE_2.contains(&(dcnn.layers, dcnn.channels));
            let weights = DcnnSpec::policy(dcnn.layers, dcnn.channels).unwrap().weights();
            assert!(known || [208_234, 410_128, 615_364].contains(&weights), "{}: {dcnn:?}", table.name);
        }
    }
}

/// The rows of Table 8 are points of one training, and so are the columns of Table 5.
#[test]
fn rows_and_columns_of_one_lesson_share_its_training() {
    let plan = |name: &str| {
        let options = Options {
            share: 0.01,
            trainings: None,
            games: GameCounts::default(),
            plies: Some(1),
            threads: 2,
            records: None,
            device: Default::default(),
        };
        TablePlan::new(Table::find(name).unwrap(), options).unwrap()
    };
    let points = |plan: &TablePlan, training: usize| -> Vec<_> {
        plan.trainings[training]
            .evaluations
            .iter()
            .map(|(entrant, games)| (entrant.to_string(), *games))
            .collect()
    };
    let eight = plan("kondo-2019/table-8");
    assert_eq!((eight.trainings.len(), eight.seeds(), eight.needs_records()), (1, 1, true));
    assert_eq!(eight.trainings[0].budget, "12e8 records");
    let tests: Vec<_> = (1..=12).map(|n| (format!("majority-{n}000000"), 1000)).collect();
    assert_eq!(points(&eight, 0), tests);
    let five = plan("kondo-2019/table-5");
    assert_eq!(five.trainings.len(), 8);
    let tests = [2, 4, 6].map(|n| (format!("majority-{n}000000"), 1000));
    assert_eq!(points(&five, 3), tests);
    let one = plan("kondo-2019/table-1");
    assert_eq!((one.trainings.len(), one.left_out().count()), (3, 0));
}

/// Rows of which only deeper searches are measured are not trained: X1 and X2 of this table need three trainings.
#[test]
fn rows_that_are_only_searched_deeper_need_no_training() {
    let plan = |plies| {
        let options = Options {
            share: 0.001,
            trainings: Some(1),
            games: GameCounts::default(),
            plies,
            threads: 2,
            records: None,
            device: Default::default(),
        };
        TablePlan::new(Table::find("guei-2021/table-10").unwrap(), options).unwrap()
    };
    let names =
        |plan: &TablePlan| plan.trainings.iter().map(|training| training.name.clone()).collect::<Vec<_>>();
    let greedy = plan(Some(1));
    let rows = |names: [&str; 4]| names.map(|row| format!("guei-2021/table-10/{row}"));
    assert_eq!(names(&greedy)[..], rows(["v0", "v1", "v2", "v3"]));
    let stage = &greedy.trainings[3].recipe;
    assert_eq!(
        stage.start,
        Start::Stage { collected: 10, restarts: 0, shortest: 0 },
        "10,000 at the paper's budget"
    );
    let left_out: Vec<_> = greedy.left_out().map(|(row, _)| row.name.clone()).collect();
    assert_eq!(left_out, ["v4", "v5", "x1", "x2", "x3"]);
    assert_eq!(plan(None).trainings.len(), 7, "{:?}", names(&plan(None)));
}

/// Every shipped recipe of a table is a row here, so that none is missed.
#[test]
fn every_recipe_of_a_paper_is_in_a_table() {
    let used: HashSet<_> = tables()
        .flat_map(|table| table.rows.iter().map(|row| table.training_name(row)).collect::<Vec<_>>())
        .collect();
    for shipped in afterstate_lab::recipe::shipped().filter(|shipped| !shipped.table.is_empty()) {
        assert!(used.contains(&shipped.name), "{}", shipped.name);
    }
}

/// The tables and figures of the papers, by number; section 6 of kondo-2019 has figures in its text.
#[test]
fn every_table_and_figure_of_the_papers_is_listed() {
    let names: HashSet<&str> = table_names().collect();
    let roman = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];
    for (paper, tables, figures) in [
        ("jaskowski-2016", 7, 5),
        ("guei-2021", 10, 10),
        ("kondo-2019", 8, 4),
        ("terauchi-2025", 7, 3),
        ("ramesh-2018", 2, 10),
    ] {
        let numbers = |kind: &str, count: usize| -> Vec<String> {
            (1..=count).map(|n| format!("{paper}/{kind}-{n}")).collect()
        };
        let expected = [numbers("table", tables), numbers("figure", figures)].concat();
        for name in &expected {
            assert!(names.contains(name.as_str()), "no {name}");
        }
        let Some(text) = text_of(paper) else { continue };
        let text = text.to_lowercase();
        for (kind, words, count) in
            [("table", &["table "][..], tables), ("figure", &["fig. ", "fig ", "figure "], figures)]
        {
            let mentions = |number: usize| {
                let written = [number.to_string(), roman.get(number - 1).unwrap_or(&"-").to_lowercase()];
                words.iter().any(|word| {
                    written.iter().any(|number| {
                        let found = |at: usize, text: &str| {
                            !text[at..].starts_with(|c: char| c.is_ascii_alphanumeric())
                        };
                        let mention = format!("{word}{number}");
                        text.match_indices(&mention).any(|(at, _)| found(at + mention.len(), &text))
                    })
                })
            };
            let last = (1..20).filter(|&number| mentions(number)).max();
            // terauchi-2025 refers to a nonexistent Figure 5: the tuples are in its Table 5.
            let expected = if (paper, kind) == ("terauchi-2025", "figure") { 5 } else { count };
            assert_eq!(last, Some(expected), "{paper}: the last {kind}");
        }
    }
    assert!(names.contains("kondo-2019/section-6"));
}

/// Computed figures match those that the papers print.
#[test]
fn counted_tables_are_the_papers() {
    let mut figures = 0;
    for table in tables().filter(Table::is_counted) {
        let options = Options {
            share: 1.0,
            trainings: None,
            games: GameCounts::default(),
            plies: None,
            threads: 1,
            records: None,
            device: Default::default(),
        };
        let plan = TablePlan::new(table, options).unwrap();
        let report = Report::new(&plan, &[]);
        for (row, cell) in report.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell))) {
            let (Some(paper), Some(ours)) = (&cell.paper, &cell.ours) else { continue };
            let digits = paper.text.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
            // The paper truncates digits, or rounds.
            let off = (ours.mean - paper.value).abs() * 10f64.powi(digits);
            assert!(off < 1.0, "{}, {}: {} and {}", report.table, row.label, paper.text, ours.mean);
            figures += 1;
        }
    }
    assert!(figures > 25, "{figures} counted figures");
}
