//! Networks of random shapes, and invalid ones.

use afterstate_network::{
    Layout, MemoryError, Network, NetworkError, NetworkSpec, SpecError, Tuple, TupleError, Tuples,
    available_memory,
};
use proptest::prelude::*;

/// The maximum number of weights of a random network.
const MOST_WEIGHTS: u64 = 1 << 21;

/// A tuple of some cells of the board; mostly neighbouring ones, so that tuples share cells.
fn tuple(side: usize) -> impl Strategy<Value = Vec<u8>> {
    let cells = (side * side) as u8;
    (1..=cells.min(8), 0..=2u8).prop_flat_map(move |(len, more)| {
        let from = if more == 0 { cells } else { (len + more).min(cells) };
        Just((0..from).collect::<Vec<u8>>()).prop_shuffle().prop_map(move |mut cells| {
            cells.truncate(len.into());
            cells
        })
    })
}

/// A network of any shape that is not too large: tuples are shortened if necessary.
fn network_spec() -> impl Strategy<Value = NetworkSpec> {
    (2..=4usize, 2..=18usize, any::<bool>()).prop_flat_map(|(side, tile_values, symmetric)| {
        prop::collection::vec(tuple(side), 1..=20).prop_map(move |tuples| {
            let most = MOST_WEIGHTS / tuples.len() as u64;
            let fits = |len: &u32| (tile_values as u64).pow(*len) <= most;
            let longest = (1..=8).take_while(fits).last().unwrap_or(1);
            let short = |cells: Vec<u8>| -> Tuple {
                let text: String =
                    cells.iter().take(longest as usize).map(|cell| format!("{cell:x}")).collect();
                text.parse().expect("distinct cells")
            };
            let tuples = Tuples::new(tuples.into_iter().map(short).collect()).expect("at least one");
            NetworkSpec { side, tuples, tile_values, symmetric, ..NetworkSpec::default() }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_shape_has_the_naive_values(spec in network_spec()) {
        match spec.side {
            4 => crate::naive::check::<4>(spec, 50),
            3 => crate::naive::check::<3>(spec, 50),
            _ => crate::naive::check::<2>(spec, 50),
        }
    }

    #[test]
    fn every_weight_has_a_place_of_its_own(spec in network_spec()) {
        let layout = Layout::new(&spec);
        let mut taken = vec![false; layout.len() as usize];
        let mut weights = 0;
        for i in 0..spec.tables() {
            prop_assert_eq!(layout.indices(i).count() as u64, spec.table_len(i));
            for index in layout.indices(i) {
                prop_assert!(index < taken.len(), "{} is outside", index);
                prop_assert!(!std::mem::replace(&mut taken[index], true), "{} is taken", index);
                weights += 1;
            }
        }
        prop_assert_eq!(weights, spec.weights());
    }
}

fn spec(side: usize, tuples: &[&str], tile_values: usize) -> NetworkSpec {
    let tuples = tuples.iter().map(|tuple| tuple.parse().expect("a tuple written here")).collect();
    NetworkSpec {
        side,
        tuples: Tuples::new(tuples).expect("some tuples"),
        tile_values,
        ..NetworkSpec::default()
    }
}

#[test]
fn what_is_no_network_is_refused() {
    let refusal = |spec: NetworkSpec| match Network::new(spec).map(drop) {
        Err(NetworkError::Spec(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(spec(5, &["0123"], 16)), SpecError::Side(5));
    assert_eq!(refusal(spec(1, &["0"], 16)), SpecError::Side(1));
    assert_eq!(refusal(spec(4, &["0123"], 1)), SpecError::TileValues(1));
    assert_eq!(refusal(spec(4, &["0123"], 19)), SpecError::TileValues(19));
    let outside = refusal(spec(3, &["012", "019"], 16));
    assert!(matches!(outside, SpecError::Tuple(TupleError::Cell { found: '9', last: 8, .. })), "{outside}");
    let large = refusal(spec(4, &["01234567"], 17)).to_string();
    assert!(large.contains("`01234567`") && large.contains("6975757441"), "{large}");
}

#[test]
fn what_is_no_tuple_is_refused() {
    let refusal = |text: &str| text.parse::<Tuple>().expect_err(text).to_string();
    assert!(refusal("01x").contains("`x`"));
    assert!(refusal("0120").contains("cell `0` occurs twice"));
    assert!(refusal("0123456789abc").contains("13 cells"));
    assert!(refusal("").contains("0 cells"));
    assert_eq!(Tuples::new(vec![]), Err(TupleError::Empty));
    assert!(Tuples::named("4x7").expect_err("no such set").to_string().contains("did you mean"));
}

/// The largest possible tables, more than the machine can hold.
#[test]
fn what_does_not_fit_is_refused_with_the_figures() {
    let Some(available) = available_memory() else {
        eprintln!("skipped: this system does not tell how much memory there is");
        return;
    };
    let table: u64 = 4 << 32;
    let tuples = 5.max(available / table + 2);
    let absurd = spec(4, &vec!["01234567"; tuples as usize], 16);
    assert_eq!(absurd.check(), Ok(()), "the shape itself is fine");
    match Network::new(absurd).map(drop) {
        Err(NetworkError::Memory(error @ MemoryError::TooLarge { needed, .. })) => {
            assert_eq!(needed, tuples * table);
            let figure = format!("needs {}.0 GiB", tuples * 16);
            assert!(error.to_string().contains(&figure), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn ranges_without_tile_values_are_refused() {
    for tile_values in [0, 1] {
        let error = afterstate_network::ValueRanges::parse("1-8", tile_values).expect_err("no ranges");
        assert!(error.to_string().contains("`1-8`"), "{error}");
        assert!(afterstate_network::ValueRanges::parse("", tile_values).is_err());
    }
}
