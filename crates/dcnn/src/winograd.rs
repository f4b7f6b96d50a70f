//! Convolutions with fewer products: 2×2 filters on 4×4 images, zero-padded at the right and the bottom.
//!
//! Winograd, *Arithmetic Complexity of Computations* (1980); Lavin and Gray, *Fast Algorithms for Convolutional Neural
//! Networks* (2016). In one dimension the four outputs xᵢw₀ + xᵢ₊₁w₁, with x₄ = 0, are sums of five products
//!
//! ```text
//! (x₀ − x₂)·w₀    x₃·w₀    (x₁ + x₂)·(w₀ + w₁)/2    (x₂ − x₁)·(w₀ − w₁)/2    (x₃ − x₁)·w₁
//! ```
//!
//! where the definition has seven; in two dimensions there are 25 instead of 49. Here x is the matrix of a pixel, with
//! a row for each board and a column for each channel, and w the matrix of a filter cell, so that sums are cheap
//! compared with products. Products with the same filter are computed together: there are sixteen filters.

use std::iter;

use crate::gemm::{Matrix, add_product};

/// A product in one dimension.
struct Product {
    /// The index in [`FILTERS`].
    filter: usize,
    /// The pixels that are summed, with their signs.
    input: [f32; 4],
    /// The pixels of the output image to which it is added, with their signs.
    output: [f32; 4],
}

const FILTERS: [[f32; 2]; 4] = [[1.0, 0.0], [0.5, 0.5], [0.5, -0.5], [0.0, 1.0]];

const PRODUCTS: [Product; 5] = [
    Product { filter: 0, input: [1.0, 0.0, -1.0, 0.0], output: [1.0, 0.0, 0.0, 0.0] },
    Product { filter: 0, input: [0.0, 0.0, 0.0, 1.0], output: [0.0, 0.0, 0.0, 1.0] },
    Product { filter: 1, input: [0.0, 1.0, 1.0, 0.0], output: [1.0, 1.0, 1.0, 0.0] },
    Product { filter: 2, input: [0.0, -1.0, 1.0, 0.0], output: [1.0, -1.0, 1.0, 0.0] },
    Product { filter: 3, input: [0.0, -1.0, 0.0, 1.0], output: [0.0, 0.0, 1.0, 0.0] },
];

/// The dimensions of a convolution: images are ordered by pixel, board and channel, filters by cell, input and output.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) boards: usize,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

/// Buffers for the factors and products.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    filter: Vec<f32>,
    input: Vec<f32>,
    output: Vec<f32>,
}

/// Adds the convolution of an image.
pub(crate) fn convolve(shape: Shape, filters: &[f32], before: &[f32], image: &mut [f32], room: &mut Room) {
    for filter in 0..16 {
        let products = products(filter);
        sum_into(&mut room.filter, filters, shape.inputs * shape.outputs, iter::once(cells(filter)));
        let inputs = products.clone().map(Pair::input);
        sum_into(&mut room.input, before, shape.boards * shape.inputs, inputs);
        let len = room.input.len() / shape.inputs * shape.outputs;
        zeros(&mut room.output, len);
        let filter = Matrix::new(&room.filter, shape.outputs);
        add_product(Matrix::new(&room.input, shape.inputs), filter, &mut room.output);
        add_from(&room.output, image, shape.boards * shape.outputs, products.map(Pair::output));
    }
}

/// The transpose of [`convolve`]: given the derivatives of the loss for the output image, adds those for the input
/// image and for the filters.
pub(crate) fn add_convolved(
    shape: Shape,
    filters: &[f32],
    slopes: &[f32],
    image: &[f32],
    before: &mut [f32],
    gradient: &mut [f32],
    room: &mut Room,
) {
    let (row, matrix) = (shape.boards * shape.inputs, shape.inputs * shape.outputs);
    for filter in 0..16 {
        let products = products(filter);
        let inputs = products.clone().map(Pair::input);
        sum_into(&mut room.input, image, row, inputs.clone());
        let outputs = products.map(Pair::output);
        sum_into(&mut room.output, slopes, shape.boards * shape.outputs, outputs);
        let output = Matrix::new(&room.output, shape.outputs);
        zeros(&mut room.filter, matrix);
        add_product(Matrix::new(&room.input, shape.inputs).transposed(), output, &mut room.filter);
        add_from(&room.filter, gradient, matrix, iter::once(cells(filter)));

        sum_into(&mut room.filter, filters, matrix, iter::once(cells(filter)));
        room.input.fill(0.0);
        add_product(output, Matrix::new(&room.filter, shape.outputs).transposed(), &mut room.input);
        add_from(&room.input, before, row, inputs);
    }
}

/// A product in two dimensions.
#[derive(Clone, Copy)]
struct Pair(&'static Product, &'static Product);

impl Pair {
    fn input(self) -> [f32; 16] {
        outer(&self.0.input, &self.1.input)
    }

