//! Board texts from anywhere: parsing never panics, and what parses prints a text that parses to the
//! same board, whose slides stay boards.
//!
//! `cargo +nightly fuzz run board_text`

#![no_main]

use afterstate_game::{AnyBoard, Board, State};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match text.parse() {
    Ok(AnyBoard::Four(board)) => check(text, board),
    Ok(AnyBoard::Three(board)) => check(text, board),
    Ok(AnyBoard::Two(board)) => check(text, board),
    Err(error) => assert!(!error.to_string().is_empty()),
});

fn check<const N: usize>(text: &str, board: Board<N>) {
    assert_eq!(text.parse(), Ok(board), "the side is the same");
    assert_eq!(board.to_string().parse(), Ok(board), "what is printed parses back");
    for (_, slide) in State::new(board).slides().iter() {
        let exponents: Vec<u8> = slide.afterstate.board().exponents().collect();
        assert_eq!(Board::from_exponents(&exponents), Ok(slide.afterstate.board()));
    }
}
