//! Folding of redundant encoding: jaskowski-2016, V.E.2.
//!
//! A small tuple whose cells lie inside a larger one adds no expressive power: it helps learning, and costs lookups in
//! play. Folding adds its table into that of the larger tuple; every value stays the same up to f32 rounding.
//!
//! With symmetric sampling it suffices that *some image* of the small tuple lies inside the larger one: the eight images
//! of the larger tuple then contain each image of the small one exactly once, so its weights are added with factor 1.
//!
//! 1. A tuple is folded into the first tuple that contains it; the paper does not say which, and the values do not
//!    depend on it.
//! 2. Promotion is resolved first: weights that have never been accessed take those of the previous stage, and the
//!    folded network has no promotion. It is meant for play.
//! 3. Tuples that no other tuple contains stay, whatever their length.

use std::{collections::BTreeMap, path::Path, sync::atomic::Ordering::Relaxed};

use afterstate_game::Symmetry;
use afterstate_threads::{cores, share};

use super::resolved::Resolved;
use crate::{
    Network, NetworkError, NetworkSpec, SpecError, Tuple, TupleError, Tuples,
    file::{
        FileError, FileProblem, ModelInfo, metadata,
        safetensors::{self, Tensor, TensorFile},
    },
};

/// Writes a network with its redundant tuples folded into the others, without the learning state of TC, and returns
/// its specification. `extra` is additional metadata.
///
/// # Errors
/// If the file is damaged or not a model, no tuple lies inside another one, or the output cannot be written.
pub fn fold(
    file: &TensorFile,
    output: &Path,
    extra: &BTreeMap<String, String>,
) -> Result<NetworkSpec, FileError> {
    let spec = ModelInfo::of(file)?.spec;
    let at = |problem: FileProblem| problem.at(file.path());
    let holders = holders(&spec).ok_or_else(|| {
        let message = format!("has nothing to fold: none of its tuples {} lies inside another", spec.tuples);
        at(FileProblem::Unsupported(message))
    })?;
    let folded = folded_spec(&spec, &holders).map_err(|error| at(error.into()))?;
    let mut tensors = Vec::new();
    for table in 0..folded.tables() {
        let sum = Sum::open(file, &spec, &folded, table, &holders)?;
        let name = format!("V.{}", folded.table_name(table));
        tensors.push(Tensor::new(name, folded.table_len(table), sum.weights()));
    }
    safetensors::write(output, &metadata(&folded, extra), tensors)?;
    Ok(folded)
}

impl Network {
    /// The network with its redundant tuples folded into the others: fewer lookups for the same values. `None` if no tuple
    /// lies inside another one, or weights are promoted.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn folded(&self) -> Result<Option<Network>, NetworkError> {
        let Some(holders) = holders(self.spec()).filter(|_| !self.spec().promotion) else {
            return Ok(None);
        };
        let spec = folded_spec(self.spec(), &holders).map_err(SpecError::from)?;
        let folded = Network::new(spec)?;
        share(cores(), 0..folded.spec().tables(), |table| fold_table(self, &folded, table, &holders));
        Ok(Some(folded))
    }
}

impl NetworkSpec {
    /// The specification of the folded network; `None` if [`Network::folded`] returns none.
    pub(crate) fn folded(&self) -> Option<NetworkSpec> {
        let holders = holders(self).filter(|_| !self.promotion)?;
        folded_spec(self, &holders).ok()
    }
}

/// Fills a table of a folded network, in memory order.
fn fold_table(network: &Network, folded: &Network, table: usize, holders: &[Holder]) {
    let (spec, id) = (network.spec(), folded.spec().table_id(table));
    let places_of =
        |network: &Network, table: usize| network.layout().places(table % network.spec().tables_per_set());
    let there = places_of(folded, table);
    let mut order: Vec<usize> = (0..there.cells.len()).collect();
    order.sort_by_key(|&cell| there.cells[cell][1]);
    let holder = &holders[id.tuple];
    let own = source(spec, folded.spec(), table, holder.tuple);
    let here = places_of(network, own);
    let counts = |of: &dyn Fn(usize, usize) -> usize| {
        let labels = 0..folded.spec().labels(table);
        order.iter().map(|&cell| labels.clone().map(|label| of(cell, label)).collect()).collect()
    };
    let own = Halves::new(counts(&|cell, label| here.cells[cell][label] as usize));
    let inner: Vec<(Vec<f32>, Halves)> = holder
        .inner
        .iter()
        .map(|inner| {
            let c = folded.spec().labels(table);
            let weights = network.table(source(spec, folded.spec(), table, inner.tuple)).collect();
            (weights, Halves::new(counts(&|cell, label| inner.count(cell, c) * label)))
        })
        .collect();
    let [first_here, first_there] = [network, folded].map(|network| id.set * network.set_len());
    for code in 0..own.len() {
        let index = first_here + here.at(own.get(code) as u64) as usize;
        let weight = f32::from_bits(network.weights()[index].load(Relaxed));
        let inner = inner.iter().map(|(weights, index)| f64::from(weights[index.get(code)]));
        let sum = (f64::from(weight) + inner.sum::<f64>()) as f32;
        folded.weights()[first_there + there.at(code as u64) as usize].store(sum.to_bits(), Relaxed);
    }
}

