//! Small tuples that take over parts of larger ones (redundant encoding, jaskowski-2016, V.E, after training).
//!
//! The common part of a large table's weights that agree in a few cells is moved into the table of those
//! cells. Every value stays the same, but the remainders in the large table are smaller and take fewer bits, and if a
//! weight of the large table is dropped, the small tables still hold its typical value.

use afterstate_game::Symmetry;
use afterstate_network::{NetworkSpec, Tuple, Tuples};

/// The small tuples: rows, squares and their parts, as in 42-33-4-22-3.
const SMALL: &str = "0123 4567 0145 1256 569a 012 456";

/// The passes over the small tuples, each of which processes the remainder of the previous ones.
const PASSES: usize = 2;

/// The maximum count of visits: frequently visited weights are kept anyway.
const MOST_VISITS: u32 = 64;

/// The position of a small tuple inside a large one.
pub(super) struct Inside {
    /// The number of the small tuple.
    pub(super) small: usize,
    /// For each cell of the large tuple, the factor of its label in the small one's index; 0 if the cell is not part of
    /// it.
    counts: Vec<usize>,
}

/// The tuples of a network plus those small ones that a large tuple contains.
pub(super) fn with_small(spec: &NetworkSpec) -> Tuples {
    let mut tuples = spec.tuples.as_slice().to_vec();
    let fits = |small: &Tuple| {
        let is_large = |tuple: &&Tuple| tuple.len() > small.len() + 1;
        spec.tuples.as_slice().iter().filter(is_large).any(|large| !inside(spec, small, 0, large).is_empty())
    };
    let is_image = |small: &Tuple, tuple: &Tuple| {
        tuple.len() == small.len() && !inside(spec, small, 0, tuple).is_empty()
    };
    let is_there = |small: &Tuple| spec.tuples.as_slice().iter().any(|tuple| is_image(small, tuple));
    let small = SMALL.split(' ').filter_map(|text| text.parse::<Tuple>().ok());
    tuples.extend(small.filter(|small| can_move(spec) && fits(small) && !is_there(small)));
    Tuples::new(tuples).unwrap_or_else(|_| spec.tuples.clone())
}

/// Whether small tuples suit this network: without symmetric sampling they would be needed in all their positions, and
/// with value ranges, in all ranges.
fn can_move(spec: &NetworkSpec) -> bool {
    spec.symmetric && spec.side == 4 && spec.ranges.is_none()
}

/// The small tuples inside a table's tuple, largest first, every image separately.
pub(super) fn all_inside(spec: &NetworkSpec, table: usize) -> Vec<Inside> {
    let large = spec.tuple(table);
    let mut all: Vec<Inside> = Vec::new();
    let mut order: Vec<usize> = (0..spec.tuples.as_slice().len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(spec.tuples.as_slice()[i].len()));
    for small in order {
        let tuple = &spec.tuples.as_slice()[small];
        if can_move(spec) && tuple.len() + 1 < large.len() {
            all.extend(inside(spec, tuple, small, large));
        }
    }
    all
}

/// The positions of images of a small tuple inside a large one.
fn inside(spec: &NetworkSpec, small: &Tuple, number: usize, large: &Tuple) -> Vec<Inside> {
    let c = spec.tile_values;
    let mut found: Vec<(Vec<u8>, Inside)> = Vec::new();
    for symmetry in Symmetry::ALL {
        let image = small.image(symmetry, spec.side);
        let mut cells = image.cells().to_vec();
        cells.sort_unstable();
        let is_inside = cells.iter().all(|cell| large.cells().contains(cell));
        if !is_inside || found.iter().any(|(others, _)| *others == cells) {
            continue;
        }
        let count =
            |cell: &u8| image.cells().iter().position(|other| other == cell).map_or(0, |j| c.pow(j as u32));
        found.push((cells, Inside { small: number, counts: large.cells().iter().map(count).collect() }));
    }
    found.into_iter().map(|(_, inside)| inside).collect()
}

impl Inside {
    /// The index in the small table for each index of the large one.
    fn indices(&self, c: usize) -> Vec<u32> {
        self.counts.iter().fold(vec![0], |indices, &count| {
            (0..c).flat_map(|label| indices.iter().map(move |index| index + (label * count) as u32)).collect()
        })
    }
}

/// The part that moves from a large table to a small one.
pub(super) struct Moved {
    /// The number of the small tuple.
    pub(super) small: usize,
    /// The numbers to add to its weights.
    pub(super) weights: Vec<f32>,
    /// The visits of its weights.
    pub(super) visits: Vec<u32>,
}

impl Moved {
    /// Adds the part from another position. The visits at all positions are the same, as far as they are known.
    pub(super) fn add(&mut self, other: &Moved) {
        self.weights.iter_mut().zip(&other.weights).for_each(|(weight, other)| *weight += other);
        self.visits.iter_mut().zip(&other.visits).for_each(|(visits, &other)| *visits = other.max(*visits));
    }
}

/// Moves the common part of a large table's weights into small tables.
pub(super) fn move_out(c: usize, inside: &[Inside], weights: &mut [f32], visits: &[u32]) -> Vec<Moved> {
    let indices: Vec<Vec<u32>> = inside.iter().map(|inside| inside.indices(c)).collect();
    let moved = |(inside, indices): (&Inside, &Vec<u32>)| {
        let len = inside.counts.iter().max().map_or(1, |count| count * c);
        let mut sums = vec![0u32; len];
        for (&index, &visits) in indices.iter().zip(visits) {
            let sum = &mut sums[index as usize];
            *sum = sum.saturating_add(visits);
        }
        Moved { small: inside.small, weights: vec![0.0; len], visits: sums }
    };
    let mut moved: Vec<Moved> = inside.iter().zip(&indices).map(moved).collect();
    for _ in 0..PASSES {
        for (indices, moved) in indices.iter().zip(&mut moved) {
            let means = means(indices, weights, visits, moved.weights.len());
            moved.weights.iter_mut().zip(&means).for_each(|(moved, mean)| *moved += mean);
            let visited = weights.iter_mut().zip(indices).zip(visits).filter(|(_, visits)| **visits > 0);
            visited.for_each(|((weight, &index), _)| *weight -= means[index as usize]);
        }
    }
    moved
}

/// The mean weight for each index of a small table.
fn means(indices: &[u32], weights: &[f32], visits: &[u32], len: usize) -> Vec<f32> {
    let mut means = vec![(0.0f64, 0.0f64); len];
    for ((&index, &weight), &visits) in indices.iter().zip(weights).zip(visits) {
        let share = f64::from(visits.min(MOST_VISITS));
        let (sum, shares) = &mut means[index as usize];
        (*sum, *shares) = (*sum + share * f64::from(weight), *shares + share);
    }
    let mean = |(sum, shares): (f64, f64)| if shares > 0.0 { (sum / shares) as f32 } else { 0.0 };
    means.into_iter().map(mean).collect()
}
