//! How a table keeps chances.

use std::{f64::consts::FRAC_PI_2, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// How exactly a table keeps chances. With one or two bytes, a chance P is kept as the angle whose sine is √P: steps are as wide as the scatter of a
/// share that is measured, fine near 0 and 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// One byte: 0.003 at most from the truth, near 0 and 1 much less.
    #[default]
    U8,
    /// Two bytes: 0.000012 at most.
    U16,
    /// All that was computed.
    F32,
}

/// A text that is no precision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no precision: there are u8, u16 and f32")]
pub struct PrecisionError(String);

impl Precision {
    /// The bytes of a chance.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Precision::U8 => 1,
            Precision::U16 => 2,
            Precision::F32 => 4,
        }
    }

    /// The largest step.
    fn steps(self) -> f64 {
        if self == Precision::U8 { 255.0 } else { 65535.0 }
    }

    /// The code of a chance.
    pub(crate) fn code(self, chance: f32) -> u32 {
        match self {
            Precision::F32 => chance.to_bits(),
            _ => (f64::from(chance).clamp(0.0, 1.0).sqrt().asin() / FRAC_PI_2 * self.steps()).round() as u32,
        }
    }

    /// The chance of a code.
    pub(crate) fn chance(self, code: u32) -> f32 {
        match self {
            Precision::F32 => f32::from_bits(code),
            _ => (f64::from(code) / self.steps() * FRAC_PI_2).sin().powi(2) as f32,
        }
    }

    /// Chances as bytes: the highest bytes of all, then the next ones, which compresses better.
    pub(crate) fn to_bytes(self, chances: &[f32]) -> Vec<u8> {
        let codes: Vec<u32> = chances.iter().map(|&chance| self.code(chance)).collect();
        (0..self.bytes())
            .rev()
            .flat_map(|byte| codes.iter().map(move |code| (code >> (8 * byte)) as u8))
            .collect()
    }

    /// The code of a chance among so many in bytes.
    #[inline]
    pub(crate) fn code_at(self, bytes: &[u8], count: usize, index: usize) -> u32 {
        (0..self.bytes()).fold(0, |code, byte| code << 8 | u32::from(bytes[byte * count + index]))
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Precision::U8 => "u8",
            Precision::U16 => "u16",
            Precision::F32 => "f32",
        })
    }
}

impl FromStr for Precision {
    type Err = PrecisionError;

    fn from_str(text: &str) -> Result<Self, PrecisionError> {
        match text {
            "u8" => Ok(Precision::U8),
            "u16" => Ok(Precision::U16),
            "f32" => Ok(Precision::F32),
            _ => Err(PrecisionError(text.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_kept_as_exactly_as_said() {
        let chances: Vec<f32> = (0..=10_000).map(|i| i as f32 / 10_000.0).collect();
        for (precision, error) in
            [(Precision::U8, 0.0031), (Precision::U16, 0.000_012_1), (Precision::F32, 0.0)]
        {
            let bytes = precision.to_bytes(&chances);
            assert_eq!(bytes.len(), precision.bytes() * chances.len());
            for (i, chance) in chances.iter().enumerate() {
                let kept = precision.chance(precision.code_at(&bytes, chances.len(), i));
                assert!((kept - chance).abs() <= error, "{precision}: {chance} is kept as {kept}");
            }
            let kept = |chance| precision.chance(precision.code(chance));
            assert_eq!((kept(0.0), kept(1.0)), (0.0, 1.0));
        }
    }
}
