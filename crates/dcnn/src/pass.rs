//! Forward and backward through a network on the CPU, for a few boards at a time.

use std::ops::Range;

use crate::{
    gemm::{Matrix, add_product},
    graph::{Graph, Head, Layer, Source},
    winograd,
};

/// The tiles of a board, as exponents, row-major.
pub type Tiles = [u8; 16];

/// The buffers of a pass on the CPU.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuPass {
    tiles: Vec<Tiles>,
    /// The image of each layer: a number for each pixel, board and channel.
    images: Vec<Vec<f32>>,
    /// The derivatives of the loss for each number of the images.
    slopes: Vec<Vec<f32>>,
    /// The im2col matrix of a few boards.
    columns: Vec<f32>,
    winograd: winograd::Room,
    outputs: Vec<f32>,
}

/// For up to this many boards, one product with the whole im2col matrix is faster than one for each run of pixels,
/// although the matrix contains zeros.
const FEW: usize = 2;

/// For fewer boards than this, the products that Winograd's algorithm saves take less time than its sums of filters.
const MANY: usize = 24;

/// A buffer for this many numbers, with unspecified contents.
fn room(numbers: &mut Vec<f32>, len: usize) -> &mut [f32] {
    numbers.resize(len, 0.0);
    numbers
}

impl Graph {
    /// The outputs for each board.
    pub(crate) fn forward<'w>(
        &self,
        weights: &[f32],
        boards: impl Iterator<Item = Tiles>,
        work: &'w mut CpuPass,
    ) -> &'w [f32] {
        work.tiles.clear();
        work.tiles.extend(boards);
        work.images.resize_with(self.layers.len(), Vec::new);
        let boards = work.tiles.len();
        if boards == 0 {
            return &[];
        }
        for (i, layer) in self.layers.iter().enumerate() {
            let (before, image) = work.images.split_at_mut(i);
            let image = room(&mut image[0], boards * layer.size());
            layer.begin(weights, boards, image);
            match layer.source {
                Source::Board => layer.look_up(weights, &work.tiles, image),
                Source::Image(source) if boards <= FEW => {
                    let columns = layer.gather(&before[source], boards, &mut work.columns);
                    add_product(columns, Matrix::new(&weights[layer.filters.clone()], layer.outputs), image);
                }
                Source::Image(source) if layer.is_for_winograd(boards) => {
                    let (shape, filters) = (layer.shape(boards), &weights[layer.filters.clone()]);
                    winograd::convolve(shape, filters, &before[source], image, &mut work.winograd);
                }
                Source::Image(source) => layer.convolve(weights, &before[source], boards, image),
            }
            image.iter_mut().for_each(|number| *number = number.max(0.0));
        }
        self.connect(weights, work)
    }

    /// The fully connected layers.
    fn connect<'w>(&self, weights: &[f32], work: &'w mut CpuPass) -> &'w [f32] {
        let boards = work.tiles.len();
        let outputs = room(&mut work.outputs, boards * self.outputs);
        outputs.fill(0.0);
        if !self.bias.is_empty() {
            let bias = &weights[self.bias.clone()];
            outputs.chunks_exact_mut(self.outputs).for_each(|row| row.copy_from_slice(bias));
        }
        for head in &self.heads {
            let channels = self.layers[head.image].outputs;
            let pixels = work.images[head.image].chunks(boards * channels);
            let matrices = weights[head.matrix.clone()].chunks(channels * self.outputs);
            for (pixel, matrix) in pixels.zip(matrices) {
                add_product(Matrix::new(pixel, channels), Matrix::new(matrix, self.outputs), outputs);
            }
        }
        outputs
    }

    /// Adds the derivative of the loss for each weight to `gradient`, given its derivatives for the outputs of the
    /// forward pass just made.
    pub(crate) fn backward(&self, weights: &[f32], slopes: &[f32], work: &mut CpuPass, gradient: &mut [f32]) {
        work.slopes.resize_with(self.layers.len(), Vec::new);
        for (slopes, image) in work.slopes.iter_mut().zip(&work.images) {
            room(slopes, image.len()).fill(0.0);
        }
        add_rows(slopes, &mut gradient[self.bias.clone()]);
        for head in &self.heads {
            self.disconnect(head, weights, slopes, work, gradient);
        }
        let boards = work.tiles.len();
        for (i, layer) in self.layers.iter().enumerate().rev() {
            let (before, slopes) = work.slopes.split_at_mut(i);
            let slopes = &mut slopes[0];
            // No gradient passes where ReLU was inactive.
            for (slope, &number) in slopes.iter_mut().zip(&work.images[i]) {
                *slope = if number > 0.0 { *slope } else { 0.0 };
            }
            layer.end(slopes, boards, gradient);
            match layer.source {
                Source::Board => {
                    layer.add_looked_up(slopes, &work.tiles, &mut gradient[layer.filters.clone()])
                }
                Source::Image(source) => {
                    let (image, before) = (&work.images[source], &mut before[source]);
                    if layer.is_for_winograd(boards) {
                        let (shape, filters) = (layer.shape(boards), &weights[layer.filters.clone()]);
                        let (gradient, room) = (&mut gradient[layer.filters.clone()], &mut work.winograd);
                        winograd::add_convolved(shape, filters, slopes, image, before, gradient, room);
                    } else {
                        layer.add_convolved(weights, slopes, image, before, boards, gradient);
                    }
                }
            }
        }
    }

    /// The transpose of a fully connected layer.
    fn disconnect(
        &self,
        head: &Head,
        weights: &[f32],
        slopes: &[f32],
        work: &mut CpuPass,
        gradient: &mut [f32],
    ) {
        let channels = self.layers[head.image].outputs;
        let (row, matrix) = (work.tiles.len() * channels, channels * self.outputs);
        let slopes = Matrix::new(slopes, self.outputs);
        let pixels = work.images[head.image].chunks(row).zip(work.slopes[head.image].chunks_mut(row));
        let matrices = weights[head.matrix.clone()].chunks(matrix);
        let gradients = gradient[head.matrix.clone()].chunks_mut(matrix);
        for ((pixel, before), (matrix, gradient)) in pixels.zip(matrices.zip(gradients)) {
            add_product(Matrix::new(pixel, channels).transposed(), slopes, gradient);
            add_product(slopes, Matrix::new(matrix, self.outputs).transposed(), before);
        }
    }
}

