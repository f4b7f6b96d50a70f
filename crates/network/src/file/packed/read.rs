//! Reading packed tables.

use std::sync::atomic::Ordering::Relaxed;

use afterstate_threads::{cores, share};

use super::{
    STEP, STEPS, VERSION_APART,
    coder::{Decoder, SYMBOLS},
    shape::Shape,
    step_of, tables_per_stage,
    walk::{Levels, Walk},
};
use crate::{
    Network,
    file::{FileError, FileProblem, safetensors::TensorFile},
    layout::Places,
};

/// Fills a network with packed tables of its shape.
pub(in crate::file) fn fill(network: &Network, file: &TensorFile) -> Result<(), FileError> {
    let text = file.metadata().get(STEP).cloned().unwrap_or_default();
    let step = text.parse().ok().filter(|step| STEPS.contains(step)).ok_or_else(|| {
        FileProblem::Metadata { key: STEP, found: text, right: "a number from 1e-6 to 1e9" }.at(file.path())
    })?;
    let filled =
        share(cores(), 0..tables_per_stage(network.spec()), |table| fill_stages(network, table, step, file));
    filled.into_iter().collect()
}

/// Fills a table in all stages.
fn fill_stages(network: &Network, first: usize, step: f32, file: &TensorFile) -> Result<(), FileError> {
    let spec = network.spec();
    let is_apart = file.metadata().get("version").is_some_and(|version| version == VERSION_APART);
    let shape = Shape::of(spec, first);
    let per_stage = tables_per_stage(spec);
    for stage in 0..spec.stages.count() {
        let table = first + stage * per_stage;
        let name = format!("packed.{}", spec.table_name(table));
        let mut decoder = Decoder::new(file.bytes(&name)?);
        let mut weights = Weights::new(network, table, &shape, step);
        if is_apart {
            (weights.is_first, weights.stages) = (true, 1);
        }
        Walk::new(&mut decoder, &shape, None, &mut weights).run();
        if !decoder.is_complete() {
            return Err(FileProblem::Packed(name).at(file.path()));
        }
    }
    Ok(())
}

/// A table that is being filled.
struct Weights<'a> {
    network: &'a Network,
    shape: &'a Shape,
    /// The steps by precision.
    steps: [f32; SYMBOLS],
    places: Places,
    /// The index at which the stage begins.
    start: usize,
    /// The offset of the lower and of the upper labels of an index.
    low: Vec<u64>,
    high: Vec<u64>,
    /// The distance from an index in this stage to that in the next, and the number of stages, beginning with this one, that
    /// share a weight until they get their own.
    stage_len: usize,
    stages: usize,
    is_first: bool,
}

impl<'a> Weights<'a> {
    fn new(network: &'a Network, table: usize, shape: &'a Shape, step: f32) -> Self {
        let spec = network.spec();
        let places = network.layout().places(table % spec.tables_per_set());
        let id = spec.table_id(table);
        let (low, high) = places.cells.split_at(shape.n / 2);
        let sums = |cells: &[Vec<u64>]| {
            cells.iter().fold(vec![0], |sums, cell| {
                cell.iter().flat_map(|count| sums.iter().map(move |sum| sum + count)).collect::<Vec<u64>>()
            })
        };
        Weights {
            network,
            shape,
            steps: std::array::from_fn(|precision| step_of(step, precision as u8)),
            low: sums(low),
            high: sums(high),
            places,
            start: id.set * network.set_len(),
            stage_len: spec.values.sets() * network.set_len(),
            stages: spec.stages.count() - id.stage,
            is_first: id.stage == 0,
        }
    }

    #[inline(always)]
    fn weight_index(&self, index: usize) -> usize {
        // Tables have at most 2^32 weights, and 32-bit divisions are fast.
        let (index, low) = (index as u32, self.low.len() as u32);
        let code = self.low[(index % low) as usize] + self.high[(index / low) as usize];
        self.start + self.places.at(code) as usize
    }
}

impl Levels for Weights<'_> {
    fn level(&mut self, _: usize) -> i32 {
        0
    }

    /// Also sets the weight in later stages, until they get their own.
    #[inline(always)]
    fn take(&mut self, index: usize, precision: u8, level: i32) {
        let weights = self.network.weights();
        let first = self.weight_index(index);
        // Holds the weight of the previous stage. The first stage has none, so there is no need to wait for memory.
        let before = if self.is_first { 0.0 } else { f32::from_bits(weights[first].load(Relaxed)) };
        let value = (before + level as f32 * self.steps[usize::from(precision)]).to_bits();
        let store = |first: usize| {
            let indices = (first..).step_by(self.stage_len).take(self.stages);
            indices.for_each(|weight_index| weights[weight_index].store(value, Relaxed));
        };
        store(first);
        self.shape.images(index).for_each(|image| store(self.weight_index(image)));
    }
}
