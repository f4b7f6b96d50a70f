//! Arrays: checking inputs, creating outputs.

use std::ops::Range;

use afterstate_game::{Board, BoardError};
use numpy::{
    Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::{prelude::*, types::PyDict};

use crate::error::{type_error, value_error};

/// The nanoseconds of work from which releasing the interpreter's lock pays off: that takes about 100 (measured with
/// `legal_mask` on 101 boards, which releases it, against 100, which do not; `slides` on 51 against 50).
const LONG: usize = 1000;

/// An array of boards from Python: the last two axes are rows and columns.
pub(crate) struct Boards<'py> {
    array: PyReadonlyArrayDyn<'py, u8>,
    /// The axes before the rows.
    pub(crate) lead: Vec<usize>,
    pub(crate) side: usize,
}

impl<'py> Boards<'py> {
    /// Checks type, shape and order; the boards themselves are checked when they are read.
    pub(crate) fn new(name: &str, any: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = typed::<u8>(name, any, "uint8")?;
        let shape = array.shape().to_vec();
        let lead = match shape[..] {
            [ref lead @ .., rows, columns] if rows == columns && (2..=4).contains(&rows) => lead.to_vec(),
            _ => {
                let text = format!(
                    "{name} must have the shape (..., N, N) with N = 2, 3 or 4, not {}",
                    shape_text(&shape)
                );
                return Err(value_error(text));
            }
        };
        Ok(Boards { array: readonly(name, array)?, lead, side: shape[shape.len() - 1] })
    }

    /// The same, for boards of one side.
    pub(crate) fn of_side(name: &str, any: &Bound<'py, PyAny>, side: usize) -> PyResult<Self> {
        let boards = Boards::new(name, any)?;
        match boards.side {
            found if found == side => Ok(boards),
            found => Err(value_error(format!("{name} must be {side}×{side} boards, not {found}×{found}"))),
        }
    }

    /// The number of boards.
    pub(crate) fn len(&self) -> usize {
        self.lead.iter().product()
    }

    /// The shape of an output with these axes after the leading ones.
    pub(crate) fn shape(&self, inner: &[usize]) -> Vec<usize> {
        [&self.lead, inner].concat()
    }

    /// The shape of an output with one board for each.
    pub(crate) fn board_shape(&self) -> Vec<usize> {
        self.shape(&[self.side, self.side])
    }

    /// The exponents.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        Ok(self.array.as_slice()?)
    }
}

/// An invalid board, and its index.
pub(crate) struct Bad {
    index: usize,
    error: BoardError,
}

impl Bad {
    /// The same with this many boards before it.
    pub(crate) fn after(self, boards: usize) -> Self {
        Bad { index: self.index + boards, ..self }
    }
}

impl From<Bad> for PyErr {
    fn from(Bad { index, error }: Bad) -> PyErr {
        value_error(format!("board {index}: {error}"))
    }
}

/// Parses a board from its exponents.
#[inline(always)]
pub(crate) fn board<const N: usize>(index: usize, exponents: &[u8]) -> Result<Board<N>, Bad> {
    Board::from_exponents(exponents).map_err(|error| Bad { index, error })
}

/// Parses the boards in these bytes.
pub(crate) fn boards<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = Result<Board<N>, Bad>> + '_ {
    bytes.chunks_exact(N * N).enumerate().map(|(index, exponents)| board(index, exponents))
}

/// Writes the exponents of a board.
#[inline(always)]
pub(crate) fn write<const N: usize>(board: &Board<N>, to: &mut [u8]) {
    if N == 4 {
        to.copy_from_slice(&board.bytes());
    } else {
        to.iter_mut().zip(board.exponents()).for_each(|(to, exponent)| *to = exponent);
    }
}

/// An array of this type, or an error that says what would be right.
pub(crate) fn typed<'a, 'py, T: Element>(
    name: &str,
    any: &'a Bound<'py, PyAny>,
    dtype: &str,
) -> PyResult<&'a Bound<'py, PyArrayDyn<T>>> {
    let Ok(untyped) = any.cast::<PyUntypedArray>() else {
        let found = any.get_type().name()?;
        return Err(type_error(format!("{name} must be a numpy array of {dtype}, not {found}")));
    };
    any.cast::<PyArrayDyn<T>>().map_err(|_| {
        let found = untyped.dtype().typeobj();
        let found = found.name().map_or_else(|_| "another type".to_owned(), |name| name.to_string());
        type_error(format!("{name} must have the dtype {dtype}, not {found}"))
    })
}

