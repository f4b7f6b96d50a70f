//! Matrix products.

use gemm_common::Parallelism;

/// A row-major matrix, or the transpose of one.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix with rows of this length.
    pub(crate) fn new(numbers: &'a [f32], columns: usize) -> Self {
        let rows = numbers.len() / columns;
        assert_eq!(rows * columns, numbers.len(), "whole rows");
        Matrix { numbers, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// The transpose.
    pub(crate) fn transposed(self) -> Self {
        let Matrix { numbers, rows, columns, row_stride, column_stride } = self;
        Matrix { numbers, rows: columns, columns: rows, row_stride: column_stride, column_stride: row_stride }
    }
}

/// `sum += left · right`, row-major.
pub(crate) fn add_product(left: Matrix<'_>, right: Matrix<'_>, sum: &mut [f32]) {
    assert_eq!(left.columns, right.rows, "matrices that fit");
    assert_eq!(sum.len(), left.rows * right.columns, "room for the product");
    if sum.is_empty() {
        return;
    }
    let (m, n, k) = (right.columns, left.rows, left.columns);
    let strides = |matrix: &Matrix<'_>| (matrix.row_stride as isize, matrix.column_stride as isize);
    let ((left_rs, left_cs), (right_rs, right_cs)) = (strides(&left), strides(&right));
    // The library prefers column-major results, so it gets all matrices transposed: Cᵀ = Bᵀ·Aᵀ. SAFETY: the strides of
    // a `Matrix` stay within its numbers, by its constructor; `sum` has m·n numbers and is borrowed exclusively.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            m,
            n,
            k,
            sum.as_mut_ptr(),
            m as isize,
            1,
            true,
            right.numbers.as_ptr(),
            right_rs,
            right_cs,
            left.numbers.as_ptr(),
            left_rs,
            left_cs,
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The safe twin of [`add_product`].
    fn add_naively(left: Matrix<'_>, right: Matrix<'_>, sum: &mut [f32]) {
        let at = |m: &Matrix<'_>, i: usize, j: usize| m.numbers[i * m.row_stride + j * m.column_stride];
        for (place, number) in sum.iter_mut().enumerate() {
            let (i, j) = (place / right.columns, place % right.columns);
            *number += (0..left.columns).map(|l| at(&left, i, l) * at(&right, l, j)).sum::<f32>();
        }
    }

    #[test]
    fn products_are_those_of_the_definition() {
        let numbers: Vec<f32> = (0..4000).map(|i| (i * 7919 % 31) as f32 - 15.0).collect();
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (16, 4, 33), (50, 22, 64), (2, 31, 1)] {
            let (a, b) = (&numbers[..m * k], &numbers[100..100 + k * n]);
            let lefts = [Matrix::new(a, k), Matrix::new(a, m).transposed()];
            let rights = [Matrix::new(b, n), Matrix::new(b, k).transposed()];
            for (left, right) in lefts.into_iter().flat_map(|left| rights.map(|right| (left, right))) {
                let [mut found, mut expected] = [(); 2].map(|()| vec![2.0; m * n]);
                add_product(left, right, &mut found);
                add_naively(left, right, &mut expected);
                // Small integers: the order of additions does not matter.
                assert_eq!(found, expected, "{m}×{k} by {k}×{n}");
            }
        }
    }
}
