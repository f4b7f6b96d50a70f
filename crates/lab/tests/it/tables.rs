//! Tables of recipes: rows, what they extend, and the built-in tables of the papers.

use afterstate_lab::recipe::{Recipe, shipped};
use afterstate_learning::{Budget, StepSizeSpec, TargetSpec, target::DelayedTdLambda};

fn parse(text: &str) -> Result<Recipe, String> {
    Recipe::parse("x", "x.toml", text, &[]).map_err(|error| error.to_string())
}

const TABLE: &str = "description = 'two rates'
learning.beta = 0.5
[budget]
actions = 7
[[row]]
name = 'a'
description = 'the first'
[[row]]
name = 'b'
learning.step_size = 'fixed'
learning.alpha = 0.25
budget.episodes = 5
[[row]]
name = 'wrong'
learning.lamda = 0.5
";

#[test]
fn a_row_stands_on_the_rest_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("mine.toml"), TABLE).unwrap();
    let a = Recipe::load(&path("mine/a"), &[]).unwrap();
    assert_eq!(
        (a.name.as_str(), a.description.as_str(), a.budget),
        ("mine/a", "the first", Budget::Actions(7))
    );
    assert!(matches!(a.learning.step_size, StepSizeSpec::TemporalCoherence { beta: 0.5, .. }));
    let b = Recipe::load(&path("mine/b"), &[]).unwrap();
    assert_eq!(b.description, "two rates");
    // A row drops keys that it makes meaningless, as an override does.
    assert_eq!((b.learning.step_size, b.budget), (StepSizeSpec::Fixed { alpha: 0.25 }, Budget::Episodes(5)));
    let again = Recipe::load(&path("mine/b"), &["budget.actions=3".to_owned()]).unwrap();
    assert_eq!(again.budget, Budget::Actions(3), "an override wins over both");
    let error = |name: &str| Recipe::load(&path(name), &[]).unwrap_err().to_string();
    assert!(
        error("mine/wrong")
            .ends_with("mine.toml line 15: unknown key `learning.lamda`; did you mean `learning.lambda`?")
    );
    for name in ["mine.toml", "mine/c"] {
        assert!(error(name).ends_with("is a table of recipes: add the name of a row, `/a`, `/b`, `/wrong`"));
    }
    assert!(parse("[[row]]\nseed = 1").unwrap_err().starts_with("x.toml line 1: no name of a row"));
    assert!(parse("row = 3\nbudget.actions = 1").unwrap_err().contains("unknown key `row`"));
}

#[test]
fn a_recipe_can_begin_with_a_shipped_one() {
    let extends = "extends = 'jaskowski-2016/table-1/tc-0.5-beta-0.5'\n";
    let recipe = parse(&format!("{extends}[network]\ntuples = '2x4'")).unwrap();
    assert_eq!((recipe.name.as_str(), recipe.description.as_str()), ("x", ""), "its own ones");
    assert!(matches!(recipe.learning.step_size, StepSizeSpec::TemporalCoherence { beta: 0.5, .. }));
    assert_eq!(
        recipe.learning.target,
        TargetSpec::DelayedTdLambda(DelayedTdLambda { lambda: 0.5, horizon: 3 })
    );
    assert_eq!(recipe.budget, Budget::Actions(10_000_000_000));
    let fixed = parse(&format!("{extends}learning.step_size = 'fixed'\nbudget.seconds = 1")).unwrap();
    assert_eq!(
        (fixed.learning.step_size, fixed.budget),
        (StepSizeSpec::Fixed { alpha: 0.1 }, Budget::Seconds(1.0))
    );
    // An error in an extended recipe is reported at its location.
    let error = parse(&format!("{extends}\nlearning.alpha = 0.1")).unwrap_err();
    assert!(error.starts_with("x.toml line 3: `learning.alpha` cannot be used here"), "{error}");
    assert!(
        parse("extends = 'quik'")
            .unwrap_err()
            .contains("line 1: `extends` cannot be used here: no recipe `quik`")
    );
    assert!(
        parse("extends = 3").unwrap_err().contains("`extends` must be the name of a shipped recipe, not 3")
    );
    // The resolved recipe is complete.
    assert!(!recipe.to_toml().unwrap().contains("extends"));
}

/// The papers' tables, with the same number of rows.
#[test]
fn every_row_of_the_papers_has_a_recipe() {
    let rows = |table: &str| {
        let begin = format!("{table}/");
        shipped().filter(|recipe| recipe.name.starts_with(&begin)).collect::<Vec<_>>()
    };
    for (table, count) in TABLES {
        let rows = rows(table);
        assert_eq!(rows.len(), count, "{table}");
        for row in rows {
            let recipe = row.recipe(&[]).unwrap();
            assert!(row.table.starts_with("Table "), "{}", row.name);
            assert!(recipe.description.contains(": "), "{}: the paper's figure", row.name);
            assert!(!recipe.description.contains(&row.table), "{}: its own words", row.name);
        }
    }
    assert!(shipped().all(|recipe| !recipe.name.ends_with("common")), "pieces are no recipes");
}

const TABLES: [(&str, usize); 18] = [
    ("jaskowski-2016/table-1", 13),
    ("jaskowski-2016/table-2", 4),
    ("jaskowski-2016/table-3", 6),
    ("jaskowski-2016/table-4", 5),
    ("jaskowski-2016/table-7", 6),
    ("guei-2021/table-1", 6),
    ("guei-2021/table-2", 6),
    ("guei-2021/table-3", 6),
    ("guei-2021/table-4", 6),
    ("guei-2021/table-5", 15),
    ("guei-2021/table-6", 6),
    ("guei-2021/table-8", 5),
    ("guei-2021/table-9", 1),
    ("guei-2021/table-10", 10),
    ("terauchi-2025/table-4", 10),
    ("terauchi-2025/table-5", 5),
    ("terauchi-2025/table-6", 5),
    ("terauchi-2025/table-7", 4),
];

#[test]
fn networks_are_as_large_as_the_papers_say() {
    for (name, weights) in [
        ("jaskowski-2016/table-3/1-stage-421-43", 1_342_177_280),
        ("jaskowski-2016/table-3/16-stages-wp", 1_342_177_280),
        ("guei-2021/table-5/8x6-otd+tc", 134_217_728),
        ("guei-2021/table-10/v5", 268_435_456),
        ("terauchi-2025/table-4/mnt6", 3_543_122),
        ("terauchi-2025/table-4/mnt6-2-vse-a", 1_048_576),
        ("terauchi-2025/table-4/mnt6-2-vse-b", 759_586),
        ("terauchi-2025/table-4/mnt6-2-vse-c", 617_600),
        ("terauchi-2025/table-4/mnt6-2-vse-d", 470_596),
        ("terauchi-2025/table-4/mnt6-2-vse-e", 617_600),
        ("terauchi-2025/table-4/mnt6-3-vse-a", 217_874),
        ("terauchi-2025/table-4/mnt6-3-vse-b", 421_922),
        ("terauchi-2025/table-4/mnt4", 43_923),
        ("terauchi-2025/table-5/nt6-m", 544_195_584),
        ("terauchi-2025/table-5/nt6", 612_220_032),
        ("terauchi-2025/table-6/nt7", 471_794_736),
        ("terauchi-2025/table-7/best-nt8", 877_730_580),
        ("terauchi-2025/table-5/nt9", 1_835_939_238),
    ] {
        let recipe = Recipe::load(name, &[]).unwrap();
        assert_eq!(recipe.network.spec(recipe.game.side).unwrap().weights(), weights, "{name}");
    }
}
