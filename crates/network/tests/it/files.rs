//! Model files: loading returns what was saved, and damage is always detected.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use afterstate_game::game_rng;
use afterstate_network::{
    Network, NetworkSpec, Tuples, ValueRanges,
    file::{
        FileProblem, ModelInfo,
        atomic::write_atomically,
        safetensors::{self, Part, Tensor, TensorFile},
    },
};
use rand_core::Rng;

fn network(side: usize, tuples: &str, tile_values: usize, symmetric: bool) -> Network {
    let tuples = Tuples::new(tuples.split(' ').map(|tuple| tuple.parse().unwrap()).collect()).unwrap();
    filled(NetworkSpec { side, tuples, tile_values, symmetric, ..NetworkSpec::default() })
}

/// A network with random weights.
fn filled(spec: NetworkSpec) -> Network {
    let network = Network::new(spec).unwrap();
    let mut rng = game_rng(1, network.spec().side as u64);
    for i in 0..network.spec().tables() {
        let numbers = std::iter::from_fn(|| Some(rng.next_u32() as i32 as f32 / 65_536.0));
        network.set_table(i, numbers);
    }
    network
}

fn extra() -> BTreeMap<String, String> {
    [("recipe".to_string(), "[network]\ntuples = \"…\"".to_string()), ("actions".into(), "17".into())].into()
}

fn same(a: &Network, b: &Network) -> bool {
    a.spec() == b.spec()
        && (0..a.spec().tables()).all(|i| a.table(i).map(f32::to_bits).eq(b.table(i).map(f32::to_bits)))
}

/// The names in a directory.
fn entries(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn what_is_saved_is_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    for network in [
        network(4, "0123 4567 01245 01246", 16, true),
        network(4, "0123 048c", 18, false),
        network(3, "0125 87", 11, true),
        filled(NetworkSpec {
            tuples: Tuples::named("4x5").unwrap(),
            tile_values: 18,
            ranges: Some(ValueRanges::parse("1-7 8-13 14-17", 18).unwrap()),
            stages: "16384 16384+8192".parse().unwrap(),
            promotion: true,
            initial: vec![320_000.0],
            ..NetworkSpec::default()
        }),
        filled(NetworkSpec {
            tuples: Tuples::new(["01245", "012", "45689"].map(|t| t.parse().unwrap()).into()).unwrap(),
            ranges: Some(ValueRanges::parse("1-8 9-15 from 5", 16).unwrap()),
            ..NetworkSpec::default()
        }),
    ] {
        network.save(&path, &extra()).unwrap();
        assert!(same(&network, &Network::load(&path).unwrap()));
        let info = ModelInfo::read(&path).unwrap();
        assert_eq!(
            info,
            ModelInfo {
                spec: network.spec().clone(),
                extra: extra(),
                has_coherence: false,
                is_packed: false
            }
        );
    }
    assert_eq!(entries(directory.path()), ["model.safetensors"], "no temporary is left");
}

#[test]
fn the_tables_are_in_the_order_of_eq_3_and_others_can_read_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    let network = network(4, "013 5", 16, true);
    network.set_table(0, (0..4096).map(|index| index as f32));
    network.save(&path, &extra()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let tensors = ::safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let table = tensors.tensor("V.0").unwrap();
    assert_eq!((table.shape(), table.data().as_ptr().align_offset(4)), (&[4096][..], 0));
    let (e0, e1, e3) = (3, 7, 11);
    let at = 4 * (e0 + 16 * e1 + 256 * e3);
    let weight = f32::from_le_bytes(table.data()[at..at + 4].try_into().unwrap());
    assert_eq!(weight, (e0 + 16 * e1 + 256 * e3) as f32);
    let (_, metadata) = ::safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = metadata.metadata().clone().unwrap();
    assert_eq!((&metadata["format"][..], &metadata["tuples"][..]), ("afterstate-network", "013 5"));
}

