//! The shape of a table, and which of its weights are equivalent by symmetry.

use afterstate_game::Symmetry;

use crate::NetworkSpec;

/// A table of c^n weights.
pub(super) struct Shape {
    /// The number of labels of a cell.
    pub(super) c: usize,
    /// The number of cells.
    pub(super) n: usize,
    /// For each symmetry that maps the tuple to itself, except the identity: the factor of each cell's label there.
    mirrors: Vec<Vec<usize>>,
}

impl Shape {
    /// The shape of a network's table.
    ///
    /// If a symmetry of the board maps a tuple to itself and sampling is symmetric, a board that looks up a weight also
    /// looks up its mirror image, so only the sum of the two matters.
    pub(super) fn of(spec: &NetworkSpec, table: usize) -> Self {
        let (c, tuple) = (spec.labels(table), spec.tuple(table));
        let place = |cell: &u8| tuple.cells().iter().position(|other| other == cell);
        let counts = |symmetry: &Symmetry| -> Option<Vec<usize>> {
            let image = tuple.image(*symmetry, spec.side);
            image.cells().iter().map(|cell| Some(c.pow(place(cell)? as u32))).collect()
        };
        let symmetries = if spec.symmetric { &Symmetry::ALL[1..] } else { &[] };
        let mirrors = symmetries.iter().filter_map(counts).collect();
        Shape { c, n: tuple.len(), mirrors }
    }

    /// The number of weights.
    pub(super) fn len(&self) -> usize {
        self.c.pow(self.n as u32)
    }

    /// The mirror images of a weight, without itself; an image may equal the weight.
    #[inline(always)]
    pub(super) fn images(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        self.mirrors.iter().map(move |counts| {
            let label = |rest: &mut usize| {
                let label = *rest % self.c;
                *rest /= self.c;
                Some(label)
            };
            counts.iter().scan(index, |rest, count| label(rest).map(|label| label * count)).sum()
        })
    }

    /// Whether this is the first of a weight's images: the one that files store.
    #[inline(always)]
    pub(super) fn is_first(&self, index: usize) -> bool {
        self.images(index).all(|image| index <= image)
    }
}
