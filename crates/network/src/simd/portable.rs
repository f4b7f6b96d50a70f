//! Plain Rust: the reference for the vector paths, and the path for other processors.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Encoding, Isa, Kernel};
use crate::{Indices, LANES, Lookup, lookup::scatter};

/// Plain Rust.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

impl Isa for Portable {
    type Sums = [f32; LANES];

    #[inline(always)]
    fn indices(self, board: &[u8; 16], encoding: Encoding, lookup: &Lookup) -> Indices {
        let cell = |byte: u8| if byte < 16 { u32::from(board[usize::from(byte)]) } else { 0 };
        let index = |lane: usize| match encoding {
            Encoding::Nibbles => {
                let nibbles = |p: usize| {
                    let (even, odd) =
                        (cell(lookup.even_nibbles[p]).min(15), cell(lookup.odd_nibbles[p]).min(15));
                    even | odd << 4
                };
                let nibbles = (0..4).map(|i| nibbles(4 * lane + i) << (8 * i)).sum::<u32>();
                if lookup.is_private && nibbles & 0x8888_8888 == 0 {
                    let digits = (0..8).map(|i| (nibbles >> (4 * i) & 7) << (3 * i)).sum::<u32>();
                    let moved = lookup.private_offset[lane].wrapping_sub(lookup.offset[lane]);
                    (digits << lookup.shift[lane]).wrapping_add(moved)
                } else {
                    (scatter(nibbles.into()) as u32) << lookup.shift[lane]
                }
            }
            Encoding::Labels => {
                let label = |exponent: u32| match exponent {
                    0 => 0,
                    e => {
                        e.min(lookup.largest.into()).max(lookup.smallest.into()) - u32::from(lookup.subtract)
                    }
                };
                let four = |cells: &[u8; 64], pairs: &[i16; 32]| {
                    let digit = |p: usize| label(cell(cells[4 * lane + p])) * lookup.pair[p] as u32;
                    let pair = |q: usize| (digit(2 * q) + digit(2 * q + 1)) * pairs[2 * lane + q] as u32;
                    pair(0) + pair(1)
                };
                let high = four(&lookup.high_cells, &lookup.high_pairs).wrapping_mul(lookup.high[lane]);
                let top = four(&lookup.top_cells, &lookup.high_pairs).wrapping_mul(lookup.top[lane]);
                four(&lookup.low_cells, &lookup.low_pairs).wrapping_add(high).wrapping_add(top)
            }
        };
        Indices(std::array::from_fn(|lane| index(lane).wrapping_add(lookup.offset[lane]) as i32))
    }

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        [0.0; LANES]
    }

    #[inline(always)]
    unsafe fn gather(
        self,
        weights: &[AtomicU32],
        lookup: &Lookup,
        indices: &Indices,
        lanes: u16,
    ) -> Self::Sums {
        let mut gathered = [0.0; LANES];
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
            let index = (lookup.base() + indices.0[lane] as isize) as usize;
            gathered[lane] = f32::from_bits(weights[index].load(Relaxed));
        }
        gathered
    }

    #[inline(always)]
    fn add(self, mut sums: Self::Sums, more: Self::Sums) -> Self::Sums {
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        sums
    }

    #[inline(always)]
    fn zeros(self, sums: Self::Sums) -> u16 {
        (0..LANES).map(|lane| u16::from(sums[lane] == 0.0) << lane).sum()
    }

    #[inline(always)]
    fn total(self, sums: Self::Sums) -> f32 {
        let v: [f32; 8] = std::array::from_fn(|lane| sums[lane] + sums[lane + 8]);
        ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
    }

    #[inline(never)]
    fn run_apart<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }
}
