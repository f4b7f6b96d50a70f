//! Where the positions of a layer stand: those with the same sum of free tiles.

use crate::space::Space;

/// The layouts of one shape whose first half has a certain sum: `first + rank of the first half · stride + rank of the second`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Segment {
    pub(crate) first: u64,
    pub(crate) stride: u64,
}

/// The layouts of a layer, one bit each.
pub(crate) struct Layer {
    /// Half the sum of the free tiles.
    pub(crate) sum: usize,
    /// By shape, then by the sum of the first half.
    pub(crate) segments: Vec<Segment>,
    /// The number of segments of a shape.
    pub(crate) sums: usize,
    /// The number of layouts.
    pub(crate) bits: u64,
}

impl Layer {
    pub(crate) fn new(space: &Space, sum: usize) -> Self {
        let sums = space.largest_first + 1;
        let mut segments = Vec::with_capacity(space.shapes.len() * sums);
        let mut bits = 0;
        for shape in &space.shapes {
            let [a, b] = [0, 1].map(|h| &space.halves[h][shape.halves[h]]);
            for first in 0..sums {
                let stride = if first > sum { 0 } else { b.count(sum - first) as u64 };
                segments.push(Segment { first: bits, stride });
                bits += a.count(first) as u64 * stride;
            }
        }
        Layer { sum, segments, sums, bits }
    }

    /// The segment of a shape and a sum of the first half.
    #[inline(always)]
    pub(crate) fn segment(&self, shape: usize, first_sum: usize) -> Segment {
        self.segments[shape * self.sums + first_sum]
    }

    /// The index of a layout.
    #[inline(always)]
    pub(crate) fn index(&self, shape: usize, first_sum: usize, ranks: [usize; 2]) -> u64 {
        let segment = self.segment(shape, first_sum);
        segment.first + ranks[0] as u64 * segment.stride + ranks[1] as u64
    }

    /// The end of a segment.
    pub(crate) fn end(&self, segment: usize) -> u64 {
        self.segments.get(segment + 1).map_or(self.bits, |next| next.first)
    }
}