/// The specification without the tuples that are folded into others.
fn folded_spec(spec: &NetworkSpec, holders: &[Holder]) -> Result<NetworkSpec, TupleError> {
    let tuples = holders.iter().map(|holder| spec.tuples.as_slice()[holder.tuple].clone()).collect();
    Ok(NetworkSpec { tuples: Tuples::new(tuples)?, promotion: false, ..spec.clone() })
}

/// The table of a tuple with the stage, action and value range of a table of the folded network.
fn source(spec: &NetworkSpec, folded: &NetworkSpec, table: usize, tuple: usize) -> usize {
    let id = folded.table_id(table);
    id.set * spec.tables_per_set() + spec.tables_of(tuple).start + id.range
}

/// A tuple that stays.
struct Holder {
    tuple: usize,
    /// The tuples folded into it.
    inner: Vec<Inner>,
}

/// A tuple that lies inside another one.
struct Inner {
    tuple: usize,
    /// For each of its cells, the index of that cell in the other tuple.
    places: Vec<usize>,
}

impl Inner {
    /// The factor of a label in a cell of the other tuple within this one's index, with c labels a cell.
    fn count(&self, cell: usize, c: usize) -> usize {
        self.places.iter().position(|&place| place == cell).map_or(0, |j| c.pow(j as u32))
    }
}

/// The tuples that stay, with those folded into them; `None` if there is nothing to fold.
fn holders(spec: &NetworkSpec) -> Option<Vec<Holder>> {
    let tuples = spec.tuples.as_slice();
    // Longest first, so that they stay; among tuples of equal length, the first.
    let mut order: Vec<usize> = (0..tuples.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(tuples[i].len()));
    let mut holders: Vec<Holder> = Vec::new();
    for tuple in order {
        let places = |holder: &Holder| {
            let alike = spec.ranges_of(tuple) == spec.ranges_of(holder.tuple);
            alike.then(|| places(spec, &tuples[tuple], &tuples[holder.tuple]))?
        };
        match holders.iter().enumerate().find_map(|(i, holder)| Some((i, places(holder)?))) {
            Some((i, places)) => holders[i].inner.push(Inner { tuple, places }),
            None => holders.push(Holder { tuple, inner: Vec::new() }),
        }
    }
    holders.sort_by_key(|holder| holder.tuple);
    (holders.len() < tuples.len()).then_some(holders)
}

/// The indices in `outer` of the cells of some image of `inner`.
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
    inner: Vec<(Resolved<'a>, Halves)>,
    len: usize,
}

impl<'a> Sum<'a> {
    fn open(
        file: &'a TensorFile,
        spec: &NetworkSpec,
        folded: &NetworkSpec,
        table: usize,
        holders: &[Holder],
    ) -> Result<Self, FileError> {
        let open = |tuple: usize| Resolved::open(file, spec, source(spec, folded, table, tuple));
        let (c, n) = (folded.labels(table), folded.tuple(table).len());
        let holder = &holders[folded.table_id(table).tuple];
        let inner = |inner: &Inner| {
            let counts = |cell| (0..c).map(|label| inner.count(cell, c) * label).collect();
            Ok((open(inner.tuple)?, Halves::new((0..n).map(counts).collect())))
        };
        let inner = holder.inner.iter().map(inner).collect::<Result<_, FileError>>()?;
        Ok(Sum { own: open(holder.tuple)?, inner, len: folded.table_len(table) as usize })
    }

    /// The weights in order, added as f64 and rounded once.
    fn weights(self) -> impl Iterator<Item = f32> + 'a {
        (0..self.len).map(move |index| {
            let inner = self.inner.iter().map(|(table, halves)| f64::from(table.get(halves.get(index))));
            (f64::from(self.own.get(index)) + inner.sum::<f64>()) as f32
        })
    }
}

/// Sums of one term for each cell, selected by the cell's label, by the base-c number whose digits are the labels: one
/// table for its lower digits and one for its upper digits.
struct Halves([Vec<usize>; 2]);

impl Halves {
    /// Takes the terms of each label of each cell, the cell of the lowest digit first.
    fn new(mut cells: Vec<Vec<usize>>) -> Self {
        let upper = cells.split_off(cells.len() / 2);
        let sums = |cells: Vec<Vec<usize>>| {
            let add = |sums: Vec<usize>, labels: Vec<usize>| -> Vec<usize> {
                labels.iter().flat_map(|label| sums.iter().map(move |sum| sum + label)).collect()
            };
            cells.into_iter().fold(vec![0], add)
        };
        Halves([sums(cells), sums(upper)])
    }

    /// The number of sums.
    fn len(&self) -> usize {
        self.0[0].len() * self.0[1].len()
    }

    #[inline(always)]
    fn get(&self, number: usize) -> usize {
        let [lower, upper] = &self.0;
        lower[number % lower.len()] + upper[number / lower.len()]
    }
}
