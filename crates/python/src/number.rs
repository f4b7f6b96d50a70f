//! Whole numbers from Python.

use pyo3::prelude::*;

use crate::error::{type_error, value_error};

/// A non-negative integer. A negative one is a `ValueError`, not an overflow.
#[derive(Clone, Copy)]
pub(crate) struct Natural(pub(crate) u64);

impl<'a, 'py> FromPyObject<'a, 'py> for Natural {
    type Error = PyErr;

    fn extract(number: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match number.extract() {
            Ok(found) => Ok(Natural(found)),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(number.py()) => {
                Err(value_error(format!("{} is not from 0 to 2^64 - 1", number.str()?)))
            }
            Err(_) => Err(type_error(format!("a whole number is needed, not {}", number.get_type().name()?))),
        }
    }
}

/// The requested number of threads, where 0 means all cores.
pub(crate) fn thread_count(threads: i64) -> PyResult<usize> {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    match threads {
        0 => Ok(all()),
        1.. => Ok(threads.min(1024) as usize),
        _ => Err(value_error(format!("threads must be 0, for all cores, or more, not {threads}"))),
    }
}
