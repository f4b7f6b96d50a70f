//! Supervised learning (kondo-2019, sections 4.2 and 5.1): batches, gradients on all cores, Adam.
//!
//! A batch is cut into parts of a fixed size, whose gradients are added in order, so that the weights do not
//! depend on the number of threads. A GPU takes the parts one after the other; loss and Adam are the same.

use std::{
    marker::PhantomData,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use afterstate_game::Board;
use afterstate_threads::for_each;

use crate::{Adam, Dcnn, Device, DeviceError, Work, dcnn::tiles, loss::Loss, spec::SpecError};

/// The boards of a part on a GPU: the whole batch of kondo-2019. Its im2col matrix, 112 MB in the widest
/// network of Table 2, fits the 128 MiB buffer that every device allows.
const GPU_PART: usize = 1000;

/// A board and its target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample<T> {
    /// The board.
    pub board: Board<4>,
    /// The target.
    pub target: T,
}

/// The result of a network on some samples.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Step {
    /// The sum of the losses.
    pub loss: f64,
    /// The number of samples whose largest output was right.
    pub right: u64,
    /// The number of samples.
    pub samples: u64,
}

impl Step {
    /// The mean loss: the error of kondo-2019.
    pub fn error(&self) -> f64 {
        self.loss / self.samples as f64
    }

    /// The share of right answers.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.samples as f64
    }

    /// Adds the result on other samples.
    pub fn add(&mut self, other: Step) {
        self.loss += other.loss;
        self.right += other.right;
        self.samples += other.samples;
    }
}

/// A network in training.
pub struct Trainer<L> {
    pub(crate) net: Dcnn,
    pub(crate) adam: Adam,
    threads: usize,
    /// One for each thread; a single one on a GPU.
    workers: Vec<Mutex<Work>>,
    /// The number of boards of a part.
    part: usize,
    parts: Vec<Mutex<Part>>,
    loss: PhantomData<L>,
}

/// The result of a part of the batch.
#[derive(Default)]
struct Part {
    gradient: Vec<f32>,
    step: Step,
}

impl<L: Loss> Trainer<L> {
    /// The boards of a part: enough for large matrices, and few enough to divide a batch of 1,000 among eight cores.
    pub const PART: usize = 125;

    /// Starts with a network, on this many threads.
    ///
    /// # Errors
    /// If the network lacks the outputs that the loss needs.
    pub fn new(net: Dcnn, threads: usize) -> Result<Self, SpecError> {
        let adam = Adam::new(net.weights.len());
        Trainer::resume(net, adam, threads)
    }

    /// Resumes with a network and the state of its optimizer.
    pub(crate) fn resume(net: Dcnn, adam: Adam, threads: usize) -> Result<Self, SpecError> {
        net.spec().check_outputs(L::OUTPUTS)?;
        let workers = (0..threads.max(1)).map(|_| Mutex::default()).collect();
        let (threads, parts) = (threads.max(1), Vec::new());
        Ok(Trainer { net, adam, threads, workers, part: Self::PART, parts, loss: PhantomData })
    }

    /// Runs the passes on this device.
    ///
    /// # Errors
    /// If the device is not available.
    pub fn on(mut self, device: Device) -> Result<Self, DeviceError> {
        (self.workers, self.part) = match device {
            Device::Cpu => ((0..self.threads).map(|_| Mutex::default()).collect(), Self::PART),
            Device::Gpu => (vec![Mutex::new(Work::on(device)?)], GPU_PART),
        };
        Ok(self)
    }

    /// The current network.
    pub fn net(&self) -> &Dcnn {
        &self.net
    }

    /// The state of the optimizer.
    pub fn adam(&self) -> &Adam {
        &self.adam
    }

    /// Learns from a batch, at this learning rate.
    pub fn step(&mut self, batch: &[Sample<L::Target>], rate: f32) -> Step {
        let step = self.measure(batch, true);
        if !batch.is_empty() {
            self.apply(batch.len().div_ceil(self.part), rate);
        }
        step
    }

