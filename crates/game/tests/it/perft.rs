//! Path counts, against the data file and the oracle.

use crate::oracle::Naive;
use afterstate_game::{AnyBoard, Board, State, perft};

/// Counts up to this size are also checked by the oracle.
const ORACLE: u64 = 100_000;

/// Compares the counts at depths 1, 2, …; returns how many the oracle has confirmed.
fn check<const N: usize>(board: Board<N>, counts: &[u64]) -> u32 {
    let mut confirmed = 0;
    for (depth, &count) in (1..).zip(counts) {
        assert_eq!(perft(State::new(board), depth), count, "{board} at depth {depth}");
        if count <= ORACLE {
            assert_eq!(Naive::of(board).perft(depth), count, "the oracle, {board} at depth {depth}");
            confirmed += 1;
        }
    }
    confirmed
}

#[test]
fn counts_of_the_data_file() {
    let mut boards = 0;
    for line in include_str!("data/perft.txt").lines().filter(|line| !line.starts_with('#')) {
        let (board, counts) = line.split_once(' ').expect("a board and its counts");
        let counts: Vec<u64> = counts.split_whitespace().map(|c| c.parse().expect("a count")).collect();
        let confirmed = match board.parse().expect("a board") {
            AnyBoard::Two(board) => check(board, &counts),
            AnyBoard::Three(board) => check(board, &counts),
            AnyBoard::Four(board) => check(board, &counts),
        };
        assert!(confirmed >= 2, "{board}: the oracle confirms the first depths");
        boards += 1;
    }
    assert!(boards >= 12, "the data file was read");
}

#[test]
fn depth_zero_is_one_path_and_the_end_of_a_game_has_none() {
    let over: State<4> = "1212/2121/1212/2121".parse().expect("a board");
    assert_eq!((perft(over, 0), perft(over, 1), perft(over, 5)), (1, 0, 0));
}
