//! Lines of four cells, slid in both directions by the rules of `afterstate_game`.

use afterstate_game::{Board, Move, State};

use crate::board::WALL;

/// What sliding makes of every line; the line's first cell is its lowest nibble.
pub(crate) struct Lines {
    /// Towards the first cell.
    pub(crate) front: Vec<u16>,
    /// Towards the last cell.
    pub(crate) back: Vec<u16>,
    /// The runs of empty cells, two of at most: a mask of four cells each, in a byte.
    pub(crate) gaps: Vec<u8>,
}

impl Lines {
    /// The lines of tiles below a limit, walls, and empty cells. All other lines stay 0.
    pub(crate) fn new(limit: u8) -> Self {
        let mut lines = Lines { front: vec![0; 1 << 16], back: vec![0; 1 << 16], gaps: vec![0; 1 << 16] };
        for line in 0..=u16::MAX {
            let cells = cells(line);
            if cells.iter().all(|&cell| cell < limit || u64::from(cell) == WALL) {
                let index = usize::from(line);
                [lines.front[index], lines.back[index]] = slide(cells);
                lines.gaps[index] = gaps(cells);
            }
        }
        lines
    }
}

/// The four nibbles of a line.
pub(crate) fn cells(line: u16) -> [u8; 4] {
    std::array::from_fn(|cell| (line >> (4 * cell) & 15) as u8)
}

/// The cells of a line that are walls, as a mask of four bits.
pub(crate) fn walls(line: u16) -> u16 {
    let is_wall = |(cell, nibble)| u16::from(u64::from(nibble) == WALL) << cell;
    (0..).zip(cells(line)).map(is_wall).sum()
}

/// The line slid to its first and to its last cell. Walls slide as different large tiles would, which never merge.
fn slide(cells: [u8; 4]) -> [u16; 2] {
    const FIRST_WALL: u8 = 14;
    let mut exponents = [0; 16];
    for (cell, nibble) in cells.into_iter().enumerate() {
        exponents[cell] = if u64::from(nibble) == WALL { FIRST_WALL + cell as u8 } else { nibble };
    }
    let state = Board::from_exponents(&exponents).map(State::<4>::new);
    let state = state.expect("four different walls, or smaller tiles, are a board");
    [Move::Left, Move::Right].map(|a| {
        let slid = state.slides().afterstates[a as usize].board().bytes();
        let nibble = |cell: usize| if slid[cell] >= FIRST_WALL { WALL as u16 } else { slid[cell].into() };
        (0..4).map(|cell| nibble(cell) << (4 * cell)).sum()
    })
}

/// The runs of empty cells: the first one in the lower four bits.
fn gaps(cells: [u8; 4]) -> u8 {
    let empty: u8 = (0..4).map(|cell| u8::from(cells[cell] == 0) << cell).sum();
    let first = empty & !(empty + (empty & empty.wrapping_neg()));
    first | (empty & !first) << 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_slide_and_do_not_merge() {
        let lines = Lines::new(9);
        let front = |line: usize| lines.front[line];
        // The first cell is the lowest nibble.
        assert_eq!([front(0x0ff0), front(0x11f0), front(0xf0f0), front(0x8811)], [0xff, 0x2f, 0xff, 0x92]);
        assert_eq!(lines.back[0x00ff], 0xff00);
        assert_eq!(
            [lines.gaps[0x0100], lines.gaps[0x1000], lines.gaps[0xf010], lines.gaps[0xffff]],
            [0x83, 7, 0x41, 0]
        );
        assert_eq!(walls(0xf01f), 0b1001);
    }
}
