//! Samples behind our figures, and the difference between two of them.

use serde::{Deserialize, Serialize};

use afterstate_lab::stats::{Spread, student};

/// What a sample has one number for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Each training.
    Trainings,
    /// Each game of one training.
    Games,
    /// Each of the last batches of records of one training.
    Batches,
}

/// The numbers behind a figure.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// What they are.
    pub of: Of,
    /// The numbers.
    pub values: Vec<f64>,
}

/// The difference of two figures with its 95% confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// The first minus the second.
    pub mean: f64,
    /// The lower end of the interval; `None` if there is only a single number.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Sample {
    /// A sample with one number for each training.
    pub fn of_trainings(values: Vec<f64>) -> Self {
        Sample { of: Of::Trainings, values }
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len().max(1) as f64
    }

    /// The standard deviation (n − 1) and half the 95% interval of the mean; `None` for a single number.
    pub fn spread(&self) -> (Option<f64>, Option<f64>) {
        Spread::of(self.values.clone()).map_or((None, None), |spread| (spread.sd, spread.ci95))
    }

    /// Divides all numbers by another one.
    pub(super) fn divided_by(self, number: f64) -> Self {
        let values = self.values.into_iter().map(|value| value / number).collect();
        Sample { values, ..self }
    }

    /// The difference to another sample, by Welch's test: the variances may differ.
    pub fn less(&self, other: &Sample) -> Difference {
        let mean = self.mean() - other.mean();
        let error = |sample: &Sample| {
            let n = sample.values.len() as f64;
            sample.spread().0.map(|sd| (sd * sd / n, n - 1.0))
        };
        let (Some((a, freedom_a)), Some((b, freedom_b))) = (error(self), error(other)) else {
            return Difference { mean, low: None, high: None };
        };
        let freedom = (a + b).powi(2) / (a * a / freedom_a + b * b / freedom_b).max(f64::MIN_POSITIVE);
        // Rounding the degrees of freedom down is conservative.
        let half = student((freedom as usize).max(1)) * (a + b).sqrt();
        Difference { mean, low: Some(mean - half), high: Some(mean + half) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample { of: Of::Trainings, values: values.to_vec() }
    }

    #[test]
    fn the_difference_matches_a_calculation_by_hand() {
        // Means 6 and 2.5, squared errors 4/3 and 5/12: √1.75 · t, ν = 1.75² / ((4/3)²/2 + (5/12)²/3) = 3.23.
        let difference = sample(&[4.0, 6.0, 8.0]).less(&sample(&[1.0, 2.0, 3.0, 4.0]));
        assert_eq!(difference.mean, 3.5);
        let half = 3.182_446 * 1.75f64.sqrt();
        assert!((difference.high.unwrap() - 3.5 - half).abs() < 1e-5, "{difference:?}");
        assert!((difference.low.unwrap() - 3.5 + half).abs() < 1e-5, "{difference:?}");
    }

    #[test]
    fn one_number_says_nothing_of_the_scatter() {
        let difference = sample(&[3.0]).less(&sample(&[1.0, 2.0]));
        assert_eq!(difference, Difference { mean: 1.5, low: None, high: None });
        assert_eq!(sample(&[3.0]).spread(), (None, None));
    }

    #[test]
    fn numbers_without_scatter_have_an_interval_of_no_width() {
        let difference = sample(&[0.0, 0.0]).less(&sample(&[1.0, 1.0]));
        assert_eq!(difference, Difference { mean: -1.0, low: Some(-1.0), high: Some(-1.0) });
    }
}
