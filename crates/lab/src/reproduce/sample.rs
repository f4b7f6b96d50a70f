//! Numbers behind a figure of ours, and the difference between two of them.

use serde::{Deserialize, Serialize};

use crate::stats::{Spread, student};

/// What the numbers of a sample are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// One number for each training.
    Trainings,
    /// One number for each game of one training.
    Games,
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
    /// The first less the second.
    pub mean: f64,
    /// The lower end of the interval; none where one number is all there is.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Sample {
    /// The mean.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len().max(1) as f64
    }

    /// The standard deviation (n − 1) and half the 95% interval of the mean; none for one number.
    pub fn spread(&self) -> (Option<f64>, Option<f64>) {
        Spread::of(self.values.clone()).map_or((None, None), |spread| (spread.sd, spread.ci95))
    }

    /// This less the other, by Welch's test: the scatter of the two need not be the same.
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
        // Fewer degrees of freedom are on the safe side.
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
    fn the_difference_matches_a_published_example() {
        // Welch's test on A1 and B1 of the example in the literature: t = −2.46, ν = 24.99.
        let a = sample(&[
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4,
        ]);
        let b = sample(&[
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.1,
        ]);
        let difference = a.less(&b);
        // −2.1467 ± 2.064 (24 degrees of freedom) · 0.8734
        assert!((difference.mean + 2.1467).abs() < 1e-3, "{difference:?}");
        let half = difference.high.unwrap() - difference.mean;
        let error = difference.mean / -2.46;
        assert!((half / error - 2.064).abs() < 0.01, "{difference:?}");
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
