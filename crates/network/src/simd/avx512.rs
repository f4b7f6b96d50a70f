//! AVX-512: the sixteen lanes of a lookup in one vector.

use std::{
    arch::x86_64::*,
    hint::black_box,
    ops::{Add, Mul},
    sync::{
        LazyLock,
        atomic::{AtomicU32, AtomicU64},
    },
    time::Instant,
};

use super::{BLOCK, Encoding, Isa, Kernel, Lanes, Rule, avx2};
use crate::{Indices, LANES, Lookup, lookup::SCATTER};

/// All lanes of a lookup.
const ALL: u16 = 0xffff;

/// x86-64 with AVX-512 (F, BW, CD, DQ, VL).
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512 {
    /// Whether gathers and scatters are faster on this processor than loads and stores of single lanes.
    gathers: bool,
}

impl Avx512 {
    /// The token.
    ///
    /// # Safety
    /// The processor must have the instruction set.
    pub(super) unsafe fn new() -> Self {
        static GATHERS: LazyLock<bool> = LazyLock::new(|| {
            // SAFETY: a token exists only if the processor has the instruction set.
            unsafe { gathers_are_faster() }
        });
        Avx512 { gathers: *GATHERS }
    }
}

impl Isa for Avx512 {
    type Sums = __m512;

