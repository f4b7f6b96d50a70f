//! Adam (Kingma and Ba 2015), with the parameters that kondo-2019 takes from TensorFlow.

/// The state of Adam: the number of steps made, and the averages of each weight's gradient.
#[derive(Clone, PartialEq, Debug)]
pub struct Adam {
    pub(crate) steps: u64,
    /// The average gradients, m.
    pub(crate) exp_avg: Vec<f32>,
    /// The average squared gradients, v.
    pub(crate) exp_avg_sq: Vec<f32>,
}

/// The parameters of a step, shared by all weights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct AdamStep {
    rate: f32,
    /// √(1 − β₂ᵗ).
    root: f32,
}

impl Adam {
    /// β₁, the decay of the average gradient.
    pub const BETA_1: f32 = 0.9;
    /// β₂, the decay of the average square.
    pub const BETA_2: f32 = 0.999;
    /// ε, which keeps the step finite.
    pub const EPSILON: f32 = 1e-8;

    /// The initial state.
    pub(crate) fn new(weights: usize) -> Self {
        Adam { steps: 0, exp_avg: vec![0.0; weights], exp_avg_sq: vec![0.0; weights] }
    }

    /// The number of steps made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Begins the next step, with this learning rate.
    pub(crate) fn begin(&mut self, rate: f32) -> AdamStep {
        self.steps += 1;
        let correction = |beta: f32| 1.0 - f64::from(beta).powf(self.steps as f64);
        AdamStep {
            rate: (f64::from(rate) / correction(Self::BETA_1)) as f32,
            root: correction(Self::BETA_2).sqrt() as f32,
        }
    }
}

impl AdamStep {
    /// Updates some weights: Algorithm 1 of the paper.
    pub(crate) fn apply(self, weights: &mut [f32], gradient: &[f32], m: &mut [f32], v: &mut [f32]) {
        for (((weight, &g), m), v) in weights.iter_mut().zip(gradient).zip(m).zip(v) {
            *m += (1.0 - Adam::BETA_1) * (g - *m);
            *v = Adam::BETA_2 * *v + (1.0 - Adam::BETA_2) * g * g;
            *weight -= self.rate * *m / (v.sqrt() / self.root + Adam::EPSILON);
        }
    }
}
