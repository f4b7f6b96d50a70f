//! A table of networks that are taught by play records: lessons, test plays on the way, interruption, report.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_lab::recipe::Lesson;
use afterstate_learning::Budget;
use afterstate_papers::reproduce::{
    Entrant, Options, Report, ReproduceError, Table, TablePlan, Verdict,
    work::{self, Event, Trained},
};

/// A network that can learn and one that hardly can, with two intermediate points of the second.
const TABLE: &str = "
title = 'T'
place = 'Table 1'
trainings = 1
columns = [
    { name = 'error', measure = 'error' }, { name = 'accuracy', measure = 'accuracy' },
    { name = 'half', samples = 30_000_000, games = 20 }, { name = 'score', games = 20 },
    { name = 'highest', measure = 'highest score' }, { name = 'highest of all', measure = 'highest score in training' },
    { name = '64', tile = 64 }, { name = 'few', largest = [2, 64] }, { name = 'many', largest = [128, 131072] },
]
[[row]]
name = 'two'
label = 'two'
dcnn = { layers = 2, channels = 16, samples = 60_000_000 }
paper = ['0.698', '0.692', '', '', '', '', '', '', '']
[[row]]
name = 'one'
label = 'one'
dcnn = { layers = 1, channels = 1, samples = 60_000_000 }
[[row]]
name = 'shorter'
label = 'shorter'
dcnn = { layers = 1, channels = 1, samples = 45_000_000 }
[[claim]]
says = 'two have a smaller error'
place = 'here'
above = ['one']
below = ['two']
[[claim]]
says = 'two are right more often'
place = 'here'
column = 'accuracy'
above = ['two']
below = ['one']
";

/// The plan with batches and a buffer for this few records.
fn plan(records: Option<&Path>, trainings: Option<u64>) -> TablePlan {
    let options = Options {
        share: 0.001,
        trainings,
        games: Default::default(),
        plies: Some(1),
        threads: 2,
        records: records.map(Path::to_owned),
        device: Default::default(),
    };
    let mut plan = TablePlan::new(Table::parse("p/t", TABLE).unwrap(), options).unwrap();
    for training in 0..plan.trainings.len() {
        let lesson = lesson(&mut plan, training);
        (lesson.batch, lesson.buffer, lesson.rate, lesson.final_rate) = (100, 2000, 0.003, 0.003);
    }
    plan
}

fn lesson(plan: &mut TablePlan, training: usize) -> &mut Lesson {
    plan.trainings[training].recipe.lesson.as_mut().expect("a lesson")
}

fn go(plan: &TablePlan, directory: &Path) -> (Vec<Vec<Trained>>, usize) {
    let mut batches = 0;
    let mut watch = |_, event| batches += usize::from(matches!(event, Event::Training(_)));
    let trained = work::run(plan, directory, &AtomicBool::new(false), &mut watch).unwrap();
    (trained.expect("nobody stopped it"), batches)
}

/// A value network is taught by the same records, and plays greedily.
#[test]
fn a_network_of_values_is_taught_and_plays() {
    let table = "
title = 'T'
place = 'section 6'
trainings = 1
columns = [{ name = 'score', games = 20 }]
[[row]]
name = 'tuples'
label = 'tuples'
values = { network = '2x4', samples = 10_000_000 }
";
    let folder = tempfile::tempdir().unwrap();
    let (records, out) = (folder.path().join("records"), folder.path().join("out"));
    crate::downwards::record(&records, 20);
    let mut plan = plan(Some(&records), None);
    plan = TablePlan::new(Table::parse("p/t", table).unwrap(), plan.options).unwrap();
    lesson(&mut plan, 0).buffer = 2000;
    let (trained, _) = go(&plan, &out);
    let games = trained[0][0].games(Entrant::Valuing);
    let model = afterstate_network::Network::load(&out.join("tuples/seed-1/model.safetensors"));
    let again = afterstate_lab::evaluate::evaluate(
        &model.unwrap(),
        afterstate_lab::evaluate::Games {
            rules: Default::default(),
            seed: afterstate_lab::evaluate::SEED,
            dealer: &afterstate_lab::deal::Deck::new(20),
        },
        1,
        |_| true,
    );
    assert_eq!(games, again.unwrap());
    let report = Report::new(&plan, &trained);
    assert_eq!(report.rows[0].actions, Some(1e4));
}

