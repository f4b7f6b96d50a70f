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

/// Makes codes of chances by looking up where they change: computing an angle for each chance would take longer than solving it.
pub(crate) struct Encoder {
    pub(crate) precision: Precision,
    /// The least chance of each code but 0.
    least: Vec<f32>,
    /// The code of the least chance of each bin, and of 1.
    bins: Vec<u32>,
}

impl Encoder {
    pub(crate) fn new(precision: Precision) -> Self {
        let codes = if precision == Precision::F32 { 0 } else { 1u32 << (8 * precision.bytes()) };
        let least: Vec<f32> = (1..codes).map(|code| precision.least(code)).collect();
        let bins = least.len() as u32 + 1;
        let code = |bin: u32| precision.code(bin as f32 / bins as f32);
        let bins = if least.is_empty() { Vec::new() } else { (0..=bins).map(code).collect() };
        Encoder { precision, least, bins }
    }

    /// The code of a chance.
    fn code(&self, chance: f32) -> u32 {
        let Some(last) = self.bins.len().checked_sub(2) else { return self.precision.code(chance) };
        let bin = ((chance * (last + 1) as f32) as usize).min(last);
        // Rounding may have chosen the bin beside the right one.
        let first = self.bins[bin.saturating_sub(1)] as usize;
        let after = self.bins[(bin + 2).min(last + 1)] as usize;
        (first + self.least[first..after].partition_point(|&least| least <= chance)) as u32
    }

    /// Chances as bytes: the highest bytes of all, then the next ones, which compresses better.
    pub(crate) fn to_bytes(&self, chances: &[f32]) -> Vec<u8> {
        let (size, count) = (self.precision.bytes(), chances.len());
        let mut bytes = vec![0; size * count];
        for (i, &chance) in chances.iter().enumerate() {
            let code = self.code(chance);
            for byte in 0..size {
                bytes[byte * count + i] = (code >> (8 * (size - 1 - byte))) as u8;
            }
        }
        bytes
    }
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

    /// The least chance of a code above 0.
    fn least(self, code: u32) -> f32 {
        let mut least = ((f64::from(code) - 0.5) / self.steps() * FRAC_PI_2).sin().powi(2) as f32;
        while self.code(least) < code {
            least = least.next_up();
        }
        while self.code(least.next_down()) >= code {
            least = least.next_down();
        }
        least
    }

    /// The chance of a code.
    pub(crate) fn chance(self, code: u32) -> f32 {
        match self {
            Precision::F32 => f32::from_bits(code),
            _ => (f64::from(code) / self.steps() * FRAC_PI_2).sin().powi(2) as f32,
        }
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
            let bytes = Encoder::new(precision).to_bytes(&chances);
            assert_eq!(bytes.len(), precision.bytes() * chances.len());
            for (i, chance) in chances.iter().enumerate() {
                let kept = precision.chance(precision.code_at(&bytes, chances.len(), i));
                assert!((kept - chance).abs() <= error, "{precision}: {chance} is kept as {kept}");
            }
            let kept = |chance| precision.chance(precision.code(chance));
            assert_eq!((kept(0.0), kept(1.0)), (0.0, 1.0));
        }
    }

    #[test]
    fn codes_are_looked_up_as_they_are_computed() {
        for precision in [Precision::U8, Precision::U16, Precision::F32] {
            let encoder = Encoder::new(precision);
            let near_edges =
                encoder.least.iter().flat_map(|&least| [least.next_down(), least, least.next_up()]);
            let others = (0..=100_000).map(|i| (i as f32 / 100_000.0).powi(3));
            for chance in near_edges.chain(others).chain([0.0, f32::MIN_POSITIVE, 1.0f32.next_down(), 1.0]) {
                assert_eq!(encoder.code(chance), precision.code(chance), "{precision} {chance}");
            }
        }
    }
}
