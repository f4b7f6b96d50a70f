//! Forward and backward through a network, for a few boards at a time.

use crate::{
    gemm::{Before, Matrix, multiply},
    graph::{Graph, Layer, Source},
};

/// The tiles of a board, as exponents, row-major.
pub(crate) type Tiles = [u8; 16];

/// What a pass through a network needs room for. One for each thread, to be used again and again.
#[derive(Clone, Debug, Default)]
pub struct Work {
    tiles: Vec<Tiles>,
    /// The image of each layer: for each board, pixel and channel a number.
    images: Vec<Vec<f32>>,
    /// How the loss changes with each number of the images.
    slopes: Vec<Vec<f32>>,
    /// What the filters see.
    columns: Vec<f32>,
    outputs: Vec<f32>,
}

/// Room for so many numbers, whatever stands there now.
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
        work: &'w mut Work,
    ) -> &'w [f32] {
        work.tiles.clear();
        work.tiles.extend(boards);
        work.images.resize_with(self.layers.len(), Vec::new);
        for (i, layer) in self.layers.iter().enumerate() {
            let (before, image) = work.images.split_at_mut(i);
            let image = room(&mut image[0], work.tiles.len() * layer.size());
            match layer.source {
                Source::Board => layer.look_up(weights, &work.tiles, image),
                Source::Image(source) => {
                    let pixels = self.layers[source].taps.pixels();
                    let columns = layer.columns(&before[source], pixels, &mut work.columns);
                    let filters = Matrix::new(&weights[layer.filters.clone()], layer.outputs);
                    multiply(columns, filters, image, Before::Forget);
                }
            }
            layer.activate(weights, image);
        }
        self.connect(weights, work)
    }

    /// The full connections.
    fn connect<'w>(&self, weights: &[f32], work: &'w mut Work) -> &'w [f32] {
        let outputs = room(&mut work.outputs, work.tiles.len() * self.outputs);
        outputs.fill(0.0);
        if !self.bias.is_empty() {
            let bias = &weights[self.bias.clone()];
            outputs.chunks_exact_mut(self.outputs).for_each(|row| row.copy_from_slice(bias));
        }
        for head in &self.heads {
            let image = Matrix::new(&work.images[head.image], self.layers[head.image].size());
            let matrix = Matrix::new(&weights[head.matrix.clone()], self.outputs);
            multiply(image, matrix, outputs, Before::Add);
        }
        outputs
    }

    /// Adds to `gradient` how the loss changes with each weight, from how it changes with each output of the forward
    /// pass just made.
    pub(crate) fn backward(&self, weights: &[f32], slopes: &[f32], work: &mut Work, gradient: &mut [f32]) {
        work.slopes.resize_with(self.layers.len(), Vec::new);
        for (slopes, image) in work.slopes.iter_mut().zip(&work.images) {
            room(slopes, image.len()).fill(0.0);
        }
        add_rows(slopes, &mut gradient[self.bias.clone()]);
        for head in &self.heads {
            let (size, slopes) = (self.layers[head.image].size(), Matrix::new(slopes, self.outputs));
            let image = Matrix::new(&work.images[head.image], size);
            multiply(image.transposed(), slopes, &mut gradient[head.matrix.clone()], Before::Add);
            let matrix = Matrix::new(&weights[head.matrix.clone()], self.outputs);
            multiply(slopes, matrix.transposed(), &mut work.slopes[head.image], Before::Add);
        }
        for (i, layer) in self.layers.iter().enumerate().rev() {
            self.backward_layer(i, layer, weights, work, gradient);
        }
    }

    fn backward_layer(
        &self,
        i: usize,
        layer: &Layer,
        weights: &[f32],
        work: &mut Work,
        gradient: &mut [f32],
    ) {
        let (before, slopes) = work.slopes.split_at_mut(i);
        let slopes = &mut slopes[0];
        // Where ReLU has let nothing through, nothing comes back.
        for (slope, &number) in slopes.iter_mut().zip(&work.images[i]) {
            *slope = if number > 0.0 { *slope } else { 0.0 };
        }
        add_rows(slopes, &mut gradient[layer.bias.clone()]);
        let Source::Image(source) = layer.source else {
            return layer.add_looked_up(slopes, &work.tiles, &mut gradient[layer.filters.clone()]);
        };
        let pixels = self.layers[source].taps.pixels();
        let columns = layer.columns(&work.images[source], pixels, &mut work.columns);
        let slopes = Matrix::new(slopes, layer.outputs);
        multiply(columns.transposed(), slopes, &mut gradient[layer.filters.clone()], Before::Add);
        let filters = Matrix::new(&weights[layer.filters.clone()], layer.outputs);
        multiply(slopes, filters.transposed(), &mut work.columns, Before::Forget);
        layer.taps.scatter(&work.columns, pixels, layer.inputs, &mut before[source]);
    }
}

impl Layer {
    /// What the filters see of images.
    fn columns<'c>(&self, images: &[f32], pixels: usize, columns: &'c mut Vec<f32>) -> Matrix<'c> {
        let boards = images.len() / (pixels * self.inputs);
        let columns = room(columns, boards * self.taps.sources.len() * self.inputs);
        self.taps.gather(images, pixels, self.inputs, columns);
        Matrix::new(columns, self.taps.count * self.inputs)
    }

    /// The convolution of boards. Only one channel of each cell is 1, so that no products are needed.
    fn look_up(&self, weights: &[f32], boards: &[Tiles], image: &mut [f32]) {
        let filters = &weights[self.filters.clone()];
        image.fill(0.0);
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

    /// Calls for each tile that a filter covers, with the places of the pixel in the images and of the row in the filters.
    fn for_each_tile(&self, boards: &[Tiles], mut call: impl FnMut(usize, usize)) {
        for (b, board) in boards.iter().enumerate() {
            for (i, source) in self.taps.sources.iter().enumerate() {
                let Some(cell) = *source else { continue };
                let (pixel, tap) = (i / self.taps.count, i % self.taps.count);
                let tile = usize::from(board[cell]).min(self.inputs - 1);
                let row = (tap * self.inputs + tile) * self.outputs;
                call(b * self.size() + pixel * self.outputs, row);
            }
        }
    }

    /// Bias and ReLU.
    fn activate(&self, weights: &[f32], image: &mut [f32]) {
        if self.bias.is_empty() {
            return image.iter_mut().for_each(|number| *number = number.max(0.0));
        }
        let bias = &weights[self.bias.clone()];
        for row in image.chunks_exact_mut(bias.len()) {
            row.iter_mut().zip(bias).for_each(|(number, bias)| *number = (*number + bias).max(0.0));
        }
    }
}

/// Adds all rows to one; nothing if it is empty.
fn add_rows(rows: &[f32], sum: &mut [f32]) {
    if !sum.is_empty() {
        for row in rows.chunks_exact(sum.len()) {
            sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        }
    }
}
