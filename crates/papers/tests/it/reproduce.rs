//! A table reproduced: trainings, interruption, evaluation, report.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_papers::reproduce::{
    Options, Report, Table, TablePlan, Verdict,
    work::{self, Event, Trained},
};

/// Small networks on 3×3: one that learns, one that hardly does, one that continues the first.
const RECIPES: &str = "
game.side = 3
network.tuples = ['0123', '0134']
network.tile_values = 11
budget.actions = 40_000_000
evaluation = { every = 10_000_000, games = 50 }
parallel.threads = 1
[[row]]
name = 'good'
[[row]]
name = 'bad'
learning = { step_size = 'fixed', alpha = 0.000001 }
[[row]]
name = 'again'
network.from = 'runs/FOLDER/small/good'
";

fn table(folder: &Path) -> Table {
    let place = folder.to_str().unwrap();
    fs::write(folder.join("small.toml"), RECIPES.replace("FOLDER", place)).unwrap();
    let row = |name: &str, recipe: &str, more: &str| {
        format!("[[row]]\nname = '{name}'\nlabel = '{name}'\nrecipe = '{place}/small/{recipe}'\n{more}\n")
    };
    let text = format!(
        "title = 'T'\nplace = 'Table 1'\ntrainings = 3\nspread = 'sd of trainings'
        columns = [{{ name = 'score', games = 40 }}, {{ name = '2-ply', search = '2ply', games = 5 }},
                   {{ name = 'peak', measure = 'highest score in training' }},
                   {{ name = '16', tile = 16, games = 40 }}]
        {}{}{}{}{}
        [[claim]]\nsays = 'learning helps'\nplace = 'here'\nabove = ['good']\nbelow = ['bad']",
        row("good", "good", "paper = ['1,000.5 ± 20.0', '', '', '']"),
        row("good-too", "good", ""),
        row("bad", "bad", ""),
        row("again", "again", ""),
        "[[row]]\nname = 'absent'\nlabel = 'absent'\nleft_out = 'nobody knows how'\n",
    );
    Table::parse("p/t", &text).unwrap()
}

fn plan(folder: &Path, trainings: u64) -> TablePlan {
    let options = Options {
        share: 0.002,
        trainings: Some(trainings),
        games: Default::default(),
        plies: None,
        threads: 2,
        records: None,
        device: Default::default(),
    };
    TablePlan::new(table(folder), options).unwrap()
}

fn go(plan: &TablePlan, directory: &Path) -> (Vec<Vec<Trained>>, usize) {
    let mut training = 0;
    let mut watch = |_, event| training += usize::from(matches!(event, Event::Training(_)));
    let trained =
        work::run(plan, directory, &AtomicBool::new(false), &mut watch).unwrap().expect("nobody stopped it");
    (trained, training)
}

#[test]
fn a_table_is_trained_evaluated_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), 3);
    assert_eq!(plan.trainings.len(), 3, "rows with the same recipe share their trainings");
    assert_eq!(plan.trainings[2].after, Some(0));
    let (trained, _) = go(&plan, &folder.path().join("out"));
    assert!(trained.iter().flatten().all(|trained| trained.record.actions >= 80_000));
    let report = Report::new(&plan, &trained);
    assert_eq!((report.trainings, report.share), ([3, 3], 0.002));
    let cell = |row: usize, column: usize| report.rows[row].cells[column].clone();
    let good = cell(0, 0).ours.unwrap();
    assert_eq!((good.count, good.games, good.mean), (3, Some(40), cell(1, 0).ours.unwrap().mean));
    assert!(good.mean > 1.5 * cell(2, 0).ours.unwrap().mean, "{good:?}");
    assert_eq!(cell(0, 1).ours.unwrap().games, Some(5));
    assert!(cell(0, 2).ours.unwrap().mean > good.mean, "the highest score in training");
    assert!((0.0..=100.0).contains(&cell(0, 3).ours.unwrap().mean));
    assert_eq!(cell(4, 0).left_out.as_deref(), Some("nobody knows how"));
    assert_eq!(report.claims[0].verdict, Verdict::Seen, "{:?}", report.claims[0]);
    let text = report.to_markdown();
    for part in ["| good     | 1,000.5 ± 20.0 | ", "0.2 %", "**seen**: learning", "absent: nobody knows how"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let json = serde_json::to_string(&report).unwrap();
    let read: Report = serde_json::from_str(&json).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
}

#[test]
fn what_is_done_is_not_done_again_and_an_interruption_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), 2);
    let (straight, _) = go(&plan, &folder.path().join("straight"));

    let interrupted = folder.path().join("interrupted");
    let (mut sittings, mut reached) = (0, HashMap::new());
    let resumed = loop {
        let stop = AtomicBool::new(false);
        let mut further = false;
        let mut watch = |job, event| {
            let (stage, come) = match event {
                Event::Training(share) => (String::new(), share),
                Event::Playing(entrant, games, _) => (entrant.to_string(), games as f64),
                Event::Done(_) | Event::Warning(_) => return,
            };
            // A training first reports where it continues from, which is not new.
            let before = reached.insert((job, stage), come);
            if come > before.unwrap_or_default() {
                further = true;
                stop.store(true, Relaxed);
            }
        };
        sittings += 1;
        if let Some(trained) = work::run(&plan, &interrupted, &stop, &mut watch).unwrap() {
            break trained;
        }
        assert!(further && sittings < 300, "every sitting comes further: {reached:?}");
    };
    assert!(sittings > 1);
    let games =
        |trained: &[Vec<Trained>]| -> Vec<_> { trained.iter().flatten().map(|t| t.games.clone()).collect() };
    assert_eq!(games(&resumed), games(&straight));
    let kept = |out: &Path| out.join(name(&plan, 0)).join("checkpoint/state.safetensors").exists();
    assert!(!kept(&interrupted), "checkpoints of finished trainings would fill the disk");

    let before =
        fs::metadata(interrupted.join(name(&plan, 0)).join("model.safetensors")).unwrap().modified().unwrap();
    let (again, training) = go(&plan, &interrupted);
    assert_eq!((games(&again), training), (games(&straight), 0));
    let after =
        fs::metadata(interrupted.join(name(&plan, 0)).join("model.safetensors")).unwrap().modified().unwrap();
    assert_eq!(before, after);

    let mut longer = plan.clone();
    let recipe = &mut longer.trainings[0].recipe;
    recipe.budget = afterstate_learning::Budget::Actions(99_999);
    let error = work::run(&longer, &interrupted, &AtomicBool::new(false), &mut |_, _| ()).unwrap_err();
    assert!(error.to_string().contains("another budget"), "{error}");
}

fn name(plan: &TablePlan, training: usize) -> String {
    let path = work::run_path(plan, Path::new("x"), work::Job { training, seed: 1 });
    path.strip_prefix("x").unwrap().to_str().unwrap().to_owned()
}
