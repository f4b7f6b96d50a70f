//! Figures as printed in papers.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// A figure as printed, with its parsed numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// The text, such as `4610.2 ± 81.1`.
    pub text: String,
    /// The number before ±.
    pub value: f64,
    /// The number after ±.
    pub spread: Option<f64>,
}

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let digits: String = text.trim().chars().filter(|&c| c != ',').collect();
            digits.parse::<f64>().map_err(|_| format!("`{text}` is no number such as 4,610.2"))
        };
        let (value, spread) = match text.split_once('±') {
            Some((value, spread)) => (number(value)?, Some(number(spread)?)),
            None => (number(text)?, None),
        };
        Ok(Figure { text: text.to_owned(), value, spread })
    }
}

/// Parses the figures of a row: "" is none.
pub(super) fn figures<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Option<Figure>>, D::Error> {
    let read = |text: String| match text.as_str() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(D::Error::custom),
    };
    Vec::<String>::deserialize(deserializer)?.into_iter().map(read).collect()
}
