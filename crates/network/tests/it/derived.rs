//! Derived networks: folded ones have the same values, averages the mean values.

#[allow(dead_code, reason = "values are compared between networks here")]
use std::{collections::BTreeMap, path::PathBuf};

use afterstate_game::Afterstate;
use afterstate_network::{
    Network, NetworkSpec, Tuples, ValueRanges,
    derive::{average, fold},
    file::safetensors::TensorFile,
};
use tempfile::TempDir;

fn spec(tuples: &str, tile_values: usize) -> NetworkSpec {
    let tuples = Tuples::named(tuples).or_else(|_| {
        Tuples::new(tuples.split(' ').map(|tuple| tuple.parse().expect("a tuple written here")).collect())
    });
    NetworkSpec { tuples: tuples.expect("some tuples"), tile_values, ..NetworkSpec::default() }
}

/// A network of integers, so that sums are exact; `factor` makes different ones.
fn filled(spec: NetworkSpec, factor: f32) -> Network {
    let network = Network::new(spec).expect("a small network");
    crate::naive::fill(&network);
    for i in 0..network.spec().tables() {
        let weights: Vec<f32> = network.table(i).map(|weight| weight * factor).collect();
        network.set_table(i, weights);
    }
    network
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, network: &Network) -> TensorFile {
        network.save(&self.path(name), &BTreeMap::new()).expect("a written model");
        TensorFile::open(&self.path(name)).expect("a model")
    }

    fn fold(&self, network: &Network) -> Result<Network, String> {
        let file = self.file("a", network);
        fold(&file, &self.path("folded"), &BTreeMap::new()).map_err(|error| error.to_string())?;
        Ok(Network::load(&self.path("folded")).expect("a model"))
    }

    fn average(&self, networks: &[&Network]) -> Result<Network, String> {
        let file = |(i, network): (usize, &&Network)| self.file(&format!("{i}"), network);
        let files: Vec<_> = networks.iter().enumerate().map(file).collect();
        average(&files, &self.path("mean"), &BTreeMap::new()).map_err(|error| error.to_string())?;
        Ok(Network::load(&self.path("mean")).expect("a model"))
    }
}

fn values<const N: usize>(network: &Network) -> Vec<f32> {
    crate::naive::boards::<N>(3000).map(|board| network.value(Afterstate::new(board))).collect()
}

/// Shapes that cover everything a table can depend on.
fn redundant() -> Vec<(NetworkSpec, &'static str)> {
    let plain = spec("42-33-4-22-3", 6);
    let ranges = spec("0123 0145 01 0", 16);
    vec![
        (plain.clone(), "012345 456789 89abcd 012456 45689a"),
        (
            NetworkSpec { stages: "2^2".parse().expect("stages"), ..plain.clone() },
            "012345 456789 89abcd 012456 45689a",
        ),
        (
            NetworkSpec {
                stages: "2^2".parse().expect("stages"),
                promotion: true,
                initial: vec![320.0],
                ..plain
            },
            "012345 456789 89abcd 012456 45689a",
        ),
        (
            NetworkSpec { ranges: Some(ValueRanges::parse("1-5 5-10 11-15", 16).expect("ranges")), ..ranges },
            "0123 0145",
        ),
        // Plain tuples lie inside plain ones, split ones inside split ones.
        (
            NetworkSpec {
                ranges: Some(ValueRanges::parse("1-8 9-15 from 4", 16).expect("ranges")),
                ..spec("0123 0145 048c 012 01 0", 16)
            },
            "0123 0145 012",
        ),
        // 37 is an image of 01, but only symmetric sampling makes them one; 048c one of 0123.
        (spec("0123 048c 37 5", 9), "0123 5"),
        (NetworkSpec { symmetric: false, ..spec("0123 048c 37 32 3 5", 9) }, "0123 048c 37 5"),
    ]
}

