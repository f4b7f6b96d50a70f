//! Forward and backward through a network on a GPU, by burn's tensors on wgpu.
//!
//! The same passes as on the CPU, for more boards at a time. Loss and Adam stay on the CPU, so that there is one of each, and a
//! checkpoint is the same wherever it was made; weights go to the device when they have changed, and gradients come back.
//!
//! Backward is written out, as on the CPU. burn's autodiff would share its graphs between all threads, of which one can take away
//! what another is still building (burn's issue 5573).

use std::{ops::Range, sync::OnceLock};

use afterstate_dcnn::{
    DeviceError, DevicePass, Tiles,
    graph::{Graph, Head, Layer, Source},
    provide_gpu,
};
use burn_tensor::{
    Device, IndexingUpdateOp, Int, Tensor, TensorData, Transaction, activation::relu, wgpu::WgpuBackend,
};

/// Makes the GPU known to this program.
pub fn provide() {
    provide_gpu(|| Ok(Box::new(GpuPass::new()?)));
}

/// What stands on the device. Images are tensors of board, pixel and channel.
#[derive(Clone, Debug)]
struct GpuPass {
    device: Device,
    /// The weights here, as they were sent, and there.
    sent: Option<(Vec<f32>, Tensor<1>)>,
    /// The boards, with a channel for each tile value; then the image of each layer.
    images: Vec<Tensor<3>>,
    outputs: Vec<f32>,
}

/// The device of this process. burn prepares it once.
fn device() -> Result<Device, DeviceError> {
    static DEVICE: OnceLock<Result<Device, DeviceError>> = OnceLock::new();
    let prepare = || {
        // Where there is no driver for Vulkan, wgpu would take OpenGL and say nothing.
        let api = if cfg!(target_vendor = "apple") { WgpuBackend::Auto } else { WgpuBackend::Vulkan };
        let device = Device::wgpu_options().graphics_api(api).init();
        device.map_err(|error| DeviceError::NotFound(error.to_string()))
    };
    DEVICE.get_or_init(prepare).clone()
}

impl GpuPass {
    /// Room on the GPU.
    fn new() -> Result<Self, DeviceError> {
        Ok(GpuPass { device: device()?, sent: None, images: Vec::new(), outputs: Vec::new() })
    }
}

impl DevicePass for GpuPass {
    /// # Panics
    /// When the device fails.
    fn forward(&mut self, graph: &Graph, weights: &[f32], boards: &[Tiles]) -> &[f32] {
        if boards.is_empty() {
            return &[];
        }
        let weights = self.send(weights);
        self.images.clear();
        self.images.push(self.one_hot(boards, graph.layers[0].inputs));
        for layer in &graph.layers {
            let image = convolution(layer, &weights, self.images[before(layer)].clone());
            self.images.push(relu(image));
        }
        let mut outputs = match graph.bias.is_empty() {
            true => Tensor::zeros([1, graph.outputs], &self.device),
            false => matrix(&weights, &graph.bias, graph.outputs),
        };
        for head in &graph.heads {
            outputs = self.flat(head).matmul(matrix(&weights, &head.matrix, graph.outputs)) + outputs;
        }
        self.outputs = numbers(outputs.into_data());
        &self.outputs
    }

    /// # Panics
    /// When the device fails.
    fn backward(&mut self, graph: &Graph, weights: &[f32], slopes: &[f32], gradient: &mut [f32]) {
        if slopes.is_empty() {
            return;
        }
        let weights = self.send(weights);
        let shape = [slopes.len() / graph.outputs, graph.outputs];
        let slopes = Tensor::<2>::from_data(TensorData::new(slopes.to_vec(), shape), &self.device);
        let mut sums: Vec<(&Range<usize>, Tensor<1>)> = Vec::new();
        if !graph.bias.is_empty() {
            sums.push((&graph.bias, slopes.clone().sum_dim(0).flatten(0, 1)));
        }
        let mut all: Vec<_> = self.images.iter().map(Tensor::zeros_like).collect();
        for head in &graph.heads {
            sums.push((&head.matrix, self.flat(head).transpose().matmul(slopes.clone()).flatten(0, 1)));
            let matrix = matrix(&weights, &head.matrix, graph.outputs);
            let before = &mut all[head.image + 1];
            *before = slopes.clone().matmul(matrix.transpose()).reshape(before.dims()) + before.clone();
        }
        for (i, layer) in graph.layers.iter().enumerate().rev() {
            // Where ReLU has let nothing through, nothing comes back.
            let closed = self.images[i + 1].clone().lower_equal_elem(0.0);
            let slopes = all.remove(i + 1).mask_fill(closed, 0.0);
            if !layer.bias.is_empty() {
                sums.push((&layer.bias, add_pixels(layer, slopes.clone())));
            }
            let slopes: Tensor<2> = slopes.flatten(0, 1);
            let columns = columns(layer, self.images[before(layer)].clone());
            sums.push((&layer.filters, columns.transpose().matmul(slopes.clone()).flatten(0, 1)));
            if let Source::Image(_) = layer.source {
                let filters = matrix(&weights, &layer.filters, layer.outputs);
                let before = &mut all[before(layer)];
                *before = add_columns(layer, slopes.matmul(filters.transpose()), before.clone());
            }
        }
        // All at once, since reading waits for the device.
        let (ranges, sums): (Vec<_>, Vec<_>) = sums.into_iter().unzip();
        let read = sums.into_iter().fold(Transaction::default(), Transaction::register);
        for (range, sum) in ranges.into_iter().zip(read.execute()) {
            let gradient = gradient[range.clone()].iter_mut();
            gradient.zip(numbers(sum)).for_each(|(gradient, number)| *gradient += number);
        }
    }

