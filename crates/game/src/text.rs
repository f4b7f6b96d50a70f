//! Boards as text.
//!
//! Two forms, told apart by the number of words, so that no text is ambiguous:
//! * exponents, one character a cell, rows together or apart: `0000/0010/0100/000b`;
//! * face values, one word a cell: `0 0 0 0  0 0 2 0  0 2 0 0  0 0 0 2048`.
//!
//! An empty cell is `0`, `.` or `_`. `/`, `|`, `,`, `;` and white space separate words. Four words of four characters are the rows of a
//! 4×4 board, never the face values of a 2×2 board.

use std::{fmt, str::FromStr};

use crate::{Afterstate, AnyBoard, Board, BoardError, LARGEST_EXPONENT, State};

/// Why a text cannot be parsed as a board.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// A character that is not an exponent.
    #[error(
        "character `{found}` in {cell} is not a tile: write 0, . or _ for empty, 1–9 and a–h for 2, 4, 8, … 131072"
    )]
    Character {
        /// The bad character.
        found: char,
        /// Its cell.
        cell: Cell,
    },
    /// A word that is not a face value.
    #[error(
        "`{found}` in {cell} is not a tile: face values are 0, . or _ (empty), 2, 4, 8, … 131072; exponents are written without spaces, as 0000/0010/0100/000b"
    )]
    Face {
        /// The bad word.
        found: String,
        /// Its cell.
        cell: Cell,
    },
    /// The rows differ in length.
    #[error("row {} is `{found}`: a row of a {side}×{side} board has {side} characters", row + 1)]
    Row {
        /// The row, from 0.
        row: usize,
        /// What it holds.
        found: String,
        /// The side of the board.
        side: usize,
    },
    /// No board has this number of cells.
    #[error("{found} cells: a board has {expected}")]
    Cells {
        /// How many were found.
        found: usize,
        /// The expected number of cells.
        expected: &'static str,
    },
    /// No game can reach this board.
    #[error(transparent)]
    Impossible(#[from] BoardError),
}

/// A cell of a board in human coordinates: rows and columns from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The row, from 1.
    pub row: usize,
    /// The column, from 1.
    pub column: usize,
}

impl Cell {
    fn new(index: usize, side: usize) -> Self {
        Cell { row: index / side + 1, column: index % side + 1 }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {}, column {}", self.row, self.column)
    }
}

/// Characters for an empty cell, besides 0.
const EMPTY: [&str; 2] = [".", "_"];

fn words(text: &str) -> Vec<&str> {
    let separates = |c: char| c.is_whitespace() || "/|,;".contains(c);
    text.split(separates).filter(|word| !word.is_empty()).collect()
}

/// The side of the board that a list of words describes, and whether they are face values.
fn form(words: &[&str]) -> Option<(usize, bool)> {
    match words.len() {
        1 => (2..=4).find(|side| length(words[0]) == side * side).map(|side| (side, false)),
        9 => Some((3, true)),
        16 => Some((4, true)),
        4 if !are_rows(words) => Some((2, true)),
        rows @ 2..=4 => words.iter().any(|word| length(word) == rows).then_some((rows, false)),
        _ => None,
    }
}

/// Whether the text of a board uses face values, one word a cell, rather than exponents.
pub fn has_faces(text: &str) -> bool {
    form(&words(text)).is_some_and(|(_, faces)| faces)
}

/// Whether four words are the rows of a 4×4 board. The face values of a 2×2 board have neither letters
/// nor leading zeros.
fn are_rows(words: &[&str]) -> bool {
    let is_number = |word: &&str| {
        EMPTY.contains(word)
            || word.bytes().all(|b| b.is_ascii_digit()) && (*word == "0" || !word.starts_with('0'))
    };
    let is_row = |word: &&str| length(word) == 4;
    words.iter().all(is_row) || (words.iter().any(is_row) && !words.iter().all(is_number))
}

fn length(word: &str) -> usize {
    word.chars().count()
}