impl Layer {
    fn is_for_winograd(&self, boards: usize) -> bool {
        self.taps.has_winograd && boards >= MANY
    }

    fn shape(&self, boards: usize) -> winograd::Shape {
        winograd::Shape { boards, inputs: self.inputs, outputs: self.outputs }
    }

    /// Initializes the image with the bias, or with zeros.
    fn begin(&self, weights: &[f32], boards: usize, image: &mut [f32]) {
        if self.bias.is_empty() {
            return image.fill(0.0);
        }
        // One bias for all pixels, or one for each.
        let mut biases = weights[self.bias.clone()].chunks_exact(self.outputs).cycle();
        for pixel in image.chunks_mut(boards * self.outputs) {
            if let Some(bias) = biases.next() {
                pixel.chunks_exact_mut(self.outputs).for_each(|row| row.copy_from_slice(bias));
            }
        }
    }

    /// The transpose of [`begin`](Self::begin).
    fn end(&self, slopes: &[f32], boards: usize, gradient: &mut [f32]) {
        let biases = self.bias.len() / self.outputs;
        for (pixel, slopes) in slopes.chunks(boards * self.outputs).enumerate().filter(|_| biases > 0) {
            let start = self.bias.start + pixel % biases * self.outputs;
            add_rows(slopes, &mut gradient[start..][..self.outputs]);
        }
    }

