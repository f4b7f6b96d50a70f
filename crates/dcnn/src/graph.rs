//! A network as a list of convolutions over one vector of weights.

use std::ops::Range;

use crate::{
    spec::{Architecture, DcnnSpec},
    taps::Taps,
};

/// A part of the weights, with its name in PyTorch.
///
/// PyTorch orders the three dimensions as output, input, and filter cell or pixel. Our order is the reverse, so
/// that the channels of a pixel, and the outputs of a weight, are adjacent (NHWC).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The shape in PyTorch.
    pub(crate) shape: Vec<u64>,
    dimensions: [usize; 3],
    pub(crate) range: Range<usize>,
}

impl Parameter {
    /// The indices among all weights, in PyTorch's order.
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let ([outputs, inputs, cells], start) = (self.dimensions, self.range.start);
        let place = move |o, i, c| start + (c * inputs + i) * outputs + o;
        let all =
            (0..outputs).flat_map(move |o| (0..inputs).flat_map(move |i| (0..cells).map(move |c| (o, i, c))));
        all.map(move |(o, i, c)| place(o, i, c))
    }
}

/// The input of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The board: a channel for each tile value.
    Board,
    /// The image that an earlier layer outputs.
    Image(usize),
}

/// A convolution with its ReLU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// Its input.
    pub source: Source,
    /// The pixels that it reads.
    pub taps: Taps,
    /// The channels of its input.
    pub inputs: usize,
    /// The channels of its output image.
    pub outputs: usize,
    /// A row for each filter cell and input, a column for each output.
    pub filters: Range<usize>,
    /// One for each output, or one for each pixel and output, or none.
    pub bias: Range<usize>,
}

impl Layer {
    /// The number of elements of its image.
    pub fn size(&self) -> usize {
        self.taps.pixels * self.outputs
    }
}

/// A fully connected layer from one image to the outputs of the network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The layer that outputs the image.
    pub image: usize,
    /// A row for each pixel and channel, a column for each output.
    pub matrix: Range<usize>,
}

/// The layers, and the ranges of their weights.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    pub(crate) parameters: Vec<Parameter>,
    /// The convolutions, each after those whose images it reads.
    pub layers: Vec<Layer>,
    /// The fully connected layers.
    pub heads: Vec<Head>,
    /// The bias of the outputs; none if empty.
    pub bias: Range<usize>,
    /// The number of outputs.
    pub outputs: usize,
}

/// The size of the board.
const BOARD: (usize, usize) = (4, 4);

impl Graph {
    /// The graph of a network.
    pub(crate) fn new(spec: &DcnnSpec) -> Self {
        let mut graph = Graph { outputs: spec.outputs(), ..Graph::default() };
        match spec.architecture {
            Architecture::Dcnn { layers, channels } => graph.dcnn(layers, channels, spec.tile_values),
            Architecture::Tjwei { first, second } => graph.tjwei(first, second, spec.tile_values),
        }
        graph
    }

    /// The number of weights.
    pub(crate) fn weights(&self) -> usize {
        self.parameters.last().map_or(0, |last| last.range.end)
    }

    /// kondo-2019, section 4.1.
    fn dcnn(&mut self, layers: usize, channels: usize, tile_values: usize) {
        let taps = Taps::new(BOARD, (2, 2), true);
        for k in 0..layers {
            let (source, inputs) =
                if k == 0 { (Source::Board, tile_values) } else { (Source::Image(k - 1), channels) };
            let filters = self.filters(&format!("conv{}.weight", k + 1), channels, inputs, (2, 2));
            let bias = self.add(format!("conv{}.bias", k + 1), vec![channels as u64], [channels, 1, 1]);
            self.layers.push(Layer { source, taps: taps.clone(), inputs, outputs: channels, filters, bias });
        }
        self.head("fc.weight", layers - 1);
        self.bias = self.add("fc.bias".into(), vec![self.outputs as u64], [self.outputs, 1, 1]);
    }

    /// kondo-2019, section 3.2. The paper gives the filters and the number of weights, 2,189,312 at half size. That
    /// number results if the second layer shares its filters between both images, and the only bias is one for each
    /// channel and pixel of the first layer.
    fn tjwei(&mut self, first: usize, second: usize, tile_values: usize) {
        const FILTERS: [(&str, (usize, usize)); 2] = [("a", (2, 1)), ("b", (1, 2))];
        for (name, filter) in FILTERS {
            let filters = self.filters(&format!("conv1{name}.weight"), first, tile_values, filter);
            let size = after(BOARD, filter);
            let (pixels, shape) = (size.0 * size.1, vec![first as u64, size.0 as u64, size.1 as u64]);
            let bias = self.add(format!("conv1{name}.bias"), shape, [first, 1, pixels]);
            let taps = Taps::new(BOARD, filter, false);
            self.layers.push(Layer {
                source: Source::Board,
                taps,
                inputs: tile_values,
                outputs: first,
                filters,
                bias,
            });
        }
        let shared =
            FILTERS.map(|(name, filter)| self.filters(&format!("conv2{name}.weight"), second, first, filter));
        for (image, (before, first_filter)) in FILTERS.into_iter().enumerate() {
            for ((name, filter), filters) in FILTERS.into_iter().zip(&shared) {
                let taps = Taps::new(after(BOARD, first_filter), filter, false);
                self.layers.push(Layer {
                    source: Source::Image(image),
                    taps,
                    inputs: first,
                    outputs: second,
                    filters: filters.clone(),
                    bias: 0..0,
                });
                self.head(&format!("fc_{before}{name}.weight"), self.layers.len() - 1);
            }
        }
    }

    fn filters(&mut self, name: &str, outputs: usize, inputs: usize, filter: (usize, usize)) -> Range<usize> {
        let shape = [outputs, inputs, filter.0, filter.1].map(|n| n as u64).to_vec();
        self.add(name.into(), shape, [outputs, inputs, filter.0 * filter.1])
    }

    fn head(&mut self, name: &str, image: usize) {
        let (channels, pixels) = (self.layers[image].outputs, self.layers[image].taps.pixels);
        let shape = vec![self.outputs as u64, (channels * pixels) as u64];
        let matrix = self.add(name.into(), shape, [self.outputs, channels, pixels]);
        self.heads.push(Head { image, matrix });
    }

    fn add(&mut self, name: String, shape: Vec<u64>, dimensions: [usize; 3]) -> Range<usize> {
        let start = self.weights();
        let range = start..start + dimensions.iter().product::<usize>();
        self.parameters.push(Parameter { name, shape, dimensions, range: range.clone() });
        range
    }
}

/// The size of an image after a filter without padding.
fn after(image: (usize, usize), filter: (usize, usize)) -> (usize, usize) {
    (image.0 + 1 - filter.0, image.1 + 1 - filter.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_as_many_as_in_table_2_and_section_6() {
        let found = DcnnSpec::TABLE_2.map(|(k, _)| DcnnSpec::of_table_2(k).expect("a row").weights());
        assert_eq!(found, [817_068, 819_628, 820_228, 818_074, 826_804, 819_550, 813_124, 820_498]);
        assert_eq!(DcnnSpec::HALF_TJWEI.weights(), 2_189_312);
    }

    #[test]
    fn every_weight_has_one_place() {
        for spec in [DcnnSpec::policy(3, 5).expect("a network"), DcnnSpec::HALF_TJWEI] {
            let graph = Graph::new(&spec);
            let mut places: Vec<_> = graph.parameters.iter().flat_map(Parameter::places).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..spec.weights()));
        }
    }
}