    fn output(self) -> [f32; 16] {
        outer(&self.0.output, &self.1.output)
    }
}

/// The products with one of the sixteen filters.
fn products(filter: usize) -> impl Iterator<Item = Pair> + Clone {
    let with = |filter| PRODUCTS.iter().filter(move |product| product.filter == filter);
    with(filter / 4).flat_map(move |rows| with(filter % 4).map(move |columns| Pair(rows, columns)))
}

/// The cells whose sum is the given one of the sixteen filters.
fn cells(filter: usize) -> [f32; 4] {
    outer(&FILTERS[filter / 4], &FILTERS[filter % 4])
}

fn outer<const N: usize, const M: usize>(rows: &[f32; N], columns: &[f32; N]) -> [f32; M] {
    std::array::from_fn(|i| rows[i / N] * columns[i % N])
}

/// Fills the buffer with this many zeros.
fn zeros(numbers: &mut Vec<f32>, len: usize) {
    numbers.clear();
    numbers.resize(len, 0.0);
}

/// For each list of factors, the weighted sum of blocks of this length.
fn sum_into<const N: usize>(
    sums: &mut Vec<f32>,
    blocks: &[f32],
    len: usize,
    factors: impl Iterator<Item = [f32; N]> + Clone,
) {
    sums.resize(factors.clone().count() * len, 0.0);
    for (sum, factors) in sums.chunks_exact_mut(len).zip(factors) {
        let mut terms = terms(&factors).map(|(i, factor)| (&blocks[i * len..][..len], factor));
        if let Some((block, factor)) = terms.next() {
            sum.iter_mut().zip(block).for_each(|(sum, number)| *sum = factor * number);
        }
        terms.for_each(|(block, factor)| add(sum, block, factor));
    }
}

/// The transpose of [`sum_into`]: adds each sum to its blocks.
fn add_from<const N: usize>(
    sums: &[f32],
    blocks: &mut [f32],
    len: usize,
    factors: impl Iterator<Item = [f32; N]>,
) {
    for (sum, factors) in sums.chunks_exact(len).zip(factors) {
        for (i, factor) in terms(&factors) {
            add(&mut blocks[i * len..][..len], sum, factor);
        }
    }
}

/// The nonzero factors and their indices.
fn terms<const N: usize>(factors: &[f32; N]) -> impl Iterator<Item = (usize, f32)> {
    factors.iter().copied().enumerate().filter(|&(_, factor)| factor != 0.0)
}

fn add(sum: &mut [f32], numbers: &[f32], factor: f32) {
    sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += factor * number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taps::Taps;

    const SHAPE: Shape = Shape { boards: 3, inputs: 2, outputs: 5 };

    /// Small integers, so that every sum and product is exact.
    fn numbers(len: usize, seed: usize) -> Vec<f32> {
        (0..len).map(|i| (4 * ((i + seed) * 7919 % 31)) as f32 - 60.0).collect()
    }

    /// Calls a function for each product of the definition, with offsets in the input image, the filters and the output
    /// image.
    fn for_each_factor(mut call: impl FnMut(usize, usize, usize)) {
        let Shape { boards, inputs, outputs } = SHAPE;
        for run in Taps::new((4, 4), (2, 2), true).runs {
            for (pixel, board, i, o) in (0..run.len).flat_map(|pixel| {
                let channels = (0..inputs).flat_map(|i| (0..outputs).map(move |o| (i, o)));
                (0..boards).flat_map(move |b| channels.clone().map(move |(i, o)| (pixel, b, i, o)))
            }) {
                let from = ((run.from + pixel) * boards + board) * inputs + i;
                let to = ((run.to + pixel) * boards + board) * outputs + o;
                call(from, (run.tap * inputs + i) * outputs + o, to);
            }
        }
    }

    #[test]
    fn convolutions_and_their_transposes_are_those_of_the_definition() {
        let Shape { boards, inputs, outputs } = SHAPE;
        let (before, filters) = (numbers(16 * boards * inputs, 1), numbers(4 * inputs * outputs, 2));
        let slopes = numbers(16 * boards * outputs, 3);
        let mut room = Room::default();

        let [mut found, mut expected] = [(); 2].map(|()| numbers(slopes.len(), 4));
        convolve(SHAPE, &filters, &before, &mut found, &mut room);
        for_each_factor(|from, filter, to| expected[to] += before[from] * filters[filter]);
        assert_eq!(found, expected);

        let [mut found, mut expected] =
            [(); 2].map(|()| (numbers(before.len(), 5), numbers(filters.len(), 6)));
        add_convolved(SHAPE, &filters, &slopes, &before, &mut found.0, &mut found.1, &mut room);
        for_each_factor(|from, filter, to| {
            expected.0[from] += slopes[to] * filters[filter];
            expected.1[filter] += slopes[to] * before[from];
        });
        assert_eq!(found, expected);
    }
}