#[test]
fn a_damaged_model_is_refused_or_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    let network = network(3, "012 3 45", 5, true);
    network.save(&path, &extra()).unwrap();
    let good = fs::read(&path).unwrap();
    let mut rng = game_rng(2, 0);
    let mut refused = 0;
    for trial in 0..3_000 {
        let mut bad = good.clone();
        let place = rng.next_u64() as usize % good.len();
        match trial % 3 {
            0 => bad.truncate(place),
            1 => bad[place] ^= 1 << (rng.next_u32() % 8),
            _ => bad[place] = rng.next_u32() as u8,
        }
        fs::write(&path, &bad).unwrap();
        match Network::load(&path) {
            Ok(loaded) => assert!(same(&network, &loaded), "trial {trial}, byte {place}"),
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(message.contains("model.safetensors: ") && message.len() > 40, "{message}");
            }
        }
    }
    assert!(refused > 2_900, "{refused}");
    fs::write(&path, [&good[..], b"x"].concat()).unwrap();
    assert!(matches!(Network::load(&path).map_err(|e| e.problem), Err(FileProblem::DataLength { .. })));
}

#[test]
fn a_hostile_header_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bad");
    let tensor = |dtype: &str, shape: &str, offsets: &str| {
        format!(
            "{{\"__metadata__\":{{}},\"V.0\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":{offsets}}}}}"
        )
    };
    for header in [
        String::new(),
        "{".repeat(10_000),
        "[]".into(),
        "{}".into(),
        "{\"__metadata__\":{\"a\":1}}".into(),
        tensor("F32", "[1]", "[0,4]"),
        tensor("F32", "[18446744073709551615]", "[0,18446744073709551615]"),
        tensor("F32", "[18446744073709551616]", "[0,4]"),
        tensor("F64", "[-1]", "[4,0]"),
    ] {
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat();
        fs::write(&path, bytes).unwrap();
        assert!(TensorFile::open(&path).is_err(), "{header}");
    }
    fs::write(&path, [0xff; 64]).unwrap();
    assert!(TensorFile::open(&path).is_err());
    assert!(TensorFile::open(directory.path()).is_err(), "a directory");
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.safetensors");
    let network = network(3, "012 3", 5, true);
    network.save(&path, &extra()).unwrap();
    let good = fs::read(&path).unwrap();
    network.set_table(1, [0.0, f32::NAN]);
    let error = network.save(&path, &extra()).unwrap_err();
    assert!(
        matches!(&error.problem, FileProblem::NotFinite { table, index: 1, .. } if table == "V.1"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), good, "the old file is as it was");
    assert_eq!(entries(directory.path()).len(), 1);
}

#[test]
fn tensors_of_any_kind_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let numbers: Vec<f32> = (0..100_000).map(|i| i as f32 * 0.25).collect();
    let tensors = [Tensor::new("A.0", 100_000, numbers.iter().copied()), Tensor::new("none", 0, [])];
    safetensors::write(&path, &extra(), tensors).unwrap();
    let file = TensorFile::open(&path).unwrap();
    assert!(file.names().eq(["A.0", "none"]));
    assert_eq!((file.len_of("A.0"), file.len_of("B"), file.metadata()), (Some(100_000), None, &extra()));
    assert!(file.tensor("A.0").unwrap().iter().eq(numbers.iter().copied()));
    assert!(file.tensor("none").unwrap().is_empty());
    assert!(matches!(file.tensor("B").map_err(|e| e.problem), Err(FileProblem::MissingTensor(_))));

    let short = safetensors::write(&path, &extra(), [Tensor::new("a", 3, [1.0, 2.0])]).unwrap_err();
    assert!(matches!(short.problem, FileProblem::TableLength { expected: 3, found: 2, .. }), "{short}");
    let twice = [Tensor::new("a", 1, [1.0]), Tensor::new("a", 1, [2.0])];
    assert!(matches!(safetensors::write(&path, &extra(), twice).unwrap_err().problem, FileProblem::Twice(_)));
}

/// Three tables with a few nonzero numbers, those of V multiples of those of E.
fn sparse_tables(len: usize, visited: usize) -> [Vec<f32>; 3] {
    let mut tables = [vec![0.0; len], vec![0.0; len], vec![0.0; len]];
    for i in 0..visited {
        let (at, error) = (i * (len / visited), (i as f32 * 0.7).sin() * 40.0);
        let numbers = [error / 16.0, error, if i % 3 == 0 { error.abs() } else { 50.0 + i as f32 }];
        tables.iter_mut().zip(numbers).for_each(|(table, number)| table[at] = number);
    }
    tables
}

