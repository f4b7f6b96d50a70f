//! Learning from given targets: the step sizes by definition, on networks small enough to follow by hand.

use crate::common::{AUTOSTEP, FIXED, TC, spec};
use afterstate_game::{Afterstate, Board, game_rng};
use afterstate_learning::Updater;
use afterstate_network::Network;
use rand_core::Rng;

/// A network of one weight for each tile in the first cell of a 2×2 board.
fn network() -> Network {
    Network::new(spec(2, "0", 16, false)).expect("a small network")
}

fn afterstate(exponent: u8) -> Afterstate<2> {
    Afterstate::new(Board::from_exponents(&[exponent, 0, 0, 0]).expect("a board"))
}

/// Some tiles and targets.
fn lessons() -> (Vec<u8>, Vec<f32>) {
    let mut rng = game_rng(3, 1);
    (0..200).map(|_| ((rng.next_u32() % 4) as u8, (rng.next_u32() % 1000) as f32 - 300.0)).unzip()
}

fn learned(factor: f32, step_size: afterstate_learning::StepSizeSpec) -> (Vec<f32>, Vec<f32>) {
    let (network, (tiles, targets)) = (network(), lessons());
    let updater = Updater::new(&network, step_size).expect("little memory");
    let afterstates: Vec<_> = tiles.iter().map(|&tile| afterstate(tile)).collect();
    let mut errors = vec![0.0; targets.len()];
    updater.update(&network, &afterstates, &targets, factor, &mut errors);
    ((0..4).map(|tile| network.value(afterstate(tile))).collect(), errors)
}

#[test]
fn a_fixed_rate_is_a_moving_average() {
    let (values, errors) = learned(0.5, FIXED);
    let (tiles, targets) = lessons();
    let mut expected = [0.0f32; 4];
    for ((&tile, target), error) in tiles.iter().zip(targets).zip(errors) {
        let v = &mut expected[usize::from(tile)];
        assert_eq!(error, target - *v);
        *v += 0.125 * error;
    }
    assert_eq!(values, expected);
}

#[test]
fn temporal_coherence_is_algorithm_2_of_jaskowski_2016() {
    let (values, errors) = learned(1.0, TC);
    let (tiles, targets) = lessons();
    let mut expected = [(0.0f32, 0.0f32, 0.0f32); 4];
    for ((&tile, target), error) in tiles.iter().zip(targets).zip(errors) {
        let (v, e, a) = &mut expected[usize::from(tile)];
        assert_eq!(error, target - *v);
        *v += if *a == 0.0 { error } else { e.abs() / *a * error };
        (*e, *a) = (*e + error, *a + error.abs());
    }
    assert_eq!(values, expected.map(|(v, ..)| v));
}

#[test]
fn autostep_learns_a_constant_at_once() {
    let network = network();
    let updater = Updater::new(&network, AUTOSTEP).expect("little memory");
    let mut errors = [0.0; 3];
    updater.update(&network, &[afterstate(1); 3], &[70.0; 3], 1.0, &mut errors);
    assert_eq!(errors, [70.0, 0.0, 0.0]);
}

#[test]
#[should_panic(expected = "another network")]
fn an_updater_is_of_one_network() {
    let updater = Updater::new(&network(), TC).expect("little memory");
    let other = Network::new(spec(2, "01", 16, true)).expect("a small network");
    updater.update(&other, &[afterstate(1)], &[1.0], 1.0, &mut [0.0]);
}