    #[inline(always)]
    fn indices(self, board: &[u8; 16], encoding: Encoding, lookup: &Lookup) -> Indices {
        let mut indices = Indices::default();
        // SAFETY: the token proves that AVX-512 is available; loads and stores are of whole arrays, whose alignment is 64.
        unsafe {
            let load = |array: *const __m512i| _mm512_load_si512(array);
            let board = _mm_loadu_si128(board.as_ptr().cast());
            let board = match encoding {
                Encoding::Nibbles => _mm_min_epu8(board, _mm_set1_epi8(15)),
                Encoding::Labels => avx2::labels(board, lookup),
            };
            let board = _mm512_broadcast_i32x4(board);
            let offset = load(lookup.offset.as_ptr().cast());
            let index = match encoding {
                Encoding::Nibbles => {
                    let even = _mm512_shuffle_epi8(board, load(lookup.even_nibbles.as_ptr().cast()));
                    let odd = _mm512_shuffle_epi8(board, load(lookup.odd_nibbles.as_ptr().cast()));
                    let nibbles = _mm512_or_si512(even, _mm512_slli_epi16::<4>(odd));
                    let shift = load(lookup.shift.as_ptr().cast());
                    let scattered = _mm512_xor_si512(nibbles, _mm512_srli_epi32::<{ SCATTER }>(nibbles));
                    let index = _mm512_add_epi32(_mm512_sllv_epi32(scattered, shift), offset);
                    if lookup.is_private {
                        // Pairs of nibbles are packed into six bits, then into 12 and 24.
                        let upper = _mm512_and_si512(nibbles, _mm512_set1_epi8(0x70));
                        let digits = _mm512_sub_epi8(nibbles, _mm512_srli_epi16::<1>(upper));
                        let digits = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x4001));
                        let digits = _mm512_madd_epi16(digits, _mm512_set1_epi32(0x1000_0001));
                        let digits = _mm512_sllv_epi32(digits, shift);
                        let small = _mm512_testn_epi32_mask(nibbles, _mm512_set1_epi8(0x88_u8 as i8));
                        let apart = load(lookup.private_offset.as_ptr().cast());
                        _mm512_mask_add_epi32(index, small, digits, apart)
                    } else {
                        index
                    }
                }
                Encoding::Labels => {
                    let pair = load(lookup.pair.as_ptr().cast());
                    let four = |cells, pairs| {
                        let bytes = _mm512_shuffle_epi8(board, load(cells));
                        _mm512_madd_epi16(_mm512_maddubs_epi16(bytes, pair), load(pairs))
                    };
                    let low = four(lookup.low_cells.as_ptr().cast(), lookup.low_pairs.as_ptr().cast());
                    let high = four(lookup.high_cells.as_ptr().cast(), lookup.high_pairs.as_ptr().cast());
                    let high = _mm512_mullo_epi32(high, load(lookup.high.as_ptr().cast()));
                    let index = _mm512_add_epi32(_mm512_add_epi32(low, high), offset);
                    if lookup.is_long {
                        let top = four(lookup.top_cells.as_ptr().cast(), lookup.high_pairs.as_ptr().cast());
                        let top = _mm512_mullo_epi32(top, load(lookup.top.as_ptr().cast()));
                        _mm512_add_epi32(index, top)
                    } else {
                        index
                    }
                }
            };
            _mm512_store_si512(indices.0.as_mut_ptr().cast(), index);
        }
        indices
    }

    #[inline(always)]
    fn zero(self) -> Self::Sums {
        // SAFETY: the token proves that AVX-512 is available.
        unsafe { _mm512_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn gather(
        self,
        weights: &[AtomicU32],
        lookup: &Lookup,
        indices: &Indices,
        lanes: u16,
    ) -> Self::Sums {
        // SAFETY: the token proves that AVX-512 is available, and the indices of live lanes, the only ones that are
        // loaded, lie inside the weights. Other threads may store to them concurrently: aligned four-byte loads never
        // tear, and any bits are an f32; relaxed atomic loads compile to the same code.
        unsafe {
            let base = weights.as_ptr().cast::<f32>().wrapping_offset(lookup.base());
            if lanes == ALL && !self.gathers {
                return load_sixteen(base, indices);
            }
            let index = _mm512_load_si512(indices.0.as_ptr().cast());
            _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, index, base)
        }
    }

    #[inline(always)]
    fn add(self, sums: Self::Sums, more: Self::Sums) -> Self::Sums {
        // SAFETY: the token proves that AVX-512 is available.
        unsafe { _mm512_add_ps(sums, more) }
    }

    #[inline(always)]
    fn zeros(self, sums: Self::Sums) -> u16 {
        // SAFETY: the token proves that AVX-512 is available.
        unsafe { _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(sums, _mm512_setzero_ps()) }
    }

    #[inline(always)]
    unsafe fn update(
        self,
        weights: &[AtomicU32],
        pairs: &[AtomicU64],
        lookup: &Lookup,
        indices: &Indices,
        rule: impl Rule,
    ) {
        // SAFETY: the token proves that AVX-512 is available; the lanes of each round are live and differ in index.
        unsafe {
            let index = _mm512_load_si512(indices.0.as_ptr().cast());
            let conflicts = _mm512_conflict_epi32(index);
            let mut waiting = lookup.live_lanes();
            // Of lanes with the same weight the first one is updated first. Such lanes are rare.
            while waiting != 0 {
                let conflicts = _mm512_and_si512(conflicts, _mm512_set1_epi32(waiting.into()));
                let ready = _mm512_mask_testn_epi32_mask(waiting, conflicts, conflicts);
                if ready == ALL && !self.gathers {
                    update_all_lanes(weights, pairs, lookup.base(), indices, rule);
                } else {
                    update_lanes(weights, pairs, lookup.base(), index, ready, rule);
                }
                waiting &= !ready;
            }
        }
    }

    #[inline(always)]
    fn total(self, sums: Self::Sums) -> f32 {
        // SAFETY: the token proves that AVX-512 is available.
        unsafe {
            let high = _mm512_extractf32x8_ps::<1>(sums);
            avx2::total(_mm256_add_ps(_mm512_castps512_ps256(sums), high))
        }
    }

    #[inline(always)]
    fn differ(self, weights: &[AtomicU32], numbers: &[f32; BLOCK]) -> bool {
        let weights = &weights[..BLOCK];
        // SAFETY: the token proves that AVX-512 is available; sixteen weights and sixteen numbers are loaded. Other
        // threads may store to them concurrently, as in `gather`.
        unsafe {
            let weights = _mm512_loadu_si512(weights.as_ptr().cast());
            _mm512_cmpneq_epi32_mask(weights, _mm512_loadu_si512(numbers.as_ptr().cast())) != 0
        }
    }

    #[inline(always)]
    fn run_apart<K: Kernel>(self, kernel: K) -> K::Output {
        /// # Safety
        /// The processor must have the instruction set.
        #[inline(never)]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
        unsafe fn run<K: Kernel>(isa: Avx512, kernel: K) -> K::Output {
            kernel.run(isa)
        }
        // SAFETY: the token proves it.
        unsafe { run(self, kernel) }
    }
}

/// Sixteen numbers. They exist only if AVX-512 is available, so their operators may use it.
#[derive(Clone, Copy)]
struct Sixteen(__m512);

impl Add for Sixteen {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: AVX-512 is available.
        Sixteen(unsafe { _mm512_add_ps(self.0, other.0) })
    }
}

impl Mul for Sixteen {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: AVX-512 is available.
        Sixteen(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
}

impl Lanes for Sixteen {
    #[inline(always)]
    fn splat(self, number: f32) -> Self {
        // SAFETY: AVX-512 is available.
        Sixteen(unsafe { _mm512_set1_ps(number) })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: AVX-512 is available.
        Sixteen(unsafe { _mm512_abs_ps(self.0) })
    }

