//! Packed tables: reading returns what was rounded, and damage is rejected.

use std::{collections::BTreeMap, fs, path::Path, sync::atomic::Ordering::Relaxed};

use afterstate_game::Afterstate;
use afterstate_network::{
    Network, NetworkSpec, Stages, Tuples,
    file::{
        FileProblem, ModelInfo,
        packed::{Packed, StageCoding},
        safetensors::TensorFile,
    },
};

/// A pseudo-random 32-bit number for each index.
fn noise(place: usize) -> u32 {
    let mixed = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

/// A network with some weights, the same for mirror images.
fn network(tuples: &str, stages: &str, tile_values: usize) -> Network {
    let tuples = tuples.split(' ').map(|tuple| tuple.parse().expect("a tuple")).collect();
    let spec = NetworkSpec {
        tuples: Tuples::new(tuples).expect("tuples"),
        stages: stages.parse::<Stages>().expect("stages"),
        tile_values,
        ..NetworkSpec::default()
    };
    let network = Network::new(spec).expect("a small network");
    for table in 0..network.spec().tables() {
        let c = network.spec().labels(table);
        let digits = |index: usize| {
            (0..).scan(index, move |rest, _: usize| {
                let d = *rest % c;
                *rest /= c;
                Some(d)
            })
        };
        let len = network.spec().table_len(table) as usize;
        let key = |index: usize| digits(index).take(4).map(|digit| digit * digit).sum::<usize>();
        let weight = |index: usize| match noise(table % 2 + 7 * key(index)) {
            bits if bits % 3 == 0 => 0.0,
            bits => (bits >> 12) as f32 / 1024.0 - 500.0 + (table / 2) as f32,
        };
        network.set_table(table, (0..len).map(weight));
    }
    network
}

fn weights(network: &Network) -> Vec<f32> {
    let tables = 0..network.spec().tables();
    tables.flat_map(|table| network.table(table).collect::<Vec<_>>()).collect()
}

/// Packs, saves and loads.
fn through_file(
    network: &Network,
    path: &Path,
    step: f32,
    precision: impl Fn(usize) -> u8 + Sync,
) -> Network {
    through_file_with(StageCoding::Differences, network, path, step, precision)
}

fn through_file_with(
    stages: StageCoding,
    network: &Network,
    path: &Path,
    step: f32,
    precision: impl Fn(usize) -> u8 + Sync,
) -> Network {
    let packed = Packed::new(network, stages, step, precision).expect("a packed network");
    let extra = BTreeMap::from([("recipe".to_string(), "# none".to_string())]);
    packed.save(path, &extra).expect("a written file");
    let info = ModelInfo::read(path).expect("a model");
    assert!(info.is_packed && info.spec == *network.spec() && info.extra == extra);
    Network::load(path).expect("a network")
}

#[test]
fn weights_come_back_rounded() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("packed");
    for (tuples, stages, c) in
        [("0123 0145 012", "1", 16), ("0123 1256", "2048 2048+1024", 12), ("014 5", "1", 18)]
    {
        let network = network(tuples, stages, c);
        let read = through_file(&network, &path, 8.0, |_| 4);
        for (index, (read, weight)) in weights(&read).into_iter().zip(weights(&network)).enumerate() {
            // The step is 8/2³, and small changes between stages are dropped.
            assert!((read - weight).abs() <= 0.6001, "{tuples} {stages}: {read} for {weight} at {index}");
        }
        assert!(weights(&read).iter().any(|&weight| weight != 0.0));
    }
}

/// Stages that are coded separately: a dropped weight is 0, whatever the previous stage has.
#[test]
fn stages_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("packed");
    let network = network("0123 1256", "2048 2048+1024", 12);
    let kept = |index: usize| u8::from(!index.is_multiple_of(3));
    let read = through_file_with(StageCoding::Apart, &network, &path, 1.0, kept);
    let mut left_out = 0;
    for table in 0..network.spec().tables() {
        for (weight, read) in network.table(table).zip(read.table(table)) {
            assert!(read == 0.0 || (read - weight).abs() <= 0.6001, "{read} for {weight}");
            left_out += u32::from(read == 0.0 && weight.abs() > 1.0);
        }
    }
    assert!(left_out > 1000, "{left_out}");
    let metadata = TensorFile::open(&path).expect("a file").metadata().clone();
    assert_eq!(metadata.get("version").map(String::as_str), Some("4"));
}

