//! Networks taught by records: runs that are resumed exactly, and networks that learn.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_dcnn::Device;
use afterstate_lab::{
    dcnn::{DcnnError, DcnnSettings, Event, LearningLine, Taught, Training, accuracy},
    log::Log,
    model::{Kind, Model},
    records::GAMES_PER_SHARD,
    run::Directory,
};

fn settings(records: &Path, network: Taught) -> DcnnSettings {
    DcnnSettings {
        records: records.into(),
        network,
        samples: 20_000,
        batch: 100,
        rate: 0.003,
        final_rate: 0.001,
        augment: false,
        buffer: 2000,
        test_every: 10_000,
        test_games: 3,
        ..DcnnSettings::default()
    }
}

fn run(directory: &Path, settings: DcnnSettings, threads: usize) {
    let training = Training::start(Directory::new(directory), settings, threads, Device::Cpu).unwrap();
    assert!(training.train(&AtomicBool::new(false), |_| ()).unwrap().finished);
}

#[test]
fn a_policy_learns_the_moves_of_the_records_and_resumes_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let [records, whole, halves] = ["records", "whole", "halves"].map(|name| folder.path().join(name));
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    let settings =
        DcnnSettings { augment: true, ..settings(&records, Taught::Dcnn { layers: 2, channels: 16 }) };
    run(&whole, settings.clone(), 2);

    let (directory, stop) = (Directory::new(&halves), AtomicBool::new(false));
    let training = Training::start(directory.clone(), settings.clone(), 1, Device::Cpu).unwrap();
    let watch = |event: Event<'_>| stop.store(matches!(event, Event::Learning(7000.., _)), Relaxed);
    assert!(!training.train(&stop, watch).unwrap().finished);
    assert!(matches!(
        Training::start(directory.clone(), settings.clone(), 1, Device::Cpu),
        Err(DcnnError::Exists(_))
    ));
    let stored = DcnnSettings::stored(&directory).unwrap().unwrap();
    let other = DcnnSettings { seed: 2, ..stored.clone() };
    assert!(matches!(Training::resume(directory.clone(), other, 1, Device::Cpu), Err(DcnnError::Changed)));
    let training = Training::resume(directory.clone(), stored, 1, Device::Cpu).unwrap();
    assert_eq!(training.samples(), 7000);
    let outcome = training.train(&AtomicBool::new(false), |_| ()).unwrap();
    assert!(outcome.finished && outcome.test.is_some_and(|test| test.report.games == 3));

    let model = |directory: &Path| fs::read(Directory::new(directory).model()).unwrap();
    assert!(model(&whole) == model(&halves), "the model is the same, byte for byte");
}

#[test]
fn what_was_learned_is_seen_on_records_held_out() {
    let folder = tempfile::tempdir().unwrap();
    let (records, directory) = (folder.path().join("records"), folder.path().join("run"));
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    run(&directory, settings(&records, Taught::Dcnn { layers: 2, channels: 16 }), 2);
    let log = Log::<LearningLine>::read(&Directory::new(&directory).log()).unwrap();
    let held_out = log.last().unwrap().held_out_accuracy.unwrap();
    assert!(held_out > 0.7, "{held_out}");
    let Kind::Dcnn(net, _) = Model::open(Some(&directory)).unwrap().kind else { panic!("a DCNN") };
    let step = accuracy(net, &records, 1000, 1, Device::Cpu).unwrap();
    assert!(step.accuracy() > 0.7, "{}", step.accuracy());
}

