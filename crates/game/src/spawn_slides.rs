//! All slides that can follow a new tile: what a chance node of a search looks at.

use crate::{Afterstate, Board, slide};

/// The slides of an afterstate on which a 2 or a 4 has appeared in one of its empty cells.
///
/// There are two axes: the rows of the board, and its columns, which are the rows of the transposed board. A slide has a
/// number from 0 to 63, `32·axis + 16·direction + cell`; direction 0 is left or up, 1 is right or down, and the cell is
/// that of the new tile, `4·row + column`, on the transposed board for the second axis.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct SpawnSlides<const N: usize>(slide::SpawnSlides);

impl<const N: usize> SpawnSlides<N> {
    /// Finds the slides of another afterstate.
    #[inline(always)]
    pub fn find(&mut self, afterstate: Afterstate<N>) {
        slide::spawn_slides::<N>(afterstate.board().bytes(), &mut self.0);
    }

    /// The empty cells along each axis: 0xff in their bytes.
    #[inline(always)]
    pub fn empty(&self) -> [[u8; 16]; 2] {
        self.0.empty
    }

    /// The slides, a bit for each, that move nothing after a 2 (`tile` is 0) or a 4 (1). Of cells that are not
    /// empty it says nothing.
    #[inline(always)]
    pub fn illegal(&self, tile: usize) -> u64 {
        self.0.illegal_bits[tile % 2]
    }

    /// The same as bytes, 0xff where nothing moves, for the slides `16·number` to `16·number + 15`.
    #[inline(always)]
    pub fn illegal_bytes(&self, tile: usize, number: usize) -> [u8; 16] {
        self.0.illegal[tile % 2][number % 4]
    }

    /// What a slide earns.
    #[inline(always)]
    pub fn reward(&self, tile: usize, slide: usize) -> f32 {
        self.0.rewards[tile % 2][slide / 32 % 2][slide % 16]
    }

    /// What a slide leaves.
    #[inline(always)]
    pub fn afterstate(&self, tile: usize, slide: usize) -> Afterstate<N> {
        let (number, cell) = (slide / 16 % 4, slide % 16);
        Afterstate::new(Board(slide::with_line(
            self.0.slid[number],
            cell / 4,
            self.0.lines[tile % 2][number][cell],
            number / 2 == 1,
        )))
    }
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::*;
    use crate::{Move, game_rng};

    /// The moves in the order of axes and directions.
    const MOVES: [Move; 4] = [Move::Left, Move::Right, Move::Up, Move::Down];

    fn compare<const N: usize>(boards: u64) {
        let mut slides = SpawnSlides::<N>::default();
        for number in 0..boards {
            let mut rng = game_rng(3, number);
            let mut below = |n: u32| ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u8;
            let (kinds, fill) = (1 + below(5), 1 + below(8));
            let exponents: Vec<u8> =
                (0..N * N).map(|_| if below(8) < fill { 1 + below(kinds.into()) } else { 0 }).collect();
            let afterstate = Afterstate::new(Board::<N>::from_exponents(&exponents).expect("small tiles"));
            slides.find(afterstate);
            for (cell, tile) in
                afterstate.board().empty_cells().bytes().flat_map(|cell| [(cell, 0), (cell, 1)])
            {
                let transposed = cell % 4 * 4 + cell / 4;
                assert_eq!((slides.empty()[0][cell], slides.empty()[1][transposed]), (0xff, 0xff));
                let expected = afterstate.with_tile(cell, 1 + tile as u8).slides();
                for (i, a) in MOVES.into_iter().enumerate() {
                    let slide = 16 * i + if i < 2 { cell } else { transposed };
                    let illegal = slides.illegal(tile) >> slide & 1 == 1;
                    assert_eq!(illegal, !expected.legal.contains(a), "{afterstate}, {a}");
                    assert_eq!(slides.illegal_bytes(tile, i)[slide % 16] == 0xff, illegal);
                    assert_eq!(slides.afterstate(tile, slide), expected.afterstates[a as usize]);
                    assert_eq!(slides.reward(tile, slide), expected.rewards[a as usize] as f32);
                }
            }
            let empty = slides.empty().map(|cells| cells.iter().filter(|&&cell| cell == 0xff).count() as u32);
            assert_eq!(empty, [afterstate.board().empty_count(); 2]);
        }
    }

    #[test]
    fn they_are_the_slides_of_the_states() {
        compare::<4>(20_000);
        compare::<3>(5_000);
        compare::<2>(1_000);
    }
}
