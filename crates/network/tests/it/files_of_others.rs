//! Importing and exporting other programs' files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use afterstate_game::{Afterstate, Symmetry, game_rng};
use afterstate_network::{
    Network, NetworkSpec, Tuples,
    file::{
        FileProblem, Format, ModelInfo, jaskowski, metadata,
        safetensors::{self, TensorFile},
        tdl2048::{self, WeightFile},
    },
};
use rand_core::Rng;

/// A file written by TDL2048+ itself, if available.
fn fixture(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/tdl2048").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// A network of integers, many of them 0.
fn network(tuples: &str, symmetric: bool) -> Network {
    let tuples = Tuples::new(tuples.split(' ').map(|tuple| tuple.parse().unwrap()).collect()).unwrap();
    let network = Network::new(NetworkSpec { tuples, symmetric, ..NetworkSpec::default() }).unwrap();
    for i in 0..network.spec().tuples.as_slice().len() {
        let weight = |index: u64| {
            if (index / 16).is_multiple_of(3) { 0.0 } else { (index * (2 * i as u64 + 1)) as f32 }
        };
        network.set_table(i, (0..).map(weight));
    }
    network
}

fn same(a: &Network, b: &Network) -> bool {
    let tuples = a.spec().tuples.as_slice().len();
    a.spec() == b.spec() && (0..tuples).all(|i| a.table(i).eq(b.table(i)))
}

fn check_values(name: &str) {
    let (Some(weights), Some(values)) =
        (fixture(&format!("{name}.w")), fixture(&format!("{name}.values.txt")))
    else {
        return;
    };
    let network = WeightFile::open(&weights).unwrap().network().unwrap();
    let text = fs::read_to_string(values).unwrap();
    assert_eq!(text.lines().count(), 2_000);
    for line in text.lines() {
        let (board, value) = line.split_once(' ').unwrap();
        let expected: f64 = value.parse().unwrap();
        let found = f64::from(network.value(board.parse::<Afterstate<4>>().unwrap()));
        assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{board}: {found}, not {expected}");
    }
}

#[test]
fn values_are_those_of_tdl2048() {
    check_values("5x4patt");
    check_values("2x4patt-tc");
}

#[test]
fn files_of_tdl2048_come_back_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let (model, back) = (directory.path().join("model.safetensors"), directory.path().join("back.w"));
    for (name, tuples, coherence) in [("5x4patt.w", "5x4", false), ("2x4patt-tc.w", "2x4", true)] {
        let Some(original) = fixture(name) else { return };
        assert_eq!(Format::detect(&original).unwrap(), Format::Tdl2048);
        let file = WeightFile::open(&original).unwrap();
        assert_eq!((file.spec().tuples.name(), file.has_coherence()), (Some(tuples), coherence));
        safetensors::write(&model, &metadata(file.spec(), &Default::default()), file.tensors()).unwrap();
        assert_eq!(Format::detect(&model).unwrap(), Format::Model);

        let file = TensorFile::open(&model).unwrap();
        let info = ModelInfo::of(&file).unwrap();
        assert_eq!(info.has_coherence, coherence);
        tdl2048::export(&back, &info.spec, file.names().map(|name| file.to_tensor(name).unwrap())).unwrap();
        assert!(fs::read(&original).unwrap() == fs::read(&back).unwrap(), "{name}");

        let network = Network::load(&model).unwrap();
        tdl2048::export(&back, network.spec(), network.tensors()).unwrap();
        assert_eq!(fs::read(&original).unwrap() == fs::read(&back).unwrap(), !coherence);
        assert!(same(&network, &WeightFile::open(&back).unwrap().network().unwrap()));
    }
}

#[test]
fn damaged_w_files_never_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.w");
    let network = network("012 c 4567", true);
    tdl2048::export(&path, network.spec(), network.tensors()).unwrap();
    assert!(same(&network, &WeightFile::open(&path).unwrap().network().unwrap()));
    let good = fs::read(&path).unwrap();
    let mut rng = game_rng(3, 0);
    for trial in 0..2_000 {
        let mut bad = good.clone();
        // Half of them in the headers of the first tables.
        let range = if trial % 2 == 0 { good.len() } else { 40 };
        let place = rng.next_u64() as usize % range;
        match trial % 4 {
            0 | 1 => bad.truncate(place),
            _ => bad[place] = rng.next_u32() as u8,
        }
        fs::write(&path, &bad).unwrap();
        match WeightFile::open(&path) {
            Ok(file) => assert_eq!(bad.len(), good.len(), "{}", file.spec().tuples),
            Err(error) => assert!(error.to_string().contains("bad.w: "), "{error}"),
        }
    }
}