#[test]
fn what_has_no_precision_is_left_out_or_that_of_the_stage_before() {
    let directory = tempfile::tempdir().expect("a directory");
    let network = network("0123", "2048 2048+1024", 12);
    let first = network.set_len();
    let read = through_file(&network, &directory.path().join("packed"), 1.0, |index| u8::from(index < first));
    let tables: Vec<Vec<f32>> = (0..3).map(|table| read.table(table).collect()).collect();
    assert!(tables[0].iter().any(|&weight| weight != 0.0));
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0], tables[2]);
    let nothing = through_file(&network, &directory.path().join("nothing"), 1.0, |_| 0);
    assert!(nothing.weights().iter().all(|weight| weight.load(Relaxed) == 0));
}

#[test]
fn values_are_kept_to_the_step() {
    let directory = tempfile::tempdir().expect("a directory");
    let network = network("0123 4567 0145 1256 569a", "1", 16);
    let read = through_file(&network, &directory.path().join("packed"), 1.0, |_| 10);
    for number in 0..200 {
        let cells: String = (0..16)
            .map(|cell| char::from_digit(noise(16 * number + cell) % 12, 16).expect("a digit"))
            .collect();
        let afterstate: Afterstate<4> = cells.parse().expect("a board");
        let (read, value) = (read.value(afterstate), network.value(afterstate));
        assert!((read - value).abs() < 40.0 * 0.6 / 512.0 + 0.01, "{cells}: {read} for {value}");
    }
}

#[test]
fn files_are_small_and_the_same_every_time() {
    let network = network("0123 0145", "1", 16);
    let directory = tempfile::tempdir().expect("a directory");
    let bytes = |name: &str| {
        let path = directory.path().join(name);
        through_file(&network, &path, 64.0, |index| u8::from(index % 10 == 0));
        fs::read(path).expect("the file")
    };
    let first = bytes("a");
    assert_eq!(first, bytes("b"));
    // 131,072 weights, a fifteenth of which is kept.
    assert!(first.len() < 16_000, "{}", first.len());
}

#[test]
fn promotion_and_bad_steps_are_refused() {
    let spec = NetworkSpec {
        tuples: Tuples::named("2x4").expect("a set"),
        stages: "2048".parse().expect("stages"),
        promotion: true,
        ..NetworkSpec::default()
    };
    let promoting = Network::new(spec).expect("a network");
    assert!(matches!(
        Packed::new(&promoting, StageCoding::Differences, 1.0, |_| 1),
        Err(FileProblem::Unsupported(_))
    ));
    let network = network("0123", "1", 16);
    for step in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(
            Packed::new(&network, StageCoding::Differences, step, |_| 1),
            Err(FileProblem::Unsupported(_))
        ));
    }
}

#[test]
fn damaged_files_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("packed");
    through_file(&network("0123 012", "1", 16), &path, 8.0, |index| (index % 4) as u8);
    let good = fs::read(&path).expect("the file");
    let step = (good.len() / 300).max(1);
    for place in (0..good.len()).step_by(step) {
        let mut bad = good.clone();
        bad[place] ^= 0x41;
        fs::write(&path, &bad).expect("a written file");
        assert!(Network::load(&path).is_err(), "byte {place} changed");
        fs::write(&path, &good[..place]).expect("a written file");
        assert!(Network::load(&path).is_err(), "cut off at {place}");
    }
}

#[test]
fn a_file_that_is_right_but_for_its_content_is_refused() {
    // The checksums are correct, the bytes are not.
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("packed");
    let network = network("012", "1", 16);
    through_file(&network, &path, 8.0, |_| 3);
    let mut metadata = TensorFile::open(&path).expect("a file").metadata().clone();
    let good = TensorFile::open(&path).expect("a file").bytes("packed.0").expect("bytes").to_vec();
    let write = |metadata: &BTreeMap<String, String>, bytes: &[u8]| {
        use afterstate_network::file::safetensors::{Tensor, write};
        write(&path, metadata, [Tensor::bytes("packed.0", bytes)]).expect("a written file");
        Network::load(&path)
    };
    assert!(write(&metadata, &good).is_ok());
    for len in (0..good.len()).step_by(50) {
        assert!(write(&metadata, &good[..len]).is_err(), "cut off at {len}");
    }
    for place in (0..good.len()).step_by(40) {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        // It may be another network by chance, but it never panics.
        if let Ok(network) = write(&metadata, &bad) {
            assert!(weights(&network).iter().all(|weight| weight.is_finite()));
        }
    }
    for step in ["", "0", "nan", "-8", "1e30"] {
        metadata.insert("packed_step".into(), step.into());
        assert!(write(&metadata, &good).is_err(), "step {step}");
    }
}
