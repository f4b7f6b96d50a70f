//! The types that a recipe's keys take.

use toml::Value;

/// The largest integer below which every integer is an f64.
const EXACT: f64 = (1u64 << 53) as f64;

/// A type that a key of a recipe can have.
pub(super) trait FromToml: Sized {
    /// The value, if it is of this type.
    fn from_toml(value: &Value) -> Option<Self>;
}

impl FromToml for u64 {
    /// `1e9` is taken for a whole number too, since budgets are often written so.
    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(number) => u64::try_from(*number).ok(),
            Value::Float(number) if number.fract() == 0.0 && (0.0..EXACT).contains(number) => {
                Some(*number as u64)
            }
            _ => None,
        }
    }
}

impl FromToml for u32 {
    fn from_toml(value: &Value) -> Option<Self> {
        u64::from_toml(value).and_then(|number| number.try_into().ok())
    }
}

impl FromToml for usize {
    fn from_toml(value: &Value) -> Option<Self> {
        u64::from_toml(value).and_then(|number| number.try_into().ok())
    }
}

impl FromToml for f64 {
    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number).filter(|number| number.is_finite()),
            _ => None,
        }
    }
}

impl FromToml for bool {
    fn from_toml(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl FromToml for String {
    fn from_toml(value: &Value) -> Option<Self> {
        value.as_str().map(str::to_owned)
    }
}

/// A key that need not be there.
impl<T: FromToml> FromToml for Option<T> {
    fn from_toml(value: &Value) -> Option<Self> {
        T::from_toml(value).map(Some)
    }
}

impl<T: FromToml> FromToml for Vec<T> {
    fn from_toml(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(T::from_toml).collect()
    }
}

impl<A: FromToml, B: FromToml> FromToml for (A, B) {
    fn from_toml(value: &Value) -> Option<Self> {
        let [a, b] = value.as_array()?.as_slice() else { return None };
        Some((A::from_toml(a)?, B::from_toml(b)?))
    }
}
