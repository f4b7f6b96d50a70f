//! Compact models: the requested size, the same for any number of threads, and nearly the same values.

use afterstate_game::Rules;
use afterstate_lab::{
    compact::{CompactError, CompactProgress, CompactSettings, compact},
    deal::Deck,
    evaluate::{Games, evaluate},
};
use afterstate_network::{Network, NetworkSpec, Tuples, Values};

fn settings() -> CompactSettings {
    CompactSettings {
        bytes: 150_000,
        games: 6,
        seed: 1,
        rules: Rules::default(),
        downgrade: None,
        threads: 1,
    }
}

/// A network that prefers empty cells and large tiles, not too badly.
fn network(stages: &str, promotion: bool) -> Network {
    let tuples = "012345 456789".split(' ').map(|tuple| tuple.parse().expect("a tuple")).collect();
    let spec = NetworkSpec {
        tuples: Tuples::new(tuples).expect("tuples"),
        tile_values: 10,
        stages: stages.parse().expect("stages"),
        promotion,
        ..NetworkSpec::default()
    };
    let network = Network::new(spec).expect("a network");
    for table in 0..network.spec().tables() {
        let weight = |index: usize| {
            let labels = (0..6).map(|cell| index / 10usize.pow(cell) % 10);
            let worth = |label: usize| if label == 0 { 12.0 } else { label as f32 };
            let pairs = labels.clone().zip(labels.clone().skip(1)).filter(|(a, b)| a == b && *a > 0).count();
            labels.map(worth).sum::<f32>() + 5.0 * pairs as f32 + (index % 7) as f32 / 4.0
        };
        // Later stages have some weights that differ.
        let stage = network.spec().table_id(table).stage;
        let own = |index: usize| stage == 0 || !promotion || index.is_multiple_of(3);
        let len = network.spec().table_len(table) as usize;
        network.set_table(
            table,
            (0..len).map(|index| if own(index) { weight(index) + stage as f32 } else { 0.0 }),
        );
    }
    network
}

fn packed_bytes(network: &Network, settings: CompactSettings) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("compact");
    let packed = compact(network, settings, |_| true).expect("a compact model");
    packed.save(&path, &Default::default()).expect("a written file");
    std::fs::read(path).expect("the file")
}

fn mean_score(network: &Network) -> f64 {
    let games = Games { rules: Rules::default(), seed: 3, dealer: &Deck::new(200) };
    let results = evaluate(network, games, 2, |_| true).expect("games");
    results.iter().map(|result| result.score as f64).sum::<f64>() / 200.0
}

#[test]
fn a_compact_model_plays_like_its_source() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("compact");
    for (stages, promotion) in [("1", false), ("512", true), ("512", false)] {
        let source = network(stages, promotion);
        std::fs::write(&path, packed_bytes(&source, settings())).expect("a written file");
        let compact = Network::load(&path).expect("a model");
        assert!(!compact.spec().promotion && compact.spec().stages == source.spec().stages);
        // Small tuples replace what was dropped.
        assert!(compact.spec().tuples.to_string().starts_with("012345 456789 0123 4567 0145"));
        let (before, after) = (mean_score(&source), mean_score(&compact));
        assert!((after / before - 1.0).abs() < 0.15, "{before} became {after}");
    }
}

#[test]
fn the_file_is_as_large_as_it_may_be_and_the_same_for_any_number_of_threads() {
    let source = network("1", false);
    let settings = CompactSettings { bytes: 120_000, ..settings() };
    let one = packed_bytes(&source, settings);
    assert!(one.len() <= 120_000, "{}", one.len());
    assert_eq!(one, packed_bytes(&source, CompactSettings { threads: 2, ..settings }));
    assert_ne!(one, packed_bytes(&source, CompactSettings { seed: 2, ..settings }));
}

#[test]
fn it_can_be_stopped_and_refuses_what_it_cannot_do() {
    let source = network("1", false);
    let stopped = compact(&source, settings(), |progress| !matches!(progress, CompactProgress::Played(2)));
    assert!(matches!(stopped, Err(CompactError::Stopped)));
    let small = compact(&source, CompactSettings { bytes: 1000, ..settings() }, |_| true);
    assert!(matches!(small, Err(CompactError::Bytes(1000))));
    let tuples = Tuples::named("2x4").expect("a set");
    let states = Network::new(NetworkSpec { tuples, values: Values::States, ..NetworkSpec::default() });
    let states = compact(&states.expect("a network"), settings(), |_| true);
    assert!(matches!(states, Err(CompactError::Values(Values::States))));
}