    #[inline(always)]
    fn divided_or(self, divisor: Self, otherwise: f32) -> Self {
        // SAFETY: AVX-512 is available.
        unsafe {
            let divided = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(divisor.0, _mm512_setzero_ps());
            Sixteen(_mm512_mask_div_ps(_mm512_set1_ps(otherwise), divided, self.0, divisor.0))
        }
    }
}

/// Updates the weights and pairs of several lanes at once by a rule.
///
/// # Safety
/// AVX-512 must be available; the lanes' indices must be distinct and inside the weights and the pairs.
#[inline(always)]
unsafe fn update_lanes(
    weights: &[AtomicU32],
    pairs: &[AtomicU64],
    base: isize,
    index: __m512i,
    lanes: u16,
    rule: impl Rule,
) {
    // SAFETY: the caller guarantees it. Aligned loads and stores of four and eight bytes never tear, and any bits
    // are an f32; relaxed atomics compile to the same code.
    unsafe {
        let weights: *mut f32 = weights.as_ptr().wrapping_offset(base).cast_mut().cast();
        let pairs: *mut i64 = pairs.as_ptr().wrapping_offset(base).cast_mut().cast();
        let (low, high) = (_mm512_castsi512_si256(index), _mm512_extracti64x4_epi64::<1>(index));
        let (low_lanes, high_lanes) = (lanes as u8, (lanes >> 8) as u8);
        let zero = _mm512_setzero_si512();
        let words = (
            _mm512_mask_i32gather_epi64::<8>(zero, low_lanes, low, pairs),
            _mm512_mask_i32gather_epi64::<8>(zero, high_lanes, high, pairs),
        );
        let weight = _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, index, weights);
        let (Sixteen(weight), pair) = rule.apply(Sixteen(weight), unpack(words));
        _mm512_mask_i32scatter_ps::<4>(weights, lanes, index, weight);
        let (first, second) = pack(pair);
        _mm512_mask_i32scatter_epi64::<8>(pairs, low_lanes, low, first);
        _mm512_mask_i32scatter_epi64::<8>(pairs, high_lanes, high, second);
    }
}

/// The same for all lanes, without gathers and scatters.
///
/// # Safety
/// The same as [`update_lanes`].
#[inline(always)]
unsafe fn update_all_lanes(
    weights: &[AtomicU32],
    pairs: &[AtomicU64],
    base: isize,
    indices: &Indices,
    rule: impl Rule,
) {
    // SAFETY: the caller guarantees it; see also `update_lanes`.
    unsafe {
        let weights: *mut f32 = weights.as_ptr().wrapping_offset(base).cast_mut().cast();
        let pairs: *mut i64 = pairs.as_ptr().wrapping_offset(base).cast_mut().cast();
        let at = |lane: usize| indices.0[lane] as isize;
        let word = |lane: usize| *pairs.wrapping_offset(at(lane));
        let eight = |i: usize| {
            let (a, b, c, d) = (word(i), word(i + 1), word(i + 2), word(i + 3));
            let (e, f, g, h) = (word(i + 4), word(i + 5), word(i + 6), word(i + 7));
            _mm512_setr_epi64(a, b, c, d, e, f, g, h)
        };
        let weight = Sixteen(load_sixteen(weights, indices));
        let (Sixteen(weight), pair) = rule.apply(weight, unpack((eight(0), eight(8))));
        let (first, second) = pack(pair);
        let weight: [f32; LANES] = std::mem::transmute(weight);
        let words: [i64; LANES] = std::mem::transmute([first, second]);
        for lane in 0..LANES {
            *weights.wrapping_offset(at(lane)) = weight[lane];
            *pairs.wrapping_offset(at(lane)) = words[lane];
        }
    }
}

/// The weights at sixteen indices, one load each.
///
/// # Safety
/// AVX-512 must be available, and the indices must be inside the weights.
#[inline(always)]
unsafe fn load_sixteen(weights: *const f32, indices: &Indices) -> __m512 {
    // SAFETY: the caller guarantees it.
    unsafe {
        let index = indices.0.as_ptr();
        let (low, high) = (avx2::load_eight(weights, index), avx2::load_eight(weights, index.add(8)));
        _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
    }
}

/// The lower and the upper halves of sixteen words.
///
/// # Safety
/// AVX-512 must be available.
#[inline(always)]
unsafe fn unpack((first, second): (__m512i, __m512i)) -> (Sixteen, Sixteen) {
    // SAFETY: the caller guarantees it.
    unsafe {
        let evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odds = _mm512_or_si512(evens, _mm512_set1_epi32(1));
        let half = |of| _mm512_castsi512_ps(_mm512_permutex2var_epi32(first, of, second));
        (Sixteen(half(evens)), Sixteen(half(odds)))
    }
}

