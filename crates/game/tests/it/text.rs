//! Boards as text: round trips, and errors that help.

use afterstate_game::{AnyBoard, Board, State, draw};
use proptest::prelude::*;

/// Boards that a game could reach, including large tiles.
fn boards<const N: usize>() -> impl Strategy<Value = Board<N>> {
    let exponent = prop_oneof![6 => Just(0), 10 => 1..=11u8, 1 => 12..=17u8];
    let exponents = prop::collection::vec(exponent, N * N);
    exponents.prop_filter_map("a sum within the game's", |e| Board::from_exponents(&e).ok())
}

fn face_values<const N: usize>(board: Board<N>, separator: &str) -> String {
    let face = |exponent: u8| if exponent == 0 { "0".into() } else { (1u32 << exponent).to_string() };
    board.exponents().map(face).collect::<Vec<String>>().join(separator)
}

fn round_trips<const N: usize>(board: Board<N>) -> Result<(), TestCaseError> {
    let text = board.to_string();
    prop_assert_eq!(text.parse(), Ok(board));
    prop_assert_eq!(text.to_uppercase().parse(), Ok(board));
    prop_assert_eq!(text.replace('/', "").parse(), Ok(board));
    prop_assert_eq!(text.replace('/', " \n").parse(), Ok(board));
    prop_assert_eq!(text.parse::<State<N>>().map(|state| state.board()), Ok(board));
    for separator in [" ", ", ", "|", "\n"] {
        let faces = face_values(board, separator);
        // Four words of four characters are the rows of a 4×4 board.
        if faces.split(separator).any(|word| word.len() != 4) {
            prop_assert_eq!(faces.parse(), Ok(board), "{}", faces);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(four in boards::<4>(), three in boards::<3>(), two in boards::<2>()) {
        round_trips(four)?;
        round_trips(three)?;
        round_trips(two)?;
        prop_assert_eq!(four.to_string().parse(), Ok(AnyBoard::Four(four)));
        prop_assert_eq!(three.to_string().parse(), Ok(AnyBoard::Three(three)));
        prop_assert_eq!(two.to_string().parse(), Ok(AnyBoard::Two(two)));
    }

    #[test]
    fn a_drawing_parses_back(four in boards::<4>(), three in boards::<3>()) {
        prop_assert_eq!(draw(&four, false).replace('.', "0").parse(), Ok(four));
        prop_assert_eq!(draw(&three, false).replace('.', "0").parse(), Ok(three));
    }

    #[test]
    fn no_text_panics_and_what_parses_prints_the_same(text in "[0-9a-iA-H/ |,;\n]{0,40}|\\PC{0,40}") {
        if let Ok(board) = text.parse::<Board<4>>() {
            prop_assert_eq!(board.to_string().parse(), Ok(board));
            prop_assert_eq!(text.parse::<AnyBoard>(), Ok(AnyBoard::Four(board)));
        }
        let _ = text.parse::<Board<3>>();
        let _ = text.parse::<Board<2>>();
    }
}

#[test]
fn face_values_and_exponents_are_told_apart() {
    let cases = [
        ("0000/0010/0100/000b", "0 0 0 0 0 0 2 0 0 2 0 0 0 0 0 2048"),
        ("10/0b", "2 0 0 2048"),
        ("44/47", "16 16 16 128"),
        ("gh/12", "65536 131072 2 4"),
        ("a4/47", "1024 16 16 128"),
        ("000/01g/000", "0,0,0 0,2,65536 0,0,0"),
    ];
    for (exponents, faces) in cases {
        assert_eq!(exponents.parse::<AnyBoard>(), faces.parse(), "{faces}");
        assert!(exponents.parse::<AnyBoard>().is_ok());
    }
    for (dots, zeros) in [("..../..1./.1../...b", "0000/0010/0100/000b"), ("2 . _ 2048", "2 0 0 2048")] {
        assert_eq!(dots.parse::<AnyBoard>(), zeros.parse(), "{dots}");
        assert!(dots.parse::<AnyBoard>().is_ok(), "{dots}");
    }
    let rows = "1024 1024 1024 1024".parse::<AnyBoard>();
    assert_eq!(rows, "1024/1024/1024/1024".parse(), "four words of four characters are rows");
}

/// Each invalid text, and what its error must say.
const ERRORS: [(&str, &[&str]); 19] = [
    ("", &["0 cells", "16 (4×4), 9 (3×3) or 4 (2×2)"]),
    ("///", &["0 cells"]),
    ("00x0/0010/0100/0000", &["`x`", "row 1, column 3", "a–h"]),
    ("0000/0010/01i0/0000", &["`i`", "row 3, column 3"]),
    ("00000010010000é0", &["`é`", "row 4, column 3"]),
    ("0000/0010/0100/000", &["row 4", "`000`", "4 characters"]),
    ("0000/00100/0100/000", &["row 2", "`00100`", "4×4"]),
    ("000/00/000", &["row 2", "`00`", "3×3"]),
    ("0000/0000/0000", &["12 cells"]),
    ("0000/0000/0000/0000/0000", &["20 cells"]),
    ("00000", &["5 cells"]),
    ("2 4 8", &["3 cells"]),
    ("2 4 8 16 32", &["5 cells"]),
    ("2 4 8 x", &["`x`", "row 2, column 2", "face values"]),
    ("2 4 8 6", &["`6`", "row 2, column 2"]),
    ("0 0 0 0 0 0 1 0 0 1 0 0 0 0 0 0", &["`1`", "row 2, column 3", "without spaces"]),
    ("0 0 0 0 262144 0 0 0 0", &["`262144`", "row 2, column 2", "131072"]),
    ("0 0 0 0 -2 0 0 0 0", &["`-2`"]),
    ("hh00/0000/0000/0000", &["262144", "262140"]),
];

#[test]
fn errors_say_what_is_wrong_and_what_is_right() {
    for (text, parts) in ERRORS {
        match text.parse::<AnyBoard>() {
            Ok(board) => panic!("`{text}` is {board:?}"),
            Err(error) => {
                let message = error.to_string();
                assert!(parts.iter().all(|part| message.contains(part)), "`{text}`: {message}");
                assert!(!message.contains('\n'), "`{text}`: {message}");
            }
        }
    }
}

#[test]
fn a_board_of_another_side_is_refused() {
    let message = |result: Result<Board<4>, afterstate_game::ParseError>| match result {
        Ok(board) => panic!("{board}"),
        Err(error) => error.to_string(),
    };
    assert!(message("000/000/000".parse()).contains("9 cells: a board has 16 (4×4)"));
    assert!(message("2 4 8 16".parse()).contains("4 cells: a board has 16 (4×4)"));
}
