//! The value of a board by Eq. 3 of jaskowski-2016, written naively, and boards to compare it on.

use afterstate_game::{Afterstate, Board, Rules, Symmetry, game_rng};
use afterstate_network::{Level, Network, NetworkSpec, ValueRange};

/// A weight that is a small integer, different for neighbours, so that sums are exact.
pub(crate) fn weight(tuple: usize, index: u64) -> f32 {
    ((index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 1000 + tuple as u64) as f32
}

/// A weight of a table. With promotion, every third one of a later stage has not been accessed.
fn weight_of(spec: &NetworkSpec, table: usize, index: u64) -> f32 {
    let promoted = spec.promotion && spec.table_id(table).stage > 0;
    if promoted && index.is_multiple_of(3) { 0.0 } else { weight(table, index) }
}

/// The label of an exponent among E, S, the values of a range, and L.
fn label(range: ValueRange, tile_values: usize, exponent: u8) -> u64 {
    let exponent = exponent.min(tile_values as u8 - 1);
    let mut labels = vec!["E".to_owned()];
    if range.first > 1 {
        labels.push("S".to_owned());
    }
    labels.extend((range.first..=range.last).map(|value| value.to_string()));
    labels.push("L".to_owned());
    let wanted = match exponent {
        0 => "E".to_owned(),
        e if e < range.first => "S".to_owned(),
        e if e > range.last => "L".to_owned(),
        e => e.to_string(),
    };
    labels.iter().position(|label| *label == wanted).unwrap() as u64
}

fn naive_value<const N: usize>(spec: &NetworkSpec, board: Board<N>) -> f32 {
    let symmetries = if spec.symmetric { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
    let stage = spec.stages.of(&board.bytes());
    let mut value = spec.initial(stage);
    for i in 0..spec.tables_per_set() {
        let (range, c) = (spec.range(i), spec.labels(i) as u64);
        for &symmetry in symmetries {
            let image = board.image(symmetry);
            let digit = |&cell: &u8| label(range, spec.tile_values, image.exponent(cell.into()));
            let index = spec.tuple(i).cells().iter().rev().fold(0, |index, cell| index * c + digit(cell));
            let of_stage = |stage: usize| weight_of(spec, stage * spec.tables_per_set() + i, index);
            value += match of_stage(stage) {
                0.0 if spec.promotion && stage > 0 => of_stage(stage - 1),
                weight => weight,
            };
        }
    }
    value
}

/// Random afterstates with many different tiles, including the largest ones.
pub(crate) fn boards<const N: usize>(count: u64) -> impl Iterator<Item = Board<N>> {
    (0..count).map(|game| {
        let mut rng = game_rng(5, game);
        let mut number = || rand_core::Rng::next_u64(&mut rng);
        let largest = 1 + number() % 15;
        let mut cells: Vec<u8> = (0..N * N).map(|_| (number() % (largest + 1)) as u8).collect();
        if game % 3 == 0 {
            cells[(number() % (N * N) as u64) as usize] = 16;
        }
        if game % 5 == 0 {
            cells.fill(0);
            cells[(number() % (N * N) as u64) as usize] = 17;
        }
        Board::from_exponents(&cells).unwrap_or(Rules::default().initial_state(&mut rng).board())
    })
}

/// Compares a network of such weights with the naive values, for every instruction set.
pub(crate) fn check<const N: usize>(spec: NetworkSpec, count: u64) {
    let network = Network::new(spec.clone()).expect("a small network");
    fill(&network);
    for board in boards::<N>(count) {
        let naive = naive_value(&spec, board);
        for level in Level::available() {
            assert_eq!(network.value_at(level, Afterstate::new(board)), naive, "{level:?} {board}");
        }
    }
    for i in 0..spec.tables() {
        assert!(network.table(i).eq((0..spec.table_len(i)).map(|index| weight_of(&spec, i, index))));
    }
}

/// Gives a network such weights.
pub(crate) fn fill(network: &Network) {
    for i in 0..network.spec().tables() {
        let spec = network.spec();
        network.set_table(i, (0..spec.table_len(i)).map(|index| weight_of(spec, i, index)));
    }
}