    fn boxed_clone(&self) -> Box<dyn DevicePass> {
        Box::new(self.clone())
    }
}

impl GpuPass {
    /// The weights on the device; they are sent when they have changed.
    fn send(&mut self, weights: &[f32]) -> Tensor<1> {
        match &self.sent {
            Some((here, there)) if here == weights => there.clone(),
            _ => {
                let there =
                    Tensor::from_data(TensorData::new(weights.to_vec(), [weights.len()]), &self.device);
                self.sent = Some((weights.to_vec(), there.clone()));
                there
            }
        }
    }

    /// Boards as images: 1 in the channel of the tile.
    fn one_hot(&self, boards: &[Tiles], channels: usize) -> Tensor<3> {
        let mut image = vec![0.0f32; boards.len() * boards[0].len() * channels];
        for (pixel, &tile) in image.chunks_exact_mut(channels).zip(boards.as_flattened()) {
            pixel[usize::from(tile).min(channels - 1)] = 1.0;
        }
        let shape = [boards.len(), boards[0].len(), channels];
        Tensor::from_data(TensorData::new(image, shape), &self.device)
    }

    /// The image that is fully connected, a row for each board.
    fn flat(&self, head: &Head) -> Tensor<2> {
        self.images[head.image + 1].clone().flatten(1, 2)
    }
}

/// Where among the images the one before a layer is: the boards stand first.
fn before(layer: &Layer) -> usize {
    match layer.source {
        Source::Board => 0,
        Source::Image(image) => image + 1,
    }
}

/// A part of the weights as a matrix with so many columns.
fn matrix(weights: &Tensor<1>, range: &Range<usize>, columns: usize) -> Tensor<2> {
    weights.clone().slice([range.clone()]).reshape([range.len() / columns, columns])
}

/// The numbers of a tensor.
fn numbers(data: TensorData) -> Vec<f32> {
    data.try_into_vec().expect("the device computes with f32")
}

/// The convolution of images, before ReLU.
fn convolution(layer: &Layer, weights: &Tensor<1>, before: Tensor<3>) -> Tensor<3> {
    let boards = before.dims()[0];
    let image = columns(layer, before).matmul(matrix(weights, &layer.filters, layer.outputs));
    let image = image.reshape([boards, layer.taps.pixels, layer.outputs]);
    match layer.bias.is_empty() {
        true => image,
        // One bias for all pixels, or one for each.
        false => image + matrix(weights, &layer.bias, layer.outputs).unsqueeze(),
    }
}

/// im2col: all that the filters see, a row for each board and pixel.
fn columns(layer: &Layer, before: Tensor<3>) -> Tensor<2> {
    let [boards, pixels, channels] = before.dims();
    let device = before.device();
    let padding = Tensor::zeros([boards, 1, channels], &device);
    let seen = Tensor::cat(vec![before, padding], 1).select(1, seen(layer, pixels, &device));
    seen.reshape([boards * layer.taps.pixels, cells(layer) * channels])
}

/// The transpose of [`columns`]: adds to the slopes before it.
fn add_columns(layer: &Layer, slopes: Tensor<2>, before: Tensor<3>) -> Tensor<3> {
    let [boards, pixels, channels] = before.dims();
    let device = before.device();
    let slopes = slopes.reshape([boards, layer.taps.pixels * cells(layer), channels]);
    let sums = Tensor::zeros([boards, pixels + 1, channels], &device);
    let sums = sums.select_assign(1, seen(layer, pixels, &device), slopes, IndexingUpdateOp::Add);
    before + sums.narrow(1, 0, pixels)
}

/// For each pixel and cell of the filter, the pixel that it sees; the one behind the last is the padding.
fn seen(layer: &Layer, pixels: usize, device: &Device) -> Tensor<1, Int> {
    let cells = cells(layer);
    let mut seen = vec![pixels as i32; layer.taps.pixels * cells];
    for run in &layer.taps.runs {
        for i in 0..run.len {
            seen[(run.to + i) * cells + run.tap] = (run.from + i) as i32;
        }
    }
    let shape = [seen.len()];
    Tensor::from_data(TensorData::new(seen, shape), device)
}

/// The cells of the filter.
fn cells(layer: &Layer) -> usize {
    layer.filters.len() / layer.inputs / layer.outputs
}

/// The gradient of the bias.
fn add_pixels(layer: &Layer, slopes: Tensor<3>) -> Tensor<1> {
    let sum = slopes.sum_dim(0);
    let sum = if layer.bias.len() == layer.outputs { sum.sum_dim(1) } else { sum };
    sum.flatten(0, 2)
}
