//! Forward passes against the definition, and gradients against finite differences of the definition in f64.

use std::collections::BTreeMap;

use crate::common::{boards, tensors};
use afterstate_dcnn::{
    Architecture, CrossEntropy, Dcnn, DcnnSpec, Loss, Sample, SquaredError, Trainer, Work,
};
use afterstate_game::{Board, Move};

type Tensors = BTreeMap<String, Vec<f64>>;

/// The outputs of a DCNN by the definition in section 4.1.
fn naive_dcnn(tensors: &Tensors, layers: usize, tile_values: usize, board: &Board<4>) -> Vec<f64> {
    let mut image = vec![[[0.0; 4]; 4]; tile_values];
    for (cell, exponent) in board.exponents().enumerate() {
        image[usize::from(exponent).min(tile_values - 1)][cell / 4][cell % 4] = 1.0;
    }
    for k in 1..=layers {
        let (weight, bias) = (&tensors[&format!("conv{k}.weight")], &tensors[&format!("conv{k}.bias")]);
        let inputs = image.len();
        let mut next = vec![[[0.0; 4]; 4]; bias.len()];
        for (o, row, column) in (0..bias.len()).flat_map(|o| (0..16).map(move |p| (o, p / 4, p % 4))) {
            let mut sum = bias[o];
            for (i, down, right) in (0..inputs).flat_map(|i| (0..4).map(move |c| (i, c / 2, c % 2))) {
                let (y, x) = (row + down, column + right);
                if y < 4 && x < 4 {
                    sum += weight[((o * inputs + i) * 2 + down) * 2 + right] * image[i][y][x];
                }
            }
            next[o][row][column] = f64::max(sum, 0.0);
        }
        image = next;
    }
    let mut outputs = tensors["fc.bias"].clone();
    let features: Vec<f64> = image.iter().flatten().flatten().copied().collect();
    for (output, weights) in outputs.iter_mut().zip(tensors["fc.weight"].chunks(features.len())) {
        *output += weights.iter().zip(&features).map(|(w, x)| w * x).sum::<f64>();
    }
    outputs
}

/// tjwei's network by its definition.
fn naive_tjwei(tensors: &Tensors, first: usize, second: usize, board: &Board<4>) -> f64 {
    const FILTERS: [(&str, usize, usize); 2] = [("a", 2, 1), ("b", 1, 2)];
    let tiles: Vec<_> = board.exponents().map(usize::from).collect();
    let mut output = 0.0;
    for (name, h, w) in FILTERS {
        let (height, width) = (5 - h, 5 - w);
        let (weight, bias) =
            (&tensors[&format!("conv1{name}.weight")], &tensors[&format!("conv1{name}.bias")]);
        let value = |o: usize, y: usize, x: usize| {
            let cell = |c: usize| weight[(o * 16 + tiles[(y + c / w) * 4 + x + c % w]) * 2 + c];
            f64::max(bias[(o * height + y) * width + x] + cell(0) + cell(1), 0.0)
        };
        for (then, h, w) in FILTERS {
            let (height, width) = (height + 1 - h, width + 1 - w);
            let (weight, full) =
                (&tensors[&format!("conv2{then}.weight")], &tensors[&format!("fc_{name}{then}.weight")]);
            let pixels =
                (0..second).flat_map(|o| (0..height * width).map(move |p| (o, p / width, p % width)));
            for (o, y, x) in pixels {
                let pair =
                    |i: usize, c: usize| weight[(o * first + i) * 2 + c] * value(i, y + c / w, x + c % w);
                let sum: f64 = (0..first).map(|i| pair(i, 0) + pair(i, 1)).sum();
                output += f64::max(sum, 0.0) * full[(o * height + y) * width + x];
            }
        }
    }
    output
}

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error < tolerance * (0.01 + expected.abs()), "{what}[{i}]: {found}, not {expected}");
    }
}

fn outputs(net: &Dcnn, boards: &[Board<4>]) -> Vec<f64> {
    net.forward(boards, &mut Work::default()).iter().map(|&output| f64::from(output)).collect()
}

