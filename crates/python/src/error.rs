//! Converts errors to Python exceptions.

use std::fmt::Display;

use afterstate_lab::{model::ModelError, run::RunError};
use afterstate_network::file::{FileError, FileProblem};
use afterstate_solver::SolutionError;
use pyo3::{
    exceptions::{PyMemoryError, PyOSError, PyTypeError, PyValueError},
    prelude::*,
};

/// A `ValueError` with this text.
pub(crate) fn value_error(text: impl Display) -> PyErr {
    PyValueError::new_err(text.to_string())
}

/// A `TypeError` with this text.
pub(crate) fn type_error(text: impl Display) -> PyErr {
    PyTypeError::new_err(text.to_string())
}

/// A file that cannot be read or written is an `OSError`, one with invalid content a `ValueError`.
pub(crate) fn file_error(error: FileError) -> PyErr {
    match error.problem {
        FileProblem::Read(_) | FileProblem::Write(_) | FileProblem::DiskFull(_) | FileProblem::NotRegular => {
            PyOSError::new_err(error.to_string())
        }
        FileProblem::Network(_) => PyMemoryError::new_err(error.to_string()),
        _ => value_error(error),
    }
}

/// Why a model cannot be used.
pub(crate) fn model_error(error: ModelError) -> PyErr {
    match error {
        ModelError::File(error) => file_error(error),
        ModelError::Solution(error) => solution_error(error),
        error => value_error(error),
    }
}

/// Why a solution cannot be used.
pub(crate) fn solution_error(error: SolutionError) -> PyErr {
    match error {
        SolutionError::Write(error) => file_error(error),
        SolutionError::Read { .. } => PyOSError::new_err(error.to_string()),
        error => value_error(error),
    }
}

/// Why a run cannot begin or continue.
pub(crate) fn run_error(error: RunError) -> PyErr {
    match error {
        RunError::File(error) => file_error(error),
        RunError::Memory(_) | RunError::Network(_) => PyMemoryError::new_err(error.to_string()),
        RunError::Directory { .. } | RunError::Log(_) | RunError::Curve(_) => {
            PyOSError::new_err(error.to_string())
        }
        error => value_error(error),
    }
}
