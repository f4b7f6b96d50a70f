//! Dispatches from the side of a board at run time to a type.

/// Evaluates an expression with `$N` as the side, which must be 2, 3 or 4.
macro_rules! with_side {
    ($side:expr, $N:ident => $body:expr) => {
        match $side {
            4 => {
                const $N: usize = 4;
                $body
            }
            3 => {
                const $N: usize = 3;
                $body
            }
            _ => {
                const $N: usize = 2;
                $body
            }
        }
    };
}
pub(crate) use with_side;

/// Checks that a side is valid.
pub(crate) fn check_side(side: i64) -> pyo3::PyResult<usize> {
    match side {
        2..=4 => Ok(side as usize),
        _ => Err(crate::error::value_error(format!("size must be 2, 3 or 4, not {side}"))),
    }
}

/// Checks a probability of a 4.
pub(crate) fn check_four(four: f64) -> pyo3::PyResult<f64> {
    match (0.0..=1.0).contains(&four) {
        true => Ok(four),
        false => {
            Err(crate::error::value_error(format!("four must be a probability, from 0 to 1, not {four}")))
        }
    }
}