#[test]
fn a_table_of_lessons_is_taught_tested_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let (records, out) = (folder.path().join("records"), folder.path().join("out"));
    crate::downwards::record(&records, 20);
    let plan = plan(Some(&records), None);
    assert_eq!(plan.trainings.len(), 2, "a shorter lesson is the beginning of a longer one");
    let (trained, batches) = go(&plan, &out);
    assert_eq!(batches, 1200, "60,000 records each, in batches of 100");
    assert!(trained.iter().flatten().all(|trained| trained.batches.len() == 10), "the last sixtieth");
    let report = Report::new(&plan, &trained);
    assert_eq!((report.trainings, report.budget.as_str()), ([1, 1], "6e7 records"));
    let ours = |row: usize, column: usize| report.rows[row].cells[column].ours.clone().unwrap();
    assert_eq!((ours(0, 0).count, ours(0, 0).games), (10, None));
    assert!(ours(0, 0).mean < 0.5 && ours(0, 1).mean > 0.8, "{:?} {:?}", ours(0, 0), ours(0, 1));
    assert_eq!(report.rows.iter().map(|row| row.actions.unwrap()).collect::<Vec<_>>(), [6e4, 6e4, 4.5e4]);

    // The figures are those of the stored games, at each point of the training.
    let games = |row: usize, records: u64| trained[row][0].games(Entrant::Voting(records)).to_vec();
    let mean = |row, records| {
        let games = games(row, records);
        games.iter().map(|game| game.score as f64).sum::<f64>() / games.len() as f64
    };
    assert_eq!(ours(0, 3).games, Some(20));
    assert_eq!([ours(0, 2).mean, ours(0, 3).mean], [mean(0, 30_000), mean(0, 60_000)]);
    assert_eq!([ours(1, 3).mean, ours(2, 3).mean], [mean(1, 60_000), mean(1, 45_000)]);
    assert_ne!(games(1, 30_000), games(1, 60_000), "the networks differ");
    let highest = |records: &[u64]| {
        records.iter().flat_map(|&records| games(0, records)).map(|game| game.score).max().unwrap() as f64
    };
    assert_eq!([ours(0, 4).mean, ours(0, 5).mean], [highest(&[60_000]), highest(&[30_000, 60_000])]);
    assert_eq!(ours(0, 7).mean + ours(0, 8).mean, 1000.0, "every game has a largest tile");
    let reached = games(0, 60_000).iter().filter(|game| game.max_exponent >= 6).count();
    assert_eq!(ours(0, 6).mean, reached as f64 * 5.0);

    assert!(report.claims.iter().all(|claim| claim.verdict == Verdict::Seen), "{:?}", report.claims);
    let text = report.to_markdown();
    for part in
        ["1 training of each row", "Taught by games of downwards with 1ply, 1 file in ", "the last batches"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn an_interruption_changes_nothing_and_what_is_done_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let [records, straight, halves] = ["records", "straight", "halves"].map(|name| folder.path().join(name));
    crate::downwards::record(&records, 20);
    let plan = plan(Some(&records), Some(2));
    let (expected, _) = go(&plan, &straight);

    let mut sittings = 0;
    let resumed = loop {
        let (stop, mut events) = (AtomicBool::new(false), 0);
        let mut watch = |_, event| {
            events += usize::from(matches!(event, Event::Training(_) | Event::Playing(..)));
            stop.store(events > 700, Relaxed);
        };
        sittings += 1;
        if let Some(trained) = work::run(&plan, &halves, &stop, &mut watch).unwrap() {
            break trained;
        }
        assert!(sittings < 30, "every sitting comes further");
    };
    assert!(sittings > 2);
    let same = |a: &Trained, b: &Trained| a.games == b.games && a.batches == b.batches;
    assert!(resumed.iter().flatten().zip(expected.iter().flatten()).all(|(a, b)| same(a, b)));
    assert_eq!(go(&plan, &halves).1, 0, "nothing is learned again");

    let error =
        |plan: &TablePlan| work::run(plan, &halves, &AtomicBool::new(false), &mut |_, _| ()).unwrap_err();
    let mut other = plan.clone();
    other.trainings[0].recipe.budget = Budget::Actions(99_999);
    assert!(matches!(error(&other), ReproduceError::OtherBudget(_)));
    other.trainings[0].recipe.budget = Budget::Actions(60_000);
    lesson(&mut other, 0).records = "elsewhere".into();
    assert!(matches!(error(&other), ReproduceError::OtherRecords { .. }));
}

#[test]
fn without_records_nothing_is_begun() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, out) = (plan(None, None), folder.path().join("out"));
    let error = work::run(&plan, &out, &AtomicBool::new(false), &mut |_, _| ()).unwrap_err();
    assert!(matches!(error, ReproduceError::NoRecords(_)) && !out.exists(), "{error}");
    let options = Options { records: Some(folder.path().to_owned()), ..plan.options };
    let error = TablePlan::new(Table::parse("p/t", TABLE).unwrap(), options).unwrap_err();
    assert!(error.to_string().contains("holds no play records"), "{error}");
}