fn parse_cells(words: &[&str], side: usize, faces: bool) -> Result<Vec<u8>, ParseError> {
    if faces {
        return words.iter().enumerate().map(|(i, word)| parse_face(word, Cell::new(i, side))).collect();
    }
    if words.len() > 1
        && let Some(row) = words.iter().position(|word| length(word) != side)
    {
        return Err(ParseError::Row { row, found: words[row].into(), side });
    }
    let characters = words.iter().flat_map(|word| word.chars());
    characters.enumerate().map(|(i, found)| parse_exponent(found, Cell::new(i, side))).collect()
}

fn parse_exponent(found: char, cell: Cell) -> Result<u8, ParseError> {
    if ['.', '_'].contains(&found) {
        return Ok(0);
    }
    let exponent = found.to_digit(1 + u32::from(LARGEST_EXPONENT));
    exponent.map(|e| e as u8).ok_or(ParseError::Character { found, cell })
}

fn parse_face(word: &str, cell: Cell) -> Result<u8, ParseError> {
    if EMPTY.contains(&word) {
        return Ok(0);
    }
    match word.parse::<u32>() {
        Ok(0) => Ok(0),
        Ok(tile @ 2..=131_072) if tile.is_power_of_two() => Ok(tile.trailing_zeros() as u8),
        _ => Err(ParseError::Face { found: word.into(), cell }),
    }
}

impl<const N: usize> FromStr for Board<N> {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let words = words(text);
        let expected = match N {
            4 => "16 (4×4)",
            3 => "9 (3×3)",
            _ => "4 (2×2)",
        };
        match form(&words) {
            Some((side, faces)) if side == N => {
                Ok(Board::from_exponents(&parse_cells(&words, side, faces)?)?)
            }
            Some((side, _)) => Err(ParseError::Cells { found: side * side, expected }),
            None => Err(ParseError::Cells { found: count_cells(&words), expected }),
        }
    }
}

/// The number of cells that a text of the wrong length seems to mean: words of equal length, or only a
/// few of them, are rows of exponents.
fn count_cells(words: &[&str]) -> usize {
    let are_rows = words.len() <= 4 || words.iter().all(|word| length(word) == length(words[0]));
    if are_rows { words.iter().map(|word| length(word)).sum() } else { words.len() }
}

impl FromStr for AnyBoard {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let words = words(text);
        match form(&words).map(|(side, _)| side) {
            Some(4) => text.parse().map(AnyBoard::Four),
            Some(3) => text.parse().map(AnyBoard::Three),
            Some(_) => text.parse().map(AnyBoard::Two),
            None => Err(ParseError::Cells {
                found: count_cells(&words),
                expected: "16 (4×4), 9 (3×3) or 4 (2×2)",
            }),
        }
    }
}

impl<const N: usize> fmt::Display for Board<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(N * (N + 1));
        for (cell, exponent) in self.exponents().enumerate() {
            if cell > 0 && cell % N == 0 {
                text.push('/');
            }
            text.push(char::from_digit(exponent.into(), 36).expect("an exponent below 36"));
        }
        f.pad(&text)
    }
}

impl<const N: usize> Board<N> {
    /// The board as face values, one word a cell, rows two spaces apart: `0 2 4 8  16 …`.
    ///
    /// ```
    /// let board: afterstate_game::Board<2> = "10/0b".parse()?;
    /// assert_eq!(board.faces(), "2 0  0 2048");
    /// # Ok::<(), afterstate_game::ParseError>(())
    /// ```
    pub fn faces(&self) -> String {
        let exponents: Vec<u8> = self.exponents().collect();
        let face = |&e: &u8| if e == 0 { "0".to_owned() } else { (1u32 << e).to_string() };
        let row = |row: &[u8]| row.iter().map(face).collect::<Vec<_>>().join(" ");
        exponents.chunks(N).map(row).collect::<Vec<_>>().join("  ")
    }
}

impl<const N: usize> fmt::Debug for Board<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({self})")
    }
}

macro_rules! text_of_the_board {
    ($type:ident) => {
        impl<const N: usize> FromStr for $type<N> {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                text.parse().map($type::new)
            }
        }

        impl<const N: usize> fmt::Display for $type<N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.board().fmt(f)
            }
        }
    };
}
text_of_the_board!(State);
text_of_the_board!(Afterstate);