fn sparse_part<'a>(tables: &'a [Vec<f32>], names: &[&str]) -> Part<'a> {
    let tensor =
        |(name, table): (&&str, &'a Vec<f32>)| Tensor::new(*name, table.len() as u64, table.iter().copied());
    Part::Sparse(names.iter().zip(tables).map(tensor).collect())
}

#[test]
fn tables_that_are_stored_together_come_back_bit_for_bit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    // Lengths around a byte of the bitmap and a block, and one that is compressed while streaming.
    for (len, visited) in [(0, 1), (1, 1), (9, 2), (131_072, 70), (131_073, 131_073), (3_000_000, 700_000)] {
        let mut tables = sparse_tables(len.max(1), visited);
        tables.iter_mut().for_each(|table| table.truncate(len));
        if let Some(last) = tables[1].last_mut() {
            *last = -0.0;
        }
        let parts =
            [Tensor::new("plain", 2, [1.0, 2.0]).into(), sparse_part(&tables, &["V.0", "E.0", "A.0"])];
        safetensors::write(&path, &extra(), parts).unwrap();
        let file = TensorFile::open(&path).unwrap();
        assert!(file.names().eq(["A.0", "E.0", "V.0", "plain"]));
        assert_eq!(file.metadata(), &extra());
        for (name, table) in ["V.0", "E.0", "A.0"].into_iter().zip(&tables) {
            assert_eq!(file.shape_of(name), Some(&[len as u64][..]));
            let numbers = file.numbers(name).unwrap();
            let bits = |number: f32| number.to_bits();
            assert!(numbers.floats().iter().map(bits).eq(table.iter().copied().map(bits)), "{name} {len}");
        }
        assert!(file.numbers("plain").unwrap().floats().iter().eq([1.0, 2.0]));
    }
}

#[test]
fn what_is_0_takes_no_room() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    // 16^6 weights, the table of a 6-tuple: 192 MiB uncompressed.
    for (visited, most) in [(1, 2_000), (1_000, 16_000), (100_000, 1_200_000)] {
        let tables = sparse_tables(1 << 24, visited);
        safetensors::write(&path, &extra(), [sparse_part(&tables, &["V.0", "E.0", "A.0"])]).unwrap();
        let bytes = fs::metadata(&path).unwrap().len();
        assert!(bytes < most, "{visited} weights take {bytes} bytes");
    }
}

#[test]
fn damaged_tables_that_are_stored_together_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let open = |content: &[u8], shape: &str| {
        let metadata = [("sparse.V.0+E.0".to_owned(), shape.to_owned())].into();
        let frame = zstd::bulk::compress(content, 1).unwrap();
        safetensors::write(&path, &metadata, [Tensor::bytes("sparse.V.0+E.0", &frame)]).unwrap();
        let file = TensorFile::open(&path).unwrap();
        file.numbers("V.0").map(|numbers| numbers.into_iter().collect::<Vec<_>>()).map_err(|e| e.problem)
    };
    // Version 1; of three numbers the second is not 0: V = 3 and E = 2.
    let difference = 3.0f32.to_bits().wrapping_sub(2.0f32.to_bits()).to_le_bytes();
    let good = [&[1, 0b10][..], &difference, &2.0f32.to_le_bytes()].concat();
    assert_eq!(open(&good, "3").unwrap(), [0.0, 3.0, 0.0]);
    let later = [&[2], &good[1..]].concat();
    assert!(
        matches!(open(&later, "3"), Err(FileProblem::Unsupported(message)) if message.contains("later version"))
    );
    let beyond = [&[1, 0b1010][..], &good[2..], &good[2..]].concat();
    let trailing = [&good[..], &[0]].concat();
    for (content, shape) in [
        (&good[..good.len() - 1], "3"),
        (&trailing, "3"),
        (&beyond, "3"),
        (&good, "9"),
        (&good, "99999999999"),
        (&[], "3"),
    ] {
        assert!(matches!(open(content, shape), Err(FileProblem::Packed(_))), "{content:?} {shape}");
    }
    let infinite = [&[1, 0b10][..], &[0; 4], &f32::INFINITY.to_le_bytes()].concat();
    assert!(matches!(open(&infinite, "3"), Err(FileProblem::NotFinite { .. })));
    let metadata = [("sparse.V.0+V.0".to_owned(), "3".to_owned())].into();
    safetensors::write(&path, &metadata, [Tensor::bytes("sparse.V.0+V.0", &good)]).unwrap();
    assert!(matches!(TensorFile::open(&path).map_err(|e| e.problem), Err(FileProblem::Twice(_))));

    let uneven = Part::Sparse(vec![Tensor::new("V.0", 2, [1.0, 2.0]), Tensor::new("E.0", 2, [1.0])]);
    let error = safetensors::write(&path, &extra(), [uneven]).unwrap_err();
    assert!(matches!(error.problem, FileProblem::TableLength { expected: 1, found: 2, .. }), "{error}");
    let short = Part::Sparse(vec![Tensor::new("V.0", 2, [1.0])]);
    let error = safetensors::write(&path, &extra(), [short]).unwrap_err();
    assert!(matches!(error.problem, FileProblem::TableLength { expected: 2, found: 1, .. }), "{error}");
}

