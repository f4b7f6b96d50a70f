//! The bodies of the fuzz targets as ordinary tests: on the seed corpus, and on copies of it that proptest has mutated.

#[path = "../../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "it is a crate of its own for the fuzzer")]
mod bodies;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use afterstate_dcnn::{Architecture, Dcnn, DcnnSpec};
use afterstate_endgame::{Endgame, Precision, Set, Solver, Table};
use afterstate_game::Rules;
use afterstate_lab::{
    deal::Part,
    evaluate::{KeptGames, KeptHeader, PlayOutcome},
    recipe::Recipe,
    records::{About, Recorder, shards},
    review,
    run::{Directory, Run},
    stats::GameResult,
};
use afterstate_network::{
    Network, NetworkSpec, Tuples,
    file::packed::{Packed, StageCoding},
};
use afterstate_search::Random;
use afterstate_solver::{Objective, Space};
use proptest::{collection::vec, prelude::*, test_runner::TestRunner};

/// Mutated copies of the corpus for each target.
const CASES: u32 = 150;

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target)
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(corpus(target)).unwrap_or_else(|_| panic!("{target} has no corpus"));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// A mutation of some bytes.
#[derive(Clone, Debug)]
enum Change {
    Flip(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    /// A number that tends to break programs.
    Number(prop::sample::Index, u64),
    Cut(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let numbers = prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1 << 31),
        Just(1 << 63),
        Just(u64::from(u32::MAX)),
        any::<u64>()
    ];
    prop_oneof![
        6 => (at(), 1u8..).prop_map(|(at, bits)| Change::Flip(at, bits)),
        2 => (at(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        2 => (at(), 1usize..9).prop_map(|(at, count)| Change::Remove(at, count)),
        2 => (at(), numbers).prop_map(|(at, number)| Change::Number(at, number)),
        1 => at().prop_map(Change::Cut),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match change {
        Change::Flip(at, bits) => bytes[at.index(len)] ^= bits,
        Change::Insert(at, more) => drop(bytes.splice(at.index(len)..at.index(len), more.iter().copied())),
        Change::Remove(at, count) => drop(bytes.drain(at.index(len)..(at.index(len) + count).min(len))),
        Change::Number(at, number) => {
            let at = at.index(len);
            bytes[at..].iter_mut().zip(number.to_le_bytes()).for_each(|(byte, new)| *byte = new);
        }
        Change::Cut(at) => bytes.truncate(at.index(len)),
    }
}

#[test]
fn parsers_take_anything() {
    for (target, body) in bodies::TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target} has no seeds");
        seeds.iter().for_each(|seed| body(seed));
        let config = ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() };
        let input = (any::<prop::sample::Index>(), vec(change(), 1..5));
        let result = TestRunner::new(config).run(&input, |(seed, changes)| {
            let mut bytes = seed.get(&seeds).clone();
            changes.iter().for_each(|change| apply(&mut bytes, change));
            body(&bytes);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{target}: {error}"));
    }
}

/// The binary seeds are complete files, which their readers accept.
#[test]
fn seeds_are_accepted() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("file");
    let each = |target: &str, accepts: &dyn Fn(&Path) -> bool| {
        for seed in seeds(target) {
            fs::write(&path, seed).expect("a file");
            assert!(accepts(&path), "{target}");
        }
    };
    each("safetensors", &|path| Network::load(path).is_ok());
    each("packed", &|path| Network::load(path).is_ok());
    each("solution", &|path| afterstate_solver::Solution::<2>::open(path).is_ok());
    each("endgame_table", &|path| Table::open(path).is_ok());
    each("weights_w", &|path| afterstate_network::file::tdl2048::WeightFile::open(path).is_ok());
    each("jaskowski_player", &|path| afterstate_network::file::jaskowski::import(path).is_ok());
    each("dcnn_model", &|path| Dcnn::load(path).is_ok());
    each("endgame_set", &|path| {
        Set::parse("x.toml", &fs::read_to_string(path).expect("text")).is_ok_and(|set| !set.tables.is_empty())
    });
    each("game_text", &|path| review::parse(&fs::read_to_string(path).expect("text"), 500).is_ok());
    each("parquet", &|path| afterstate_lab::records::Shard::read(path).is_ok());
    each("checkpoint", &|path| {
        let directory = Directory::new(folder.path().join("run"));
        fs::create_dir_all(directory.path().join("checkpoint")).expect("a directory");
        fs::copy(path, directory.checkpoint()).expect("a file");
        let recipe = Recipe::parse("x", "x.toml", bodies::CHECKPOINT_RECIPE, &[]).expect("a recipe");
        Run::resume(directory, recipe).is_ok_and(|run| run.train(&AtomicBool::new(true), &mut ()).is_ok())
    });
}

/// Regenerates the binary seeds: `UPDATE_CORPUS=1 cargo test -p afterstate --test parsers`.
#[test]
fn the_corpus_can_be_made_anew() {
    let folder = tempfile::tempdir().expect("a directory");
    let update = std::env::var_os("UPDATE_CORPUS").is_some();
    let place = |target: &str, name: &str| {
        let path = if update { corpus(target).join(name) } else { folder.path().join(target).join(name) };
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        path
    };
    let tuples =
        |text: &str| Tuples::new(text.split(' ').map(|tuple| tuple.parse().expect("a tuple")).collect());
    let network = |side, text: &str, tile_values| {
        let spec = NetworkSpec {
            side,
            tuples: tuples(text).expect("tuples"),
            tile_values,
            ..NetworkSpec::default()
        };
        let network = Network::new(spec).expect("a network");
        network.set_table(0, (0..).map(|i: u32| (i % 7) as f32));
        network
    };
    let origin = [("recipe".to_owned(), "budget.actions = 1\n".to_owned())].into();
    network(4, "01 12", 6).save(&place("safetensors", "plain"), &origin).expect("a file");
    let staged = NetworkSpec { stages: "256".parse().expect("stages"), ..network(4, "01", 5).spec().clone() };
    Network::new(staged)
        .expect("a network")
        .save(&place("safetensors", "staged"), &[].into())
        .expect("a file");
    let packed =
        Packed::new(&network(3, "012 34", 6), StageCoding::Apart, 1.0, |_| 1).expect("a packed network");
    packed.save(&place("packed", "plain"), &[].into()).expect("a file");
    let stages =
        NetworkSpec { stages: "256".parse().expect("stages"), ..network(3, "012", 5).spec().clone() };
    let stages = Network::new(stages).expect("a network");
    (0..2).for_each(|table| stages.set_table(table, (0..).map(|i: u32| ((i + table as u32) % 9) as f32)));
    let packed = Packed::new(&stages, StageCoding::Differences, 0.5, |_| 2).expect("a packed network");
    packed.save(&place("packed", "staged"), &[].into()).expect("a file");
    let small = network(4, "0 1", 16);
    afterstate_network::file::tdl2048::export(&place("weights_w", "plain"), small.spec(), small.tensors())
        .expect("a file");
    let three = network(4, "01 12 4", 16);
    afterstate_network::file::tdl2048::export(&place("weights_w", "three"), three.spec(), three.tensors())
        .expect("a file");
    let solve = |objective| Space::<2>::enumerate(&Rules::default(), 1, |_| ()).solve(objective, 1, |_| ());
    solve(Objective::Score).save(&place("solution", "score")).expect("a file");
    solve(Objective::Goal(4)).save(&place("solution", "goal")).expect("a file");

    let shapes = ["FFFF/FFFF/FFF./....", "FFFF/FFFF/FF.F/...."];
    let endgame = Endgame::parse(&shapes, 16).expect("an endgame");
    let placed = endgame.clone().with_place("..../..../...F/....".parse().expect("cells")).expect("a place");
    for (name, endgame, precision) in [("made", endgame, Precision::U8), ("placed", placed, Precision::F32)] {
        let solver = Solver::new(&endgame).expect("a solver");
        solver.solve_to(&place("endgame_table", name), precision, &mut |_| true).expect("a file");
    }

    // Two tables of one cell each, with one image, as Jaśkowski's program writes them.
    let mut player: Vec<u8> = [2i32, 16, 0, 2].iter().flat_map(|number| number.to_le_bytes()).collect();
    for cell in 0..2i32 {
        player.extend([1, 1, cell].iter().flat_map(|number: &i32| number.to_le_bytes()));
        player.extend((0..16).flat_map(|weight| (weight as f32).to_le_bytes()));
    }
    fs::write(place("jaskowski_player", "plain"), player).expect("a file");
    // The same, compressed: the second table is a block of zeros.
    let mut player: Vec<u8> = [1i32, 16, 0, 2].iter().flat_map(|number| number.to_le_bytes()).collect();
    player.extend([1i32, 1, 0].iter().flat_map(|number| number.to_le_bytes()));
    player.extend((0..16).flat_map(|weight| (weight as f32).to_le_bytes()));
    player.extend([1i32, 1, 1].iter().flat_map(|number| number.to_le_bytes()));
    player.extend(f32::NEG_INFINITY.to_le_bytes());
    fs::write(place("jaskowski_player", "compressed"), player).expect("a file");
    let spec = DcnnSpec { architecture: Architecture::Dcnn { layers: 2, channels: 3 }, tile_values: 6 };
    Dcnn::new(spec, 1).save(&place("dcnn_model", "policy"), &[].into()).expect("a file");
    let spec = DcnnSpec { architecture: Architecture::Tjwei { first: 2, second: 3 }, tile_values: 6 };
    Dcnn::new(spec, 2).save(&place("dcnn_model", "value"), &[].into()).expect("a file");

    let recipe = Recipe::parse("x", "x.toml", bodies::CHECKPOINT_RECIPE, &[]).expect("a recipe");
    let directory = Directory::new(folder.path().join("begun"));
    let begun = Run::start(directory.clone(), recipe.clone()).expect("a run");
    begun.train(&AtomicBool::new(true), &mut ()).expect("a checkpoint");
    fs::copy(directory.checkpoint(), place("checkpoint", "begun")).expect("a file");
    let directory = Directory::new(folder.path().join("run"));
    Run::start(directory.clone(), recipe)
        .expect("a run")
        .train(&AtomicBool::new(false), &mut ())
        .expect("a run");
    fs::copy(directory.checkpoint(), place("checkpoint", "plain")).expect("a file");
    fs::copy(directory.log(), place("json_lines", "training")).expect("a file");

    let [model, checksum, search, version] = ["none", "0", "random", "0"].map(str::to_owned);
    let about = About { model, checksum, search, seed: 3, four: 0.1, start_tiles: 2, version };
    let records = folder.path().join("records");
    for (name, games, four) in [("two-games", 2, about.four), ("one-game", 1, 0.5)] {
        let (directory, about) = (records.join(name), About { four, ..about.clone() });
        let recorder = Recorder { directory: &directory, about, games, part: Part::WHOLE, threads: 1 };
        recorder.record(|_| Random, |_, _| true).expect("records");
        fs::copy(&shards(&directory).expect("shards")[0], place("parquet", name)).expect("a file");
    }

    let path = place("json_lines", "games");
    fs::remove_file(&path).ok();
    let (model, checksum, search) = ("m".into(), "c".into(), "1ply".into());
    let header = KeptHeader { model, checksum, search, seed: 1, collect: None, share: None };
    let (mut kept, _) = KeptGames::open(&path, &header).expect("a file");
    let result = GameResult { game: 0, score: 8, max_exponent: 3, moves: 5 };
    kept.add(&PlayOutcome { results: vec![result], ..PlayOutcome::default() }, 1.5).expect("written");
    let position = r#"{"step":16384,"board":"eeda/0000/0000/0000","game":1,"score":9}"#;
    fs::write(place("json_lines", "positions"), format!("{position}\n")).expect("a file");
}