#[test]
fn outputs_are_those_of_the_definition() {
    for (layers, channels, tile_values) in [(1, 3, 16), (2, 7, 16), (5, 9, 18)] {
        let architecture = Architecture::Dcnn { layers, channels };
        let net = Dcnn::new(DcnnSpec { architecture, tile_values }, 7);
        let tensors = tensors(&net);
        // One board, a few and many take different code paths.
        for boards in [1, 2, 8, 40].map(boards) {
            let expected = boards.iter().flat_map(|board| naive_dcnn(&tensors, layers, tile_values, board));
            assert_close("output", &outputs(&net, &boards), &expected.collect::<Vec<_>>(), 1e-4);
        }
    }
}

#[test]
fn values_are_those_of_the_definition() {
    let architecture = Architecture::Tjwei { first: 3, second: 5 };
    let net = Dcnn::new(DcnnSpec { architecture, tile_values: 16 }, 3);
    let (boards, tensors) = (boards(10), tensors(&net));
    let expected: Vec<_> = boards.iter().map(|board| naive_tjwei(&tensors, 3, 5, board)).collect();
    assert_close("value", &outputs(&net, &boards), &expected, 1e-4);
}

/// Compares slopes with what a small change of the weight does to the loss.
fn check_gradient<L: Loss>(net: Dcnn, batch: &[Sample<L::Target>], loss: impl Fn(&Tensors) -> f64) {
    const H: f64 = 1e-6;
    let mut trainer = Trainer::<L>::new(net.clone(), 1).unwrap();
    let gradient = tensors(&Dcnn::from_weights(*net.spec(), trainer.gradient(batch)).unwrap());
    let mut tensors = tensors(&net);
    for (name, slopes) in gradient {
        // A few of each tensor, all over it.
        for i in (0..slopes.len()).step_by(slopes.len().div_ceil(23)) {
            let mut moved = |by: f64| {
                let weight = tensors[&name][i];
                tensors.get_mut(&name).unwrap()[i] = weight + by;
                let loss = loss(&tensors);
                tensors.get_mut(&name).unwrap()[i] = weight;
                loss
            };
            let slope = (moved(H) - moved(-H)) / (2.0 * H);
            assert_close(&name, &[slopes[i]], &[slope], 1e-3);
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    // A few boards and many take different code paths.
    for (layers, channels, count) in [(1, 4, 12), (2, 5, 12), (4, 6, 12), (2, 5, 40), (4, 6, 40)] {
        let batch = boards(count).into_iter().enumerate();
        let batch: Vec<_> = batch.map(|(i, board)| Sample { board, target: Move::ALL[i % 4] }).collect();
        let net = Dcnn::new(DcnnSpec::policy(layers, channels).unwrap(), 5);
        check_gradient::<CrossEntropy>(net, &batch, |tensors| {
            let loss = |sample: &Sample<Move>| {
                let outputs = naive_dcnn(tensors, layers, 16, &sample.board);
                outputs.iter().map(|o| o.exp()).sum::<f64>().ln() - outputs[sample.target as usize]
            };
            batch.iter().map(loss).sum::<f64>() / batch.len() as f64
        });
    }
}

#[test]
fn gradients_of_values_are_those_of_finite_differences() {
    let batch = boards(6).into_iter().enumerate();
    let batch: Vec<_> = batch.map(|(i, board)| Sample { board, target: i as f32 }).collect();
    let architecture = Architecture::Tjwei { first: 4, second: 6 };
    let net = Dcnn::new(DcnnSpec { architecture, tile_values: 16 }, 5);
    check_gradient::<SquaredError>(net, &batch, |tensors| {
        let error =
            |sample: &Sample<f32>| naive_tjwei(tensors, 4, 6, &sample.board) - f64::from(sample.target);
        batch.iter().map(|sample| error(sample).powi(2) / 2.0).sum::<f64>() / batch.len() as f64
    });
}