    /// Adds the convolution of images.
    fn convolve(&self, weights: &[f32], before: &[f32], boards: usize, image: &mut [f32]) {
        for run in &self.taps.runs {
            let from = &before[run.from * boards * self.inputs..][..run.len * boards * self.inputs];
            let to = &mut image[run.to * boards * self.outputs..][..run.len * boards * self.outputs];
            let filter = Matrix::new(&weights[self.filter(run.tap)], self.outputs);
            add_product(Matrix::new(from, self.inputs), filter, to);
        }
    }

    /// im2col: the inputs of the filters, a row for each pixel and board, so that the product with the filters is the
    /// convolution.
    fn gather<'c>(&self, before: &[f32], boards: usize, columns: &'c mut Vec<f32>) -> Matrix<'c> {
        let row = self.filters.len() / self.outputs;
        let columns = room(columns, self.taps.pixels * boards * row);
        columns.fill(0.0);
        for run in &self.taps.runs {
            let from = before[run.from * boards * self.inputs..].chunks_exact(self.inputs);
            let to = columns[run.to * boards * row..].chunks_exact_mut(row);
            for (from, to) in from.zip(to).take(run.len * boards) {
                to[run.tap * self.inputs..][..self.inputs].copy_from_slice(from);
            }
        }
        Matrix::new(columns, row)
    }

    /// The transpose of [`convolve`](Self::convolve): adds to the slopes before it, and to the gradient.
    fn add_convolved(
        &self,
        weights: &[f32],
        slopes: &[f32],
        image: &[f32],
        before: &mut [f32],
        boards: usize,
        gradient: &mut [f32],
    ) {
        for run in &self.taps.runs {
            let from = run.from * boards * self.inputs..(run.from + run.len) * boards * self.inputs;
            let to = &slopes[run.to * boards * self.outputs..][..run.len * boards * self.outputs];
            let (filter, to) = (self.filter(run.tap), Matrix::new(to, self.outputs));
            let image = Matrix::new(&image[from.clone()], self.inputs);
            add_product(image.transposed(), to, &mut gradient[filter.clone()]);
            let filter = Matrix::new(&weights[filter], self.outputs);
            add_product(to, filter.transposed(), &mut before[from]);
        }
    }

    /// The weights of one filter cell.
    fn filter(&self, tap: usize) -> Range<usize> {
        let size = self.inputs * self.outputs;
        self.filters.start + tap * size..self.filters.start + (tap + 1) * size
    }

    /// Adds the convolution of boards. Only one channel of each cell is 1, so no products are needed.
    fn look_up(&self, weights: &[f32], boards: &[Tiles], image: &mut [f32]) {
        let filters = &weights[self.filters.clone()];
        self.for_each_tile(boards, |pixel, row| {
            let (sums, filter) = (&mut image[pixel..][..self.outputs], &filters[row..][..self.outputs]);
            sums.iter_mut().zip(filter).for_each(|(sum, weight)| *sum += weight);
        });
    }

    /// The transpose of [`look_up`](Self::look_up).
    fn add_looked_up(&self, slopes: &[f32], boards: &[Tiles], gradient: &mut [f32]) {
        self.for_each_tile(boards, |pixel, row| {
            let (sums, slopes) = (&mut gradient[row..][..self.outputs], &slopes[pixel..][..self.outputs]);
            sums.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
        });
    }

    /// Calls a function for each tile that a filter covers, with the offsets of the pixel in the images and of the row
    /// in the filters.
    fn for_each_tile(&self, boards: &[Tiles], mut call: impl FnMut(usize, usize)) {
        for run in &self.taps.runs {
            for (to, from) in (run.to..run.to + run.len).zip(run.from..) {
                for (b, board) in boards.iter().enumerate() {
                    let tile = usize::from(board[from]).min(self.inputs - 1);
                    let row = (run.tap * self.inputs + tile) * self.outputs;
                    call((to * boards.len() + b) * self.outputs, row);
                }
            }
        }
    }
}

/// Adds all rows to `sum`, unless it is empty.
fn add_rows(rows: &[f32], sum: &mut [f32]) {
    if !sum.is_empty() {
        for row in rows.chunks_exact(sum.len()) {
            sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
    }
}
