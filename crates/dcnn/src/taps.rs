//! The pixels that a convolution reads.

/// Consecutive pixels of an output image, and the consecutive input pixels under one filter cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The filter cell.
    pub tap: usize,
    /// The first pixel of the output image.
    pub to: usize,
    /// The first pixel of the input image.
    pub from: usize,
    /// The number of pixels.
    pub len: usize,
}

/// For each filter cell, the input pixel of each output pixel.
///
/// Padding is left out: zeros add nothing. With images in the order pixel, board, channel, a run of
/// pixels is a matrix that needs no copying, for any number of boards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taps {
    /// The number of pixels of the output image.
    pub pixels: usize,
    /// The runs, cell by cell.
    pub runs: Vec<Run>,
    /// Whether Winograd's algorithm supports it.
    pub(crate) has_winograd: bool,
}

impl Taps {
    /// A filter on an image, sizes as (height, width): zero-padded at the right and the bottom, which preserves the
    /// size of the image, or not.
    pub(crate) fn new(image: (usize, usize), filter: (usize, usize), padded: bool) -> Self {
        let size = if padded { image } else { (image.0 + 1 - filter.0, image.1 + 1 - filter.1) };
        let mut runs: Vec<Run> = Vec::new();
        for tap in 0..filter.0 * filter.1 {
            let (down, right) = (tap / filter.1, tap % filter.1);
            for to in 0..size.0 * size.1 {
                let (y, x) = (to / size.1 + down, to % size.1 + right);
                if y >= image.0 || x >= image.1 {
                    continue;
                }
                let from = y * image.1 + x;
                match runs.last_mut() {
                    Some(run) if run.tap == tap && (run.to + run.len, run.from + run.len) == (to, from) => {
                        run.len += 1;
                    }
                    _ => runs.push(Run { tap, to, from, len: 1 }),
                }
            }
        }
        let has_winograd = (image, filter, padded) == ((4, 4), (2, 2), true);
        Taps { pixels: size.0 * size.1, runs, has_winograd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_pixels_of_the_definition() {
        for (image, filter, padded) in
            [((4, 4), (2, 2), true), ((4, 4), (1, 2), false), ((3, 4), (2, 1), false), ((2, 3), (2, 2), true)]
        {
            let taps = Taps::new(image, filter, padded);
            let found =
                taps.runs.iter().flat_map(|run| (0..run.len).map(|i| (run.tap, run.to + i, run.from + i)));
            let size = if padded { image } else { (image.0 + 1 - filter.0, image.1 + 1 - filter.1) };
            let mut expected = Vec::new();
            for (down, right) in (0..filter.0).flat_map(|down| (0..filter.1).map(move |right| (down, right)))
            {
                for (row, column) in (0..size.0).flat_map(|row| (0..size.1).map(move |column| (row, column)))
                {
                    if row + down < image.0 && column + right < image.1 {
                        let from = (row + down) * image.1 + column + right;
                        expected.push((down * filter.1 + right, row * size.1 + column, from));
                    }
                }
            }
            assert_eq!(taps.pixels, size.0 * size.1);
            assert!(found.eq(expected), "{image:?} {filter:?}");
        }
        assert_eq!(Taps::new((4, 4), (2, 2), true).runs.len(), 1 + 4 + 1 + 3);
    }
}
