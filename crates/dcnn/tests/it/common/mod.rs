//! Helpers shared by several tests.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::{collections::BTreeMap, path::Path};

use afterstate_dcnn::Dcnn;
use afterstate_game::{Board, Game, Rules};
use afterstate_network::file::safetensors::{self, Tensor, TensorFile};

/// Boards of a game played at random.
pub(crate) fn boards(count: usize) -> Vec<Board<4>> {
    let mut game = Game::<4>::new(Rules::default(), 1, 1);
    let mut boards = Vec::new();
    while boards.len() < count {
        boards.push(game.state().board());
        let legal = game.state().legal_moves();
        let chosen = boards.len() % legal.len().max(1);
        match { legal }.nth(chosen) {
            Some(a) => game.play(a).expect("a legal move"),
            None => break,
        };
    }
    boards
}

/// Compares numbers, with a relative tolerance for those above a hundredth.
pub(crate) fn assert_close(
    what: &str,
    found: impl IntoIterator<Item = f64>,
    expected: &[f32],
    tolerance: f64,
) {
    let found: Vec<_> = found.into_iter().collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        let error = (found - f64::from(*expected)).abs();
        assert!(
            error <= tolerance * (1e-2 + f64::from(expected.abs())),
            "{what}[{i}]: {found}, not {expected}"
        );
    }
}

/// The tensors of a network by name, in PyTorch's order.
pub(crate) fn tensors(net: &Dcnn) -> BTreeMap<String, Vec<f64>> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("net.safetensors");
    net.save(&path, &BTreeMap::new()).expect("a file");
    let file = TensorFile::open(&path).expect("a file");
    let numbers = |name| file.tensor(name).expect("a tensor").iter().map(f64::from).collect();
    file.names().map(|name| (name.to_string(), numbers(name))).collect()
}

/// A file of tensors as PyTorch would write it, with our metadata.
pub(crate) fn write_tensors<'a>(
    path: &Path,
    metadata: &BTreeMap<String, String>,
    tensors: impl IntoIterator<Item = (&'a str, Vec<u64>, Vec<f32>)>,
) {
    let tensors = tensors.into_iter().map(|(name, shape, numbers)| Tensor::shaped(name, shape, numbers));
    safetensors::write(path, metadata, tensors).expect("a file");
}