#[test]
fn older_checkpoints_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("checkpoint");
    let numbers: Vec<f32> = (0..1000).map(|i| if i % 7 == 0 { i as f32 } else { 0.0 }).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let frame = zstd::bulk::compress(&bytes, 1).unwrap();
    let write = |shape: &str| {
        let metadata = [("zstd.E.0".to_owned(), shape.to_owned())].into();
        safetensors::write(&path, &metadata, [Tensor::bytes("zstd.E.0", &frame)]).unwrap();
        TensorFile::open(&path).unwrap()
    };
    let file = write("1000");
    assert!(file.names().eq(["E.0"]) && file.metadata().is_empty());
    assert!(file.numbers("E.0").unwrap().floats().iter().eq(numbers.iter().copied()));
    for wrong in ["999", "1001"] {
        assert!(matches!(
            write(wrong).numbers("E.0").map_err(|e| e.problem).err(),
            Some(FileProblem::Packed(_))
        ));
    }
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "old").unwrap();
    let full = write_atomically(&path, |file| {
        file.write_all(b"new")?;
        let mut full = File::create("/dev/full").map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        full.write_all(b"new")
    });
    let message = full.unwrap_err().to_string();
    assert!(message.contains("file: cannot be written: the disk is full"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(entries(directory.path()), ["file"]);
    let nowhere = write_atomically(&directory.path().join("no/such/file"), |_| Ok::<(), io::Error>(()));
    assert!(nowhere.unwrap_err().to_string().contains("no/such/file: cannot be written: "));
}

#[test]
fn only_abandoned_temporaries_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(directory.path().join(".file.tmp-1-0"), "left by a killed process").unwrap();
    fs::write(directory.path().join(".other.tmp-1-0"), "of another file").unwrap();
    write_atomically(&path, |file| {
        file.write_all(b"outer")?;
        // A second writer must not mistake the first one's temporary file for an abandoned one.
        write_atomically(&path, |file| file.write_all(b"inner")).map_err(io::Error::other)
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"outer");
    let mut names = entries(directory.path());
    names.sort();
    assert_eq!(names, [".other.tmp-1-0", "file"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (file, link) = (directory.path().join("file"), directory.path().join("link"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink("file", &link).unwrap();
    write_atomically(&link, |file| file.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(link.is_symlink());
    let device = write_atomically(Path::new("/dev/null"), |file| file.write_all(b"new"));
    assert!(matches!(device.unwrap_err().problem, FileProblem::NotRegular));
}

#[test]
fn several_writers_of_one_file_all_succeed() {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let path = folder.path().join("target");
    std::thread::scope(|scope| {
        for writer in 0..4u8 {
            let path = &path;
            scope.spawn(move || {
                for _ in 0..3000 {
                    write_atomically(path, |file| file.write_all(&[writer; 100])).unwrap();
                }
            });
        }
    });
    let content = fs::read(&path).unwrap();
    assert!(content.len() == 100 && content.iter().all(|&byte| byte == content[0]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporaries");
}

#[test]
fn a_file_that_is_cut_short_while_it_is_open_ends_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let network = network(4, "0123 4567", 16, true);
    network.save(&path, &extra()).unwrap();
    let file = TensorFile::open(&path).unwrap();
    // Like `cp`.
    File::create(&path).unwrap();
    let loaded = Network::from_file(&file).unwrap();
    assert!(loaded.table(0).eq(network.table(0)));
}