    /// The result of the network on samples, without learning from them.
    pub fn test(&mut self, samples: &[Sample<L::Target>]) -> Step {
        self.measure(samples, false)
    }

    /// The gradient of the mean loss over a batch, in the order of [`Dcnn::weights`].
    pub fn gradient(&mut self, batch: &[Sample<L::Target>]) -> Vec<f32> {
        self.measure(batch, true);
        let mut sum = vec![0.0; self.net.weights.len()];
        for part in self.parts.iter_mut().take(batch.len().div_ceil(self.part)) {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            sum.iter_mut().zip(&part.gradient).for_each(|(sum, g)| *sum += g);
        }
        sum
    }

    /// Runs all parts of a batch forward, and backward if requested.
    fn measure(&mut self, batch: &[Sample<L::Target>], backward: bool) -> Step {
        let parts: Vec<_> = batch.chunks(self.part).collect();
        if self.parts.len() < parts.len() {
            self.parts.resize_with(parts.len(), Mutex::default);
        }
        let (next, net, results) = (AtomicUsize::new(0), &self.net, &self.parts);
        let run = |work: &Mutex<Work>| {
            let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
            let mut slopes = Vec::new();
            loop {
                let i = next.fetch_add(1, Relaxed);
                let Some(part) = parts.get(i) else { break };
                let mut result = results[i].lock().unwrap_or_else(PoisonError::into_inner);
                let boards = part.iter().map(|sample| tiles(&sample.board));
                let outputs = work.forward(net.graph(), &net.weights, boards);
                slopes.resize(outputs.len(), 0.0);
                result.step = score::<L>(part, outputs, &mut slopes, batch.len());
                if backward {
                    result.gradient.clear();
                    result.gradient.resize(net.weights.len(), 0.0);
                    work.backward(net.graph(), &net.weights, &slopes, &mut result.gradient);
                }
            }
        };
        for_each(&self.workers[..self.workers.len().min(parts.len().max(1))], run);
        let mut total = Step::default();
        for part in &mut self.parts[..parts.len()] {
            total.add(part.get_mut().unwrap_or_else(PoisonError::into_inner).step);
        }
        total
    }

    /// Adam's step along the sum of the parts' gradients; each thread takes a share of the weights.
    fn apply(&mut self, parts: usize, rate: f32) {
        let step = self.adam.begin(rate);
        let parts: Vec<_> = self.parts[..parts]
            .iter_mut()
            .map(|part| &mut part.get_mut().unwrap_or_else(PoisonError::into_inner).gradient)
            .collect();
        let share = self.net.weights.len().div_ceil(self.threads);
        let mut parts = parts.into_iter();
        let Some(first) = parts.next() else { return };
        let rest: Vec<&Vec<f32>> = parts.map(|part| &*part).collect();
        let weights = self.net.weights.chunks_mut(share).zip(first.chunks_mut(share));
        let state = self.adam.exp_avg.chunks_mut(share).zip(self.adam.exp_avg_sq.chunks_mut(share));
        let shares: Vec<_> = weights.zip(state).enumerate().map(Some).map(Mutex::new).collect();
        for_each(&shares, |taken| {
            let taken = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some((i, ((weights, sum), (m, v)))) = taken else { return };
            for part in &rest {
                let part = &part[i * share..];
                sum.iter_mut().zip(part).for_each(|(sum, g)| *sum += g);
            }
            step.apply(weights, sum, m, v);
        });
    }
}

/// The losses of a part, and their derivatives for the mean over the whole batch.
fn score<L: Loss>(part: &[Sample<L::Target>], outputs: &[f32], slopes: &mut [f32], batch: usize) -> Step {
    let mut step = Step { samples: part.len() as u64, ..Step::default() };
    let rows = outputs.chunks_exact(L::OUTPUTS).zip(slopes.chunks_exact_mut(L::OUTPUTS));
    for (sample, (outputs, slopes)) in part.iter().zip(rows) {
        let (loss, right) = L::of(outputs, sample.target, slopes);
        slopes.iter_mut().for_each(|slope| *slope /= batch as f32);
        step.loss += loss;
        step.right += u64::from(right);
    }
    step
}