/// Combines lower and upper halves into sixteen words.
///
/// # Safety
/// AVX-512 must be available.
#[inline(always)]
unsafe fn pack((Sixteen(lower), Sixteen(upper)): (Sixteen, Sixteen)) -> (__m512i, __m512i) {
    // SAFETY: the caller guarantees it.
    unsafe {
        // Interleaves the lower and upper numbers.
        let turns = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let words = |of| _mm512_castps_si512(_mm512_permutex2var_ps(lower, of, upper));
        (words(turns), words(_mm512_add_epi32(turns, _mm512_set1_epi32(8))))
    }
}

/// Whether gathering sixteen weights is faster than sixteen loads. It depends on the processor, and on whether its
/// microcode slows gathers down for security.
///
/// # Safety
/// AVX-512 must be available.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
unsafe fn gathers_are_faster() -> bool {
    const WEIGHTS: usize = 1024;
    let weights = [0.0_f32; WEIGHTS];
    let mut indices = [Indices::default(); 64];
    let lanes = indices.iter_mut().flat_map(|indices| &mut indices.0);
    lanes.enumerate().for_each(|(i, index)| *index = (i * 389 % WEIGHTS) as i32);
    let seconds = |sum: &dyn Fn(&Indices) -> __m512| {
        let time = |_| {
            let start = Instant::now();
            for indices in &indices {
                black_box(sum(black_box(indices)));
            }
            start.elapsed()
        };
        (0..16).map(time).min()
    };
    let gathered = seconds(&|indices| {
        // SAFETY: the caller guarantees that AVX-512 is available, and the indices are inside the weights.
        unsafe {
            let index = _mm512_load_si512(indices.0.as_ptr().cast());
            _mm512_i32gather_ps::<4>(index, weights.as_ptr())
        }
    });
    // SAFETY: as above.
    let loaded = seconds(&|indices| unsafe { load_sixteen(weights.as_ptr(), indices) });
    gathered < loaded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FeatureSlots, Level, Network, NetworkSpec, Tuples, View, dispatch};

    /// V grows with every visit; the pair counts the visits.
    #[derive(Clone, Copy)]
    struct Count;

    impl Rule for Count {
        fn apply<L: Lanes>(self, weight: L, (visits, sum): (L, L)) -> (L, (L, L)) {
            let one = weight.splat(1.0);
            (weight + visits + one, (visits + one, sum + weight))
        }
    }

    /// Finds and updates the weights of a board.
    struct Visit<'a>(View<'a>, &'a [AtomicU64], [u8; 16], &'a mut FeatureSlots);

    impl Kernel for Visit<'_> {
        type Output = f32;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> f32 {
            let Visit(view, pairs, board, slots) = self;
            let value = view.find(isa, &board, slots, 0);
            view.update(isa, slots.get(0), pairs, Count);
            value
        }
    }

    /// Values, weights and pairs after visits to many boards, some of them symmetric.
    fn visits(mut visit: impl FnMut(Visit<'_>) -> f32) -> (Vec<u32>, Vec<u32>, Vec<u64>) {
        let tuples = Tuples::named("5x4").expect("a built-in set");
        let network = Network::new(NetworkSpec { tuples, ..NetworkSpec::default() }).expect("memory");
        let pairs: Vec<AtomicU64> = network.weights().iter().map(|_| AtomicU64::new(0)).collect();
        let mut slots = FeatureSlots::new(&network, 1);
        let value = |number: u32| {
            let digit = |cell: usize| (number.wrapping_mul(2_654_435_761) >> (2 * cell % 30)) as u8 % 4;
            let board =
                std::array::from_fn(|cell| digit(if number.is_multiple_of(3) { cell % 4 } else { cell }));
            visit(Visit(network.view(), &pairs, board, &mut slots)).to_bits()
        };
        let values = (0..2000).map(value).collect();
        let weights =
            network.weights().iter().map(|weight| weight.load(std::sync::atomic::Ordering::Relaxed));
        (values, weights.collect(), pairs.into_iter().map(AtomicU64::into_inner).collect())
    }

    #[test]
    fn both_ways_of_loading_give_the_same_bits() {
        if !Level::available().contains(&Level::Avx512) {
            return;
        }
        let expected = visits(|visit| dispatch(Level::Portable, visit));
        for gathers in [false, true] {
            assert!(visits(|visit| Avx512 { gathers }.run_apart(visit)) == expected, "gathers: {gathers}");
        }
    }
}