#[test]
fn what_w_files_cannot_hold_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.w");
    let network = network("0123", false);
    let error = tdl2048::export(&path, network.spec(), network.tensors()).unwrap_err();
    assert!(error.to_string().contains("symmetric = false"), "{error}");
    let spec = NetworkSpec { symmetric: true, ..network.spec().clone() };
    let error = tdl2048::export(&path, &spec, []).unwrap_err();
    assert!(matches!(error.problem, FileProblem::MissingTensor(_)), "{error}");
    assert!(!path.exists());
}

/// A player file as Jaśkowski's program writes it, with the same tables for each stage.
fn player_file(network: &Network, compressed: bool, stage_bits: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let number = |file: &mut Vec<u8>, n: usize| file.extend((n as i32).to_le_bytes());
    let tuples = network.spec().tuples.as_slice();
    let symmetries = if network.spec().symmetric { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
    for n in [if compressed { 1 } else { 2 }, 16, stage_bits as usize] {
        number(&mut file, n);
    }
    for _ in 0..1 << stage_bits {
        number(&mut file, tuples.len());
        for (i, tuple) in tuples.iter().enumerate() {
            number(&mut file, tuple.len());
            number(&mut file, symmetries.len());
            // Their order of the images differs from ours.
            let rest = symmetries[1..].iter().rev();
            for symmetry in symmetries[..1].iter().chain(rest) {
                let image = tuple.image(*symmetry, 4);
                image.cells().iter().for_each(|&cell| number(&mut file, cell.into()));
            }
            let ours: Vec<f32> = network.table(i).collect();
            let index = |digits: Vec<usize>| digits.iter().fold(0, |index, digit| 16 * index + digit);
            let digits = |theirs: usize| (0..tuple.len()).map(move |j| theirs >> (4 * j) & 15).collect();
            let theirs: Vec<f32> = (0..ours.len()).map(|theirs| ours[index(digits(theirs))]).collect();
            for block in theirs.chunks(16) {
                if compressed && block.iter().all(|&weight| weight == 0.0) {
                    file.extend(f32::NEG_INFINITY.to_le_bytes());
                } else {
                    file.extend(block.iter().flat_map(|weight| weight.to_le_bytes()));
                }
            }
        }
    }
    file
}

#[test]
fn player_files_of_jaskowski_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("eval-function.bin");
    for symmetric in [true, false] {
        let network = network("0123 569a 012", symmetric);
        for compressed in [true, false] {
            fs::write(&path, player_file(&network, compressed, 0)).unwrap();
            assert_eq!(Format::detect(&path).unwrap(), Format::Jaskowski);
            assert!(same(&network, &jaskowski::import(&path).unwrap()));

            let staged = player_file(&network, compressed, 2);
            fs::write(&path, &staged).unwrap();
            let imported = jaskowski::import(&path).unwrap();
            let spec = imported.spec();
            assert_eq!((spec.stages.to_string().as_str(), spec.promotion), ("2^2-carried", true));
            let tables = network.spec().tables();
            assert!((0..4 * tables).all(|i| imported.table(i).eq(network.table(i % tables))));
            fs::write(&path, &staged[..staged.len() - 1]).unwrap();
            let error = jaskowski::import(&path).map(drop).unwrap_err();
            assert!(matches!(error.problem, FileProblem::CutOff { .. }), "checked to the end first: {error}");
        }
    }
}

#[test]
fn damaged_player_files_never_panic() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad.bin");
    let good = player_file(&network("012 3", true), true, 0);
    let mut rng = game_rng(4, 0);
    for trial in 0..1_000 {
        let mut bad = good.clone();
        let range = if trial % 2 == 0 { good.len() } else { 60 };
        let place = rng.next_u64() as usize % range;
        if trial % 4 < 2 {
            bad.truncate(place)
        } else {
            bad[place] = rng.next_u32() as u8
        }
        fs::write(&path, &bad).unwrap();
        if let Err(error) = jaskowski::import(&path) {
            assert!(error.to_string().contains("bad.bin: "), "{error}");
        } else {
            assert!(trial % 4 >= 2, "cut off at {place}");
        }
    }
}
