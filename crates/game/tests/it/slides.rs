//! Slides compared with the oracle.

use crate::oracle::{Naive, random_board};
use afterstate_game::{Board, Move, State, game_rng};

/// Compares all four moves; returns the largest tile that one of them made, if it is larger than those before.
fn compare<const N: usize>(board: Board<N>) -> u64 {
    let (naive, slides) = (Naive::of(board), State::new(board).slides());
    let mut largest = 0;
    for a in Move::ALL {
        let ours = slides.get(a).map(|s| (Naive::of(s.afterstate.board()), u64::from(s.reward)));
        let expected = naive.slide(a);
        assert_eq!(ours, expected, "{a} on {board}");
        assert_eq!(slides.legal.contains(a), expected.is_some(), "{a} on {board}");
        assert_eq!(slides.legal.mask() >> (a as u8) & 1 == 1, expected.is_some());
        assert_eq!(State::new(board).slide(a), slides.get(a), "{a} on {board}");
        if let Some((slid, reward)) = expected {
            assert_eq!(slid.potential() - naive.potential(), reward, "{a} on {board}");
            if slid.largest() > naive.largest() {
                largest = slid.largest();
            }
        } else {
            assert_eq!(slides.afterstates[a as usize].board(), board, "an illegal move changes nothing");
            assert_eq!(slides.rewards[a as usize], 0);
        }
    }
    largest
}

/// Every line of tiles up to 131072 that a board can hold, as a row and as a column.
fn compare_lines<const N: usize>() -> usize {
    let mut boards = 0;
    for number in 0..18usize.pow(N as u32) {
        let line: Vec<u8> = (0..N as u32).map(|k| (number / 18usize.pow(k) % 18) as u8).collect();
        // Neighbouring lines take different positions, so that all positions get nearly all lines.
        let place = number % N;
        let mut exponents = vec![0; N * N];
        exponents[N * place..N * (place + 1)].copy_from_slice(&line);
        let Ok(row) = Board::<N>::from_exponents(&exponents) else { continue };
        let transposed: Vec<u8> = (0..N * N).map(|cell| exponents[cell % N * N + cell / N]).collect();
        let column = Board::<N>::from_exponents(&transposed).expect("the same tiles");
        compare(row);
        compare(column);
        boards += 1;
    }
    boards
}

#[test]
fn every_line_of_every_side() {
    assert_eq!(compare_lines::<2>(), 18 * 18 - 1, "only 131072 twice is beyond a game");
    assert!(compare_lines::<3>() > 5500);
    assert!(compare_lines::<4>() > 95_000);
}

fn compare_random<const N: usize>(boards: u64, seed: u64) {
    let mut rng = game_rng(seed, N as u64);
    let (mut made_65536, mut made_131072) = (0, 0);
    for _ in 0..boards {
        let largest = compare(random_board::<N>(&mut rng));
        made_65536 += u32::from(largest == 1 << 16);
        made_131072 += u32::from(largest == 1 << 17);
    }
    assert!(u64::from(made_65536) > boards / 200, "only {made_65536} boards made a 65536");
    assert!(u64::from(made_131072) > boards / 1000, "only {made_131072} boards made a 131072");
}

#[test]
fn random_4x4_boards() {
    compare_random::<4>(700_000, 1);
}

#[test]
fn more_random_4x4_boards() {
    compare_random::<4>(700_000, 2);
}

#[test]
fn random_3x3_boards() {
    compare_random::<3>(500_000, 1);
}

#[test]
fn random_2x2_boards() {
    compare_random::<2>(300_000, 1);
}

/// A board within the bound on the sum stays within it, so nothing ever merges past 131072.
///
/// Tiles are powers of two, so a sum takes at least as many tiles as it has ones in binary. A tile
/// spawns beside at most fifteen others: no sum within the bound with so few ones gets past it by a 4.
#[test]
fn the_bound_on_the_sum_holds_for_ever() {
    const BOUND: u32 = (1 << 18) - 4;
    for sum in (0..=BOUND).step_by(2) {
        assert!(sum.count_ones() > 15 || sum + 4 <= BOUND, "{sum}");
    }
    let fullest: Board<4> = "hgfe/abcd/9876/2345".parse().expect("the bound itself");
    assert_eq!(fullest.sum(), BOUND);
    assert!(State::new(fullest).is_terminal());
    let beyond: Result<Board<4>, _> = "hgfe/abcd/9876/3345".parse();
    assert!(beyond.is_err());
}
