//! A file with the solution of 3×3 for a single board, since solving all of them takes a minute.
//! `crates/solver/src/file.rs` has the format.

use std::{fs, path::Path};

use afterstate_game::{Board, Symmetry};
use xxhash_rust::xxh3::xxh3_64;

/// The board that the file knows.
pub(crate) const BOARD: &str = "110/000/000";

/// Its afterstates, up to symmetry, and their values: merging is worth 4 + 100, moving down 50.
const AFTERSTATES: [(&str, u32); 2] = [("200/000/000", 100), ("000/000/110", 50)];

/// The reciprocal of the unit of values.
const UNIT: u32 = 1 << 17;

pub(crate) fn write(path: &Path) {
    let mut values: Vec<(u32, u32)> = AFTERSTATES
        .iter()
        .flat_map(|(board, value)| {
            let board: Board<3> = board.parse().expect("a board");
            Symmetry::ALL.map(|symmetry| (key(board.image(symmetry)), value * UNIT))
        })
        .collect();
    values.sort_unstable();
    values.dedup();
    let mut header = b"2048sol1".to_vec();
    // The side, the objective, the tiles at the start, the layers.
    header.extend([3u32, 0, 2, 1].into_iter().flat_map(u32::to_le_bytes));
    header.extend([0.1f64, 100.0].into_iter().flat_map(f64::to_le_bytes));
    header.extend(1u64.to_le_bytes());
    // The only layer: tiles that sum to 4.
    header.extend([4, values.len() as u32].into_iter().flat_map(u32::to_le_bytes));
    let keys = values.iter().map(|(key, _)| *key);
    let data: Vec<u8> =
        keys.chain(values.iter().map(|(_, value)| *value)).flat_map(u32::to_le_bytes).collect();
    let [first, second] = [&header, &data].map(|part| xxh3_64(part).to_le_bytes());
    fs::write(path, [&header[..], &first, &data, &second].concat()).expect("a file");
}

/// Eight cells of four bits, scattered over the keys.
fn key(board: Board<3>) -> u32 {
    let cells = board.exponents().take(8);
    cells.fold(0, |word, exponent| word << 4 | u32::from(exponent)).wrapping_mul(0x9e37_79b1)
}
