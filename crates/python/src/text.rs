//! Boards as text.

use afterstate_game::AnyBoard;
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

use crate::{
    array::{self, Bad, Boards, board, part, write},
    error::value_error,
    interrupt::by_blocks,
    side::with_side,
};

/// The approximate nanoseconds of converting a board to text.
const TEXT: usize = 300;

/// Parses a board from exponents or face values.
#[pyfunction]
pub(crate) fn from_text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
    let (side, exponents) = match text.parse::<AnyBoard>().map_err(value_error)? {
        AnyBoard::Two(board) => (2, board.exponents().collect::<Vec<_>>()),
        AnyBoard::Three(board) => (3, board.exponents().collect()),
        AnyBoard::Four(board) => (4, board.exponents().collect()),
    };
    Ok(exponents.into_pyarray(py).reshape([side, side])?.to_dyn().clone())
}

/// Each board as a text of exponents.
#[pyfunction]
pub(crate) fn to_text(array: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let boards = Boards::new("boards", array)?;
    let (bytes, side) = (boards.bytes()?, boards.side);
    let mut texts = Vec::with_capacity(boards.len());
    by_blocks(array.py(), boards.len(), TEXT, |some| {
        with_side!(side, N => {
            for board in array::boards::<N>(part(bytes, &some, N * N)) {
                texts.push(board.map_err(|bad| bad.after(some.start))?.to_string());
            }
        });
        Ok::<(), Bad>(())
    })?;
    Ok(texts)
}

/// Draws the board with face values, in colour for a terminal or as plain text.
#[pyfunction]
#[pyo3(signature = (array, colour=false))]
pub(crate) fn draw(array: &Bound<'_, PyAny>, colour: bool) -> PyResult<String> {
    let array = Boards::new("board", array)?;
    if !array.lead.is_empty() {
        return Err(value_error("draw takes one board, of shape (N, N)"));
    }
    with_side!(array.side, N => Ok(afterstate_game::draw(&board::<N>(0, array.bytes()?)?, colour)))
}

/// A new array of one board.
pub(crate) fn to_array<'py, const N: usize>(
    py: Python<'py>,
    board: &afterstate_game::Board<N>,
) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
    let array = PyArrayDyn::zeros(py, &[N, N][..], false);
    crate::array::fill(&array, |to| {
        write(board, to);
        Ok(())
    })?;
    Ok(array)
}
