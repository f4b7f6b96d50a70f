//! Which pixels a convolution looks at.

/// For each pixel of the image that a convolution makes, the pixels of the image before it that its filters cover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Taps {
    /// The cells of a filter.
    pub(crate) count: usize,
    /// For each pixel, for each cell of the filter, the pixel under it; `None` in the padding.
    pub(crate) sources: Vec<Option<usize>>,
}

impl Taps {
    /// A filter on an image, sizes as (height, width): with zeros added at the right and the bottom, so that the size
    /// of the image is kept, or without.
    pub(crate) fn new(image: (usize, usize), filter: (usize, usize), padded: bool) -> Self {
        let size = if padded { image } else { (image.0 + 1 - filter.0, image.1 + 1 - filter.1) };
        let mut sources = Vec::new();
        for (row, column) in (0..size.0).flat_map(|row| (0..size.1).map(move |column| (row, column))) {
            for (down, right) in (0..filter.0).flat_map(|down| (0..filter.1).map(move |right| (down, right)))
            {
                let (y, x) = (row + down, column + right);
                sources.push((y < image.0 && x < image.1).then_some(y * image.1 + x));
            }
        }
        Taps { count: filter.0 * filter.1, sources }
    }

    /// The pixels of the image that the convolution makes.
    pub(crate) fn pixels(&self) -> usize {
        self.sources.len() / self.count
    }

    /// im2col: all that the filters see, a row for each pixel of each image. `from` has `pixels` pixels of `channels`
    /// numbers for each image.
    pub(crate) fn gather(&self, from: &[f32], pixels: usize, channels: usize, columns: &mut [f32]) {
        let row = self.sources.len() * channels;
        for (image, rows) in from.chunks_exact(pixels * channels).zip(columns.chunks_exact_mut(row)) {
            for (source, cell) in self.sources.iter().zip(rows.chunks_exact_mut(channels)) {
                match *source {
                    Some(pixel) => cell.copy_from_slice(&image[pixel * channels..][..channels]),
                    None => cell.fill(0.0),
                }
            }
        }
    }

    /// The transpose of [`gather`](Self::gather): adds what stands in the rows to the pixels that it came from.
    pub(crate) fn scatter(&self, columns: &[f32], pixels: usize, channels: usize, to: &mut [f32]) {
        let row = self.sources.len() * channels;
        for (image, rows) in to.chunks_exact_mut(pixels * channels).zip(columns.chunks_exact(row)) {
            for (source, cell) in self.sources.iter().zip(rows.chunks_exact(channels)) {
                if let Some(pixel) = *source {
                    let target = &mut image[pixel * channels..][..channels];
                    target.iter_mut().zip(cell).for_each(|(sum, slope)| *sum += slope);
                }
            }
        }
    }
}
