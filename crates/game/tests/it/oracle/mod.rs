//! An independent implementation of the rules: lists of face values, one tile at a time.
//!
//! Slow and obvious on purpose. It shares no code with the library, so that a mistake would have to be
//! made twice.

// Every test file uses a part of it.
#![allow(dead_code)]

use afterstate_game::{Board, GameRng, Move};
use rand_core::Rng;

/// A square board of face values, row by row; 0 is an empty cell.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Naive(pub(crate) Vec<Vec<u64>>);

/// Slides one line of tiles towards its front: "tiles slide as far as possible; two equal tiles that
/// meet merge into their sum, those nearest the front first; a merged tile does not merge again".
pub(crate) fn slide_line(line: &[u64]) -> (Vec<u64>, u64) {
    let mut waiting: Vec<u64> = line.iter().copied().filter(|&tile| tile != 0).rev().collect();
    let (mut slid, mut reward) = (Vec::new(), 0);
    while let Some(tile) = waiting.pop() {
        if waiting.last() == Some(&tile) {
            waiting.pop();
            slid.push(2 * tile);
            reward += 2 * tile;
        } else {
            slid.push(tile);
        }
    }
    slid.resize(line.len(), 0);
    (slid, reward)
}

impl Naive {
    pub(crate) fn of<const N: usize>(board: Board<N>) -> Naive {
        let tile = |exponent| if exponent == 0 { 0 } else { 2u64.pow(exponent as u32) };
        let tiles: Vec<u64> = board.exponents().map(tile).collect();
        Naive(tiles.chunks(N).map(<[u64]>::to_vec).collect())
    }

    fn transposed(&self) -> Naive {
        Naive((0..self.0.len()).map(|column| self.0.iter().map(|row| row[column]).collect()).collect())
    }

    fn mirrored(&self) -> Naive {
        Naive(self.0.iter().map(|row| row.iter().rev().copied().collect()).collect())
    }

    fn left(&self) -> (Naive, u64) {
        let (rows, rewards): (Vec<_>, Vec<_>) = self.0.iter().map(|row| slide_line(row)).unzip();
        (Naive(rows), rewards.iter().sum())
    }

    /// The board after a move and the reward; `None` when nothing moves.
    pub(crate) fn slide(&self, a: Move) -> Option<(Naive, u64)> {
        let (slid, reward) = match a {
            Move::Left => self.left(),
            Move::Right => {
                let (slid, reward) = self.mirrored().left();
                (slid.mirrored(), reward)
            }
            Move::Up => {
                let (slid, reward) = self.transposed().left();
                (slid.transposed(), reward)
            }
            Move::Down => {
                let (slid, reward) = self.transposed().mirrored().left();
                (slid.mirrored().transposed(), reward)
            }
        };
        (slid != *self).then_some((slid, reward))
    }

    /// The paths of (move, cell, tile) of a length.
    pub(crate) fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut paths = 0;
        for (slid, _) in Move::ALL.into_iter().filter_map(|a| self.slide(a)) {
            for (row, column) in slid.empty_cells() {
                for tile in [2, 4] {
                    let mut next = slid.clone();
                    next.0[row][column] = tile;
                    paths += next.perft(depth - 1);
                }
            }
        }
        paths
    }

    pub(crate) fn empty_cells(&self) -> Vec<(usize, usize)> {
        let side = self.0.len();
        let cells = (0..side).flat_map(|row| (0..side).map(move |column| (row, column)));
        cells.filter(|&(row, column)| self.0[row][column] == 0).collect()
    }

    pub(crate) fn largest(&self) -> u64 {
        self.0.iter().flatten().copied().max().unwrap_or(0)
    }

    /// Σ (k − 1)·2^k over the tiles 2^k: the score that a board of merged 2s has earned.
    pub(crate) fn potential(&self) -> u64 {
        let earned = |&tile: &u64| if tile == 0 { 0 } else { u64::from(tile.ilog2() - 1) * tile };
        self.0.iter().flatten().map(earned).sum()
    }
}

/// A number below `bound`.
pub(crate) fn below(rng: &mut GameRng, bound: u64) -> u64 {
    ((rng.next_u64() >> 32) * bound) >> 32
}

/// A random board that a game could reach: with any number of tiles, from a narrow range so that many
/// of them merge, and on every other board with tiles of 32768 or more.
pub(crate) fn random_board<const N: usize>(rng: &mut GameRng) -> Board<N> {
    loop {
        let emptiness = below(rng, 10);
        let (lowest, range) = (1 + below(rng, 10), 1 + below(rng, 6));
        let large = below(rng, 2) * below(rng, 40);
        let exponents: Vec<u8> = (0..N * N)
            .map(|_| match below(rng, 100) {
                dice if dice < 10 * emptiness => 0,
                dice if dice < 10 * emptiness + large => 15 + below(rng, 3) as u8,
                _ => (lowest + below(rng, range)) as u8,
            })
            .collect();
        if let Ok(board) = Board::from_exponents(&exponents) {
            return board;
        }
    }
}