/// A read-only view of a contiguous array.
pub(crate) fn readonly<'py, T: Element>(
    name: &str,
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    if !array.is_c_contiguous() {
        return Err(value_error(format!(
            "{name} must be C-contiguous: pass numpy.ascontiguousarray({name})"
        )));
    }
    array.try_readonly().map_err(|_| value_error(format!("{name} is also given as out")))
}

/// An array of numbers of this shape from Python.
pub(crate) fn numbers<'py, T: Element>(
    name: &str,
    any: &Bound<'py, PyAny>,
    dtype: &str,
    shape: &[usize],
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let array = typed::<T>(name, any, dtype)?;
    check_shape(name, array.shape(), shape)?;
    readonly(name, array)
}

/// Actions of any integer type, as int64; their range is checked when they are used.
pub(crate) fn actions<'py>(
    any: &Bound<'py, PyAny>,
    shape: &[usize],
) -> PyResult<PyReadonlyArrayDyn<'py, i64>> {
    if any.cast::<PyArrayDyn<i64>>().is_ok() {
        return numbers("actions", any, "int64", shape);
    }
    if any.cast::<PyUntypedArray>().is_err() {
        return numbers("actions", any, "integers", shape);
    }
    let options = PyDict::new(any.py());
    options.set_item("casting", "safe")?;
    options.set_item("order", "C")?;
    numbers("actions", &any.call_method("astype", ("int64",), Some(&options))?, "int64", shape)
}

/// The output array: the one that the caller gave, or a new one.
pub(crate) fn output<'py, T: Element>(
    py: Python<'py>,
    out: Option<&Bound<'py, PyAny>>,
    dtype: &str,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let Some(out) = out else { return Ok(PyArrayDyn::zeros(py, shape, false)) };
    let array = typed::<T>("out", out, dtype)?;
    check_shape("out", array.shape(), shape)?;
    if !array.is_c_contiguous() {
        return Err(value_error("out must be C-contiguous"));
    }
    Ok(array.clone())
}

/// The error for an output that cannot be written.
pub(crate) fn not_writeable(_: impl std::fmt::Display) -> PyErr {
    value_error("out must be writeable, and no part of another argument")
}

/// Runs a function on the elements of an array, in order.
pub(crate) fn fill<T: Element, R>(
    array: &Bound<'_, PyArrayDyn<T>>,
    run: impl FnOnce(&mut [T]) -> PyResult<R>,
) -> PyResult<R> {
    let mut array = array.try_readwrite().map_err(not_writeable)?;
    run(array.as_slice_mut()?)
}

/// Whether work on this many boards, of this many nanoseconds each, would block other threads noticeably.
pub(crate) fn is_long(count: usize, nanoseconds: usize) -> bool {
    count.saturating_mul(nanoseconds) > LONG
}

/// Runs long work without the interpreter's lock, and short work with it.
pub(crate) fn released<R: Send>(
    py: Python<'_>,
    count: usize,
    nanoseconds: usize,
    run: impl FnOnce() -> R + Send,
) -> R {
    if is_long(count, nanoseconds) { py.detach(run) } else { run() }
}

/// The elements of a range of boards, `each` per board.
pub(crate) fn part<'a, T>(all: &'a [T], boards: &Range<usize>, each: usize) -> &'a [T] {
    &all[boards.start * each..boards.end * each]
}

/// The same, mutable.
pub(crate) fn part_mut<'a, T>(all: &'a mut [T], boards: &Range<usize>, each: usize) -> &'a mut [T] {
    &mut all[boards.start * each..boards.end * each]
}

fn check_shape(name: &str, found: &[usize], expected: &[usize]) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    let (found, expected) = (shape_text(found), shape_text(expected));
    Err(value_error(format!("{name} must have the shape {expected}, not {found}")))
}

/// A shape in Python's notation.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