#[test]
fn a_folded_network_has_the_same_values() {
    let place = Place::new();
    for (spec, tuples) in redundant() {
        let network = filled(spec, 1.0);
        let folded = place.fold(&network).expect("redundant tuples");
        assert_eq!(folded.spec().tuples.to_string(), tuples);
        assert!(!folded.spec().promotion);
        let (expected, found) = (values::<4>(&network), values::<4>(&folded));
        assert!(expected == found, "{tuples} {}", network.spec().stages);
        let in_memory = network.folded().expect("memory");
        assert_eq!(in_memory.is_none(), network.spec().promotion);
        if let Some(in_memory) = in_memory {
            assert_eq!(in_memory.spec(), folded.spec());
            let tables = 0..folded.spec().tables();
            assert!(
                tables.into_iter().all(|table| in_memory.table(table).eq(folded.table(table))),
                "{tuples}"
            );
        }
    }
    let small = NetworkSpec { side: 3, ..spec("012345 036 14 4 7", 11) };
    let (network, folded) = (filled(small.clone(), 1.0), place.fold(&filled(small, 1.0)).expect("redundant"));
    assert_eq!(folded.spec().tuples.to_string(), "012345");
    assert!(values::<3>(&network) == values::<3>(&folded));
}

#[test]
fn real_weights_fold_to_rounding() {
    let network = filled(spec("42-33-4-22-3", 6), 0.123_456_7);
    let folded = Place::new().fold(&network).expect("redundant tuples");
    for (a, b) in values::<4>(&network).into_iter().zip(values::<4>(&folded)) {
        assert!((a - b).abs() <= 1e-6 * a.abs(), "{a} and {b}");
    }
}

#[test]
fn what_is_not_redundant_cannot_be_folded() {
    assert!(filled(spec("0123 0145", 6), 1.0).folded().expect("memory").is_none());
    let error = Place::new().fold(&filled(spec("0123 0145", 6), 1.0)).map(drop).expect_err("no redundance");
    assert!(error.contains("nothing to fold") && error.contains("0123 0145"), "{error}");
}

#[test]
fn an_average_has_the_mean_values() {
    let place = Place::new();
    for (spec, _) in redundant() {
        let networks = [1.0, 2.0, 6.0].map(|factor| filled(spec.clone(), factor));
        let mean = place.average(&networks.each_ref()).expect("equal shapes");
        let each = networks.each_ref().map(values::<4>);
        for (i, mean) in values::<4>(&mean).into_iter().enumerate() {
            assert_eq!(mean, (each[0][i] + each[1][i] + each[2][i]) / 3.0);
        }
    }
}

/// A weight that only one of the networks has promoted counts with the weight it stands for.
#[test]
fn promotion_is_resolved_before_the_mean_is_taken() {
    let spec = NetworkSpec { stages: "16384".parse().expect("stages"), promotion: true, ..spec("0123", 16) };
    let networks = [[3.0, 0.0], [5.0, 7.0]].map(|weights: [f32; 2]| {
        let network = Network::new(spec.clone()).expect("a small network");
        (0..2).for_each(|table| network.set_table(table, vec![weights[table]; 1 << 16]));
        network
    });
    let mean = Place::new().average(&networks.each_ref()).expect("equal shapes");
    let value = |board: &str| mean.value(board.parse::<Afterstate<4>>().expect("a board"));
    assert_eq!([value("1000/0000/0000/0000"), value("e000/0000/0000/0000")], [8.0 * 4.0, 8.0 * 5.0]);
}

#[test]
fn networks_of_different_shapes_have_no_average() {
    let place = Place::new();
    let first = filled(spec("0123", 6), 1.0);
    for (other, part) in [
        (spec("0145", 6), "its `tuples` is `0145`, not `0123`"),
        (spec("0123", 7), "its `tile_values` is `7`, not `6`"),
        (
            NetworkSpec { stages: "16384".parse().expect("stages"), ..spec("0123", 6) },
            "`stages` is `16384`, not none",
        ),
        (NetworkSpec { initial: vec![5.0], ..spec("0123", 6) }, "`initial` is `5`, not none"),
    ] {
        let error = place.average(&[&first, &filled(other, 1.0)]).map(drop).expect_err(part);
        assert!(error.contains(part), "{error}");
    }
    assert!(place.average(&[]).is_err());
}
