//! Loss functions.

use afterstate_game::Move;

/// A loss function.
pub trait Loss {
    /// The target of an output.
    type Target: Copy + Send + Sync;
    /// The number of outputs.
    const OUTPUTS: usize;

    /// The loss of these outputs, and whether they predict the target; `slopes` receives the derivative of the loss for
    /// each of them.
    fn of(outputs: &[f32], target: Self::Target, slopes: &mut [f32]) -> (f64, bool);
}

/// E = −Σ t(i) ln P(i), where P is the softmax of the outputs and t the move of the record (kondo-2019, section 4.2).
#[derive(Clone, Copy, Debug)]
pub struct CrossEntropy;

/// Half the squared difference from the target.
#[derive(Clone, Copy, Debug)]
pub struct SquaredError;

impl Loss for CrossEntropy {
    type Target = Move;
    const OUTPUTS: usize = 4;

    fn of(outputs: &[f32], target: Move, slopes: &mut [f32]) -> (f64, bool) {
        let target = target as usize;
        let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = outputs.iter().map(|output| (output - largest).exp()).sum();
        for (slope, output) in slopes.iter_mut().zip(outputs) {
            *slope = (output - largest).exp() / sum;
        }
        slopes[target] -= 1.0;
        let right = outputs.iter().position(|&output| output == largest) == Some(target);
        (f64::from(sum.ln() - (outputs[target] - largest)), right)
    }
}

impl Loss for SquaredError {
    type Target = f32;
    const OUTPUTS: usize = 1;

    fn of(outputs: &[f32], target: f32, slopes: &mut [f32]) -> (f64, bool) {
        let error = outputs[0] - target;
        slopes[0] = error;
        (f64::from(error) * f64::from(error) / 2.0, error == 0.0)
    }
}

/// The probabilities of the outputs.
pub(crate) fn softmax(outputs: &[f32]) -> [f32; 4] {
    let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exp: [f32; 4] = std::array::from_fn(|i| (outputs[i] - largest).exp());
    let sum: f32 = exp.iter().sum();
    exp.map(|e| e / sum)
}
