//! How many positions a layer can have at most, before any is found.
//!
//! What a slide leaves lies against an edge: in each line along it no empty cell comes before a tile or a wall. Layouts of that kind
//! are counted by their sums, line by line, and are a small part of all layouts.

use crate::{Endgame, Walls};

/// The most positions that slides lead to, by half the sum of the free tiles, from 0 to the largest sum.
pub(crate) fn most_positions(endgame: &Endgame, largest: usize) -> Vec<u64> {
    let mut most = vec![0u64; largest + 1];
    for &shape in endgame.shapes() {
        for direction in 0..4 {
            let counts = packed(shape, direction, endgame.limit(), largest);
            most.iter_mut().zip(counts).for_each(|(most, count)| *most = most.saturating_add(count));
        }
    }
    most
}

/// The number of layouts beside these walls that lie against one edge, by half their sums.
fn packed(shape: Walls, direction: usize, limit: u8, largest: usize) -> Vec<u64> {
    let mut counts = vec![0; largest + 1];
    counts[0] = 1;
    for i in 0..4 {
        let is_wall: [bool; 4] = std::array::from_fn(|j| {
            let cell = [4 * j + i, 4 * (3 - j) + i, 4 * i + j, 4 * i + 3 - j][direction];
            shape.0 >> cell & 1 == 1
        });
        // Up to the last wall all cells are full; the others are filled from the front.
        let full = is_wall.iter().rposition(|&is_wall| is_wall).map_or(0, |last| last + 1);
        let before = counts.clone();
        for _ in full..4 {
            counts = with_a_tile(&counts, limit);
            counts.iter_mut().zip(&before).for_each(|(count, before)| *count = count.saturating_add(*before));
        }
        for _ in is_wall[..full].iter().filter(|&&is_wall| !is_wall) {
            counts = with_a_tile(&counts, limit);
        }
    }
    counts
}

/// The same with one more tile below the limit.
fn with_a_tile(counts: &[u64], limit: u8) -> Vec<u64> {
    let mut with = vec![0u64; counts.len()];
    for half in (1..limit).map(|tile| 1 << (tile - 1)).take_while(|&half| half < counts.len()) {
        let moved = with[half..].iter_mut().zip(counts);
        moved.for_each(|(with, count)| *with = with.saturating_add(*count));
    }
    with
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_against_an_edge_are_counted() {
        // One free cell behind three walls, and a free row.
        let shape: Walls = "FFFF/FFFF/FFF./....".parse().unwrap();
        let count = |direction| packed(shape, direction, 3, 6);
        // Tiles 2 and 4. To the left: 1 + t in the third row, 1 + t + t² + t³ + t⁴ in the fourth, where t = x + x².
        assert_eq!(count(2), [1, 2, 4, 6, 10, 15, 19]);
        // Up: three columns of 1 + t, and one of 1 + t + t².
        assert_eq!(count(0), [1, 4, 11, 21, 32, 38, 36]);
        // Down, all five cells are full.
        assert_eq!(count(1), [0, 0, 0, 0, 0, 1, 5]);
    }
}