#[test]
fn an_n_tuple_network_learns_values() {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("records");
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    let error_after = |samples: u64| {
        let directory = folder.path().join(samples.to_string());
        let settings = settings(&records, Taught::Tuples("2x4".into()));
        run(&directory, DcnnSettings { test_every: 0, samples, ..settings }, 1);
        let log = Log::<LearningLine>::read(&Directory::new(&directory).log()).unwrap();
        assert_eq!(log[0].accuracy, None);
        log[0].held_out_error.unwrap()
    };
    let settings = settings(&records, Taught::Tuples("2x4".into()));
    let refused = Training::start(Directory::new(folder.path().join("gpu")), settings, 1, Device::Gpu);
    assert!(matches!(refused, Err(DcnnError::Tuples { .. })));
    let (early, late) = (error_after(100), error_after(20_000));
    assert!(late < early * 0.75, "{early} {late}");
}

#[test]
fn a_run_is_of_its_records_and_settings_and_survives_damage() {
    let folder = tempfile::tempdir().unwrap();
    let [records, whole, resumed] = ["records", "whole", "resumed"].map(|name| folder.path().join(name));
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    let settings = DcnnSettings {
        final_rate: 0.003,
        samples: 4000,
        test_every: 1000,
        test_games: 1,
        ..settings(&records, Taught::Dcnn { layers: 2, channels: 8 })
    };
    run(&whole, settings.clone(), 1);
    run(&resumed, DcnnSettings { samples: 2000, ..settings.clone() }, 1);
    let directory = Directory::new(&resumed);
    let go_on = || {
        let stored = DcnnSettings::stored(&directory).unwrap().unwrap();
        Training::resume(directory.clone(), DcnnSettings { samples: 4000, ..stored }, 1, Device::Cpu)
    };

    // The records have changed.
    let shard = records.join("games-00000020.parquet");
    let bytes = fs::read(&shard).unwrap();
    fs::copy(records.join("games-00000000.parquet"), &shard).unwrap();
    assert!(matches!(go_on(), Err(DcnnError::OtherRecords(_))));
    fs::write(&shard, bytes).unwrap();

    // The settings differ from those of the checkpoint.
    let path = directory.path().join("dcnn.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"seed\": 1", "\"seed\": 2")).unwrap();
    assert!(matches!(go_on(), Err(DcnnError::OtherSettings(_))));
    fs::write(&path, text).unwrap();

    // The newest checkpoint is damaged, and so is the log.
    let checkpoint = fs::read(directory.checkpoint()).unwrap();
    fs::write(directory.checkpoint(), &checkpoint[..checkpoint.len() / 2]).unwrap();
    fs::write(directory.log(), "notes").unwrap();
    let (mut warnings, training) = (Vec::new(), go_on().unwrap());
    assert_eq!(training.samples(), 1000);
    let watch = |event: Event<'_>| {
        warnings.extend(if let Event::Warning(error) = event { Some(error.to_string()) } else { None })
    };
    assert!(training.train(&AtomicBool::new(false), watch).unwrap().finished);
    assert!(warnings.iter().any(|told| told.contains("checkpoint before")), "{warnings:?}");
    assert!(warnings.iter().any(|told| told.contains("log.jsonl.damaged")), "{warnings:?}");
    let model = |directory: &Path| fs::read(Directory::new(directory).model()).unwrap();
    assert!(model(&whole) == model(&resumed), "the model is the same, byte for byte");
}

#[test]
fn learning_that_diverges_says_by_which_rate() {
    let folder = tempfile::tempdir().unwrap();
    let (records, directory) = (folder.path().join("records"), Directory::new(folder.path().join("run")));
    crate::downwards::record(&records, 2 * GAMES_PER_SHARD);
    let settings = settings(&records, Taught::Dcnn { layers: 5, channels: 8 });
    let settings = DcnnSettings { rate: 1e9, final_rate: 1e9, test_every: 0, ..settings };
    let training = Training::start(directory.clone(), settings, 2, Device::Cpu).unwrap();
    let error = training.train(&AtomicBool::new(false), |_| ()).unwrap_err();
    assert!(matches!(error, DcnnError::Diverged { rate, .. } if rate == 1e9), "{error}");
    assert!(!directory.model().exists() && !directory.has_checkpoint());
}
