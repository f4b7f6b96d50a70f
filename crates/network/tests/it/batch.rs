//! The values of many afterstates at once equal their single values, bit for bit.

use afterstate_game::{Afterstate, Board, game_rng};
use afterstate_network::{Batch, Isa, Kernel, Level, Network, NetworkSpec, Tuples, View, dispatch};
use rand_core::Rng;

/// A network whose weights are arbitrary.
fn network(tuples: &str, tile_values: usize, stages: &str) -> Network {
    let tuples = tuples.split(' ').map(|tuple| tuple.parse().expect("a tuple")).collect();
    let tuples = Tuples::new(tuples).expect("tuples");
    let stages = stages.parse().expect("stages");
    let network = Network::new(NetworkSpec { tuples, tile_values, stages, ..NetworkSpec::default() });
    let network = network.expect("a small network");
    for table in 0..network.spec().sets() * network.spec().tables_per_set() {
        let mut rng = game_rng(5, table as u64);
        let weights = std::iter::from_fn(move || Some((rng.next_u32() >> 12) as f32 / 1e3 - 300.0));
        network.set_table(table, weights);
    }
    network
}

fn afterstate(number: u64) -> Afterstate<4> {
    let mut rng = game_rng(9, number);
    let mut below = |n: u32| ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u8;
    let mut exponents: Vec<u8> = (0..16).map(|_| below(12)).collect();
    if below(3) == 0 {
        exponents[usize::from(below(16))] = 15 + below(3);
    }
    Afterstate::new(Board::from_exponents(&exponents).expect("a board within the limits"))
}

struct AddValues<'a>(View<'a>, &'a mut Batch, &'a [Afterstate<4>], &'a mut [f32]);

impl Kernel for AddValues<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.0.add_values(isa, self.1, self.2, self.3);
    }
}

#[test]
fn batches_have_the_values_of_their_boards() {
    let two_lookups = "01234 45678 01245 45689";
    let networks = [
        ("small", network("0123 0145 1256", 18, "1")),
        ("two lookups of nibbles, large", network(two_lookups, 16, "1")),
        ("labels, large", network(two_lookups, 18, "1")),
        ("stages", network("0123 0145", 16, "2048")),
        ("many lookups", network(&["01 12 45 56"; 70].join(" "), 16, "1")),
    ];
    // One buffer for all of them, as large as the previous one needed.
    let mut batch = Batch::default();
    for (name, network) in &networks {
        for len in [0, 1, 5, 64, 200] {
            let afterstates: Vec<_> = (0..len).map(afterstate).collect();
            let expected: Vec<f32> = afterstates.iter().map(|&s| 8.0 + network.value(s)).collect();
            for level in Level::available() {
                let mut sums = vec![8.0; afterstates.len()];
                dispatch(level, AddValues(network.view(), &mut batch, &afterstates, &mut sums));
                assert_eq!(sums, expected, "{name}, {level:?}");
            }
        }
    }
}

#[test]
fn a_network_gives_the_values_of_slices() {
    let network = network("012345 456789", 16, "16384");
    let afterstates: Vec<_> = (0..300).map(afterstate).collect();
    let mut values = vec![f32::NAN; 300];
    network.values(&afterstates, &mut values);
    for (afterstate, value) in afterstates.iter().zip(values) {
        assert_eq!(value.to_bits(), network.value(*afterstate).to_bits());
    }
}
