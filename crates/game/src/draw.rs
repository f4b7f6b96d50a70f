//! Boards drawn for a terminal.

use std::fmt::Write;

use crate::Board;

/// The colours of the published game: background and text of a tile, as RGB.
pub fn tile_colour(exponent: u8) -> ([u8; 3], [u8; 3]) {
    const DARK: [u8; 3] = [119, 110, 101];
    const LIGHT: [u8; 3] = [249, 246, 242];
    match exponent {
        0 => ([205, 193, 180], DARK),
        1 => ([238, 228, 218], DARK),
        2 => ([237, 224, 200], DARK),
        3 => ([242, 177, 121], LIGHT),
        4 => ([245, 149, 99], LIGHT),
        5 => ([246, 124, 95], LIGHT),
        6 => ([246, 94, 59], LIGHT),
        7 => ([237, 207, 114], LIGHT),
        8 => ([237, 204, 97], LIGHT),
        9 => ([237, 200, 80], LIGHT),
        10 => ([237, 197, 63], LIGHT),
        11 => ([237, 194, 46], LIGHT),
        12 => ([129, 178, 73], LIGHT),
        13 => ([78, 154, 88], LIGHT),
        14 => ([46, 125, 140], LIGHT),
        15 => ([52, 92, 163], LIGHT),
        16 => ([112, 66, 153], LIGHT),
        _ => ([60, 58, 50], LIGHT),
    }
}

/// Draws the board with face values, in colour for a terminal or as plain text.
///
/// ```
/// let board: afterstate_game::Board<2> = "10/0b".parse()?;
/// assert_eq!(afterstate_game::draw(&board, false), "      2      .\n      .   2048\n");
/// # Ok::<(), afterstate_game::ParseError>(())
/// ```
pub fn draw<const N: usize>(board: &Board<N>, colour: bool) -> String {
    let mut picture = String::new();
    for (cell, exponent) in board.exponents().enumerate() {
        let face = if exponent == 0 { ".".into() } else { (1u32 << exponent).to_string() };
        let ([r, g, b], [tr, tg, tb]) = tile_colour(exponent);
        let written = if colour {
            write!(picture, "\x1b[48;2;{r};{g};{b}m\x1b[38;2;{tr};{tg};{tb}m{face:^7}\x1b[0m")
        } else {
            write!(picture, "{face:>7}")
        };
        written.expect("writing to a string cannot fail");
        if cell % N == N - 1 {
            picture.push('\n');
        }
    }
    picture
}
