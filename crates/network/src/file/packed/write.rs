//! Writing packed tables.

use std::{collections::BTreeMap, path::Path, sync::atomic::Ordering::Relaxed};

use afterstate_threads::{cores, share};

use super::{
    STEP, STEPS, StageCoding, VERSION, VERSION_APART,
    coder::Encoder,
    shape::Shape,
    step_of, tables_per_stage,
    walk::{Levels, Walk},
};
use crate::{
    Network, NetworkSpec,
    file::{
        FileError, FileProblem, metadata,
        safetensors::{self, Tensor},
    },
};

/// Added to a number of steps before truncation. Less than one half: a level nearer to 0 takes fewer bits, and a weight
/// that rounds to 0 takes none at all.
const ROUNDING: f32 = 0.4;

/// A network in packed form.
pub struct Packed {
    spec: NetworkSpec,
    stages: StageCoding,
    step: f32,
    tables: Vec<Vec<u8>>,
    weights: u64,
}

impl Packed {
    /// Packs a network. `precision` maps a weight's index to how finely it is kept: 0 drops it, 1 rounds it to `step`, and
    /// each further precision, up to [`FINEST`](super::FINEST), to half of that.
    ///
    /// # Errors
    /// If the network has weight promotion, which packed networks resolve, or the step is out of range.
    pub fn new(
        network: &Network,
        stages: StageCoding,
        step: f32,
        precision: impl Fn(usize) -> u8 + Sync,
    ) -> Result<Self, FileProblem> {
        let spec = network.spec();
        if spec.promotion {
            return Err(FileProblem::Unsupported("a network with weight promotion cannot be packed".into()));
        }
        if !STEPS.contains(&step) {
            return Err(FileProblem::Unsupported(format!("a step of {step} should be from 1e-6 to 1e9")));
        }
        let per_stage = tables_per_stage(spec);
        let mut groups =
            share(cores(), 0..per_stage, |table| pack_stages(network, stages, table, step, &precision));
        let weights = groups.iter().flatten().map(|(_, weights)| weights).sum();
        let tables = (0..spec.stages.count() * per_stage)
            .map(|table| std::mem::take(&mut groups[table % per_stage][table / per_stage].0))
            .collect();
        Ok(Packed { spec: spec.clone(), stages, step, tables, weights })
    }

    /// The number of bytes without the header.
    pub fn bytes(&self) -> u64 {
        self.tables.iter().map(|table| table.len() as u64).sum()
    }

    /// The number of weights kept; mirror images, and weights that a stage shares with the previous one, count once.
    pub fn weights(&self) -> u64 {
        self.weights
    }

    /// Writes a model file, atomically, with additional metadata.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path, extra: &BTreeMap<String, String>) -> Result<(), FileError> {
        let mut metadata = metadata(&self.spec, extra);
        metadata.insert(STEP.into(), self.step.to_string());
        let version = if self.stages == StageCoding::Apart { VERSION_APART } else { VERSION };
        metadata.insert("version".into(), version.into());
        let name = |table| format!("packed.{}", self.spec.table_name(table));
        let tensors = self.tables.iter().enumerate().map(|(i, table)| Tensor::bytes(name(i), table));
        safetensors::write(path, &metadata, tensors)
    }
}

/// Packs a table of all stages: the bytes of each, and the number of weights in it.
fn pack_stages(
    network: &Network,
    stages: StageCoding,
    first: usize,
    step: f32,
    precision: &impl Fn(usize) -> u8,
) -> Vec<(Vec<u8>, u64)> {
    let shape = Shape::of(network.spec(), first);
    // The table as a reader will decode it.
    let mut read = vec![0.0; shape.len()];
    let tables =
        (0..network.spec().stages.count()).map(|stage| first + stage * tables_per_stage(network.spec()));
    let mut pack_next = |table| {
        if stages == StageCoding::Apart {
            read.fill(0.0);
        }
        pack(network, table, &shape, step, precision, &mut read)
    };
    tables.map(&mut pack_next).collect()
}

/// Packs a table, given the previous stage's table as a reader will decode it.
fn pack(
    network: &Network,
    table: usize,
    shape: &Shape,
    step: f32,
    precision: &impl Fn(usize) -> u8,
    read: &mut [f32],
) -> (Vec<u8>, u64) {
    let indices: Vec<usize> = network.indices(table).collect();
    let weight = |index: usize| f32::from_bits(network.weights()[indices[index]].load(Relaxed));
    let mut levels = Table { levels: vec![0; shape.len()], weights: 0 };
    let mut precisions = vec![0; shape.len()];
    for index in (0..shape.len()).filter(|&index| shape.is_first(index)) {
        let images = || std::iter::once(index).chain(shape.images(index));
        let precision = images().map(|image| precision(indices[image])).max().unwrap_or(0);
        if precision == 0 {
            continue;
        }
        let mean = images().map(weight).sum::<f32>() / images().count() as f32;
        let step = step_of(step, precision);
        let steps = (mean - read[index]) / step;
        let level = (steps.abs() + ROUNDING).floor().copysign(steps) as i32;
        if level != 0 {
            (levels.levels[index], precisions[index]) = (level, precision);
            let value = read[index] + level as f32 * step;
            images().for_each(|image| read[image] = value);
        }
    }
    let mut encoder = Encoder::default();
    Walk::new(&mut encoder, shape, Some(precisions), &mut levels).run();
    (encoder.finish(), levels.weights)
}

/// The levels of a table.
struct Table {
    levels: Vec<i32>,
    weights: u64,
}

impl Levels for Table {
    fn level(&mut self, index: usize) -> i32 {
        self.levels[index]
    }

    fn take(&mut self, _: usize, _: u8, _: i32) {
        self.weights += 1;
    }
}
