//! Folding of redundant encoding: jaskowski-2016, V.E.2.
//!
//! A small tuple whose cells lie inside a larger one adds nothing that the larger one could not say: it helps
//! learning, and costs lookups at play. Its table is added into that of the larger tuple, and every value stays the
//! same to the rounding of f32.
//!
//! With symmetric sampling it is enough that *some image* of the small tuple lies inside the larger one: the
//! eight images of the larger tuple then hold each image of the small one exactly once, so that its
//! weights are added with the factor 1.
//!
//! 1. A tuple goes whole into the first tuple that can hold it; the paper does not say which, and the values do
//!    not depend on it.
//! 2. Promotion is resolved first: weights that have not been accessed become those of the stage before, and the
//!    folded network has no promotion. It is one for play.
//! 3. Tuples that no other one holds stay, whatever their length.

use std::{collections::BTreeMap, path::Path};

use afterstate_game::Symmetry;

use super::{
    FileError, ModelInfo, Problem, metadata,
    resolved::Resolved,
    safetensors::{self, Tensor, TensorFile},
};
use crate::{NetworkSpec, Tuple, Tuples};

/// Writes a network with its redundant tuples folded into the others, without the learning state of TC, and gives
/// its specification. `extra` is more metadata.
///
/// # Errors
/// When the file is no model or damaged, no tuple lies inside another one, or the output cannot be written.
pub fn fold(
    file: &TensorFile,
    output: &Path,
    extra: &BTreeMap<String, String>,
) -> Result<NetworkSpec, FileError> {
    let spec = ModelInfo::of(file)?.spec;
    let at = |problem: Problem| problem.at(file.path());
    let holders = holders(&spec).ok_or_else(|| {
        let message = format!("has nothing to fold: none of its tuples {} lies inside another", spec.tuples);
        at(Problem::Unsupported(message))
    })?;
    let tuples = holders.iter().map(|holder| spec.tuples.as_slice()[holder.tuple].clone()).collect();
    let tuples = Tuples::new(tuples).map_err(|error| at(error.into()))?;
    let folded = NetworkSpec { tuples, promotion: false, ..spec.clone() };
    let mut tensors = Vec::new();
    for table in 0..folded.tables() {
        let sum = Sum::open(file, &spec, &folded, table, &holders)?;
        let name = format!("V.{}", folded.table_name(table));
        tensors.push(Tensor::new(name, folded.table_len(table), sum.weights()));
    }
    safetensors::write(output, &metadata(&folded, extra), tensors)?;
    Ok(folded)
}

/// A tuple that stays.
struct Holder {
    tuple: usize,
    /// The tuples that it takes up.
    inner: Vec<Inner>,
}

/// A tuple that lies inside another one.
struct Inner {
    tuple: usize,
    /// For each of its cells, the place in the other tuple.
    places: Vec<usize>,
}

/// The tuples that stay, with those that they take up; `None` when none takes up any.
fn holders(spec: &NetworkSpec) -> Option<Vec<Holder>> {
    let tuples = spec.tuples.as_slice();
    // The longest first, so that they stay; among equal ones the first.
    let mut order: Vec<usize> = (0..tuples.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(tuples[i].len()));
    let mut holders: Vec<Holder> = Vec::new();
    for tuple in order {
        let places = |holder: &Holder| places(spec, &tuples[tuple], &tuples[holder.tuple]);
        match holders.iter().enumerate().find_map(|(i, holder)| Some((i, places(holder)?))) {
            Some((i, places)) => holders[i].inner.push(Inner { tuple, places }),
            None => holders.push(Holder { tuple, inner: Vec::new() }),
        }
    }
    holders.sort_by_key(|holder| holder.tuple);
    (holders.len() < tuples.len()).then_some(holders)
}

/// Where the cells of some image of a tuple are in another one.
fn places(spec: &NetworkSpec, inner: &Tuple, outer: &Tuple) -> Option<Vec<usize>> {
    let symmetries = if spec.symmetric { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
    symmetries.iter().find_map(|&symmetry| {
        let image = inner.image(symmetry, spec.side);
        let place = |cell| outer.cells().iter().position(|other| other == cell);
        image.cells().iter().map(place).collect()
    })
}

/// A table of a folded network: a sum of tables of the network.
struct Sum<'a> {
    own: Resolved<'a>,
    inner: Vec<(Resolved<'a>, Digits)>,
    /// The number of indices of the lower and of the upper half of the tuple's cells.
    halves: [usize; 2],
}

/// The index in the table of an inner tuple, by the indices of the lower and upper half of the outer one's cells.
struct Digits([Vec<usize>; 2]);

impl<'a> Sum<'a> {
    fn open(
        file: &'a TensorFile,
        spec: &NetworkSpec,
        folded: &NetworkSpec,
        table: usize,
        holders: &[Holder],
    ) -> Result<Self, FileError> {
        let id = folded.table_id(table);
        let ranges = spec.tables_per_set() / spec.tuples.as_slice().len();
        let open = |tuple: usize| {
            Resolved::open(file, spec, id.set * spec.tables_per_set() + tuple * ranges + id.range)
        };
        let (c, n) = (folded.labels(table), folded.tuple(table).len());
        let halves = [n / 2, n - n / 2].map(|cells| c.pow(cells as u32));
        let holder = &holders[id.tuple];
        let inner = |inner: &Inner| Ok((open(inner.tuple)?, Digits::new(&inner.places, c, n)));
        let inner = holder.inner.iter().map(inner).collect::<Result<_, FileError>>()?;
        Ok(Sum { own: open(holder.tuple)?, inner, halves })
    }

    /// The weights in order. They are added as f64 and rounded once.
    fn weights(self) -> impl Iterator<Item = f32> + 'a {
        let [low, high] = self.halves;
        (0..low * high).map(move |index| {
            let (below, above) = (index % low, index / low);
            let inner = self
                .inner
                .iter()
                .map(|(table, Digits([lower, upper]))| f64::from(table.get(lower[below] + upper[above])));
            (f64::from(self.own.get(index)) + inner.sum::<f64>()) as f32
        })
    }
}

impl Digits {
    /// For an inner tuple whose cells have these places among the n cells of the outer one, with c labels each.
    fn new(places: &[usize], c: usize, n: usize) -> Self {
        let half = |first: usize, cells: usize| -> Vec<usize> {
            let part = |index: usize| {
                let digit = |&(j, &place): &(u32, &usize)| {
                    let inside = (first..first + cells).contains(&place);
                    if inside { index / c.pow((place - first) as u32) % c * c.pow(j) } else { 0 }
                };
                (0..).zip(places).map(|cell| digit(&cell)).sum()
            };
            (0..c.pow(cells as u32)).map(part).collect()
        };
        Digits([half(0, n / 2), half(n / 2, n - n / 2)])
    }
}
