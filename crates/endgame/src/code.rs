//! How the chances of live layers are kept while an endgame is solved.
//!
//! `f32` keeps what was computed, in four bytes. [`Angle`] takes two: the angle whose sine is √P, in 65,535 steps. Its errors add up
//! slowly. A maximum moves no more than the chances that it is taken of, and a mean, as an angle, no more than they do either:
//! dθ = Σ w·sin 2θᵢ·dθᵢ / sin 2θ, and sin 2θ = 2·√(P·(1 − P)) is concave in P. So every layer adds half a step at most. Towards 512
//! there are 511 layers: an angle is off by less than 257 steps, which are one step of a table of one byte. What is found is far less,
//! since angles are as often rounded up as down.

use crate::precision::{Encoder, Precision};

/// A chance of a live layer. The default is 0, and codes are in the order of the chances.
pub(crate) trait Code: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// The chance 1.
    const SURE: Self;
    /// The bytes of memory that it takes.
    const BYTES: usize = size_of::<Self>();

    /// The same in four bytes, in the same order: lanes of this width are compared fastest.
    type Lane: Copy + Default + PartialOrd;

    /// The code as a lane.
    fn lane(self) -> Self::Lane;

    /// The code of a chance.
    fn new(chance: f64) -> Self;

    /// The chance of a code.
    fn chance(self) -> f64;

    /// The mean of the best chances after a 2 and after a 4, over so many empty cells; `four` is the probability of a 4. The order of the
    /// sums is the same for all instruction sets.
    fn mean(best: &[[Self::Lane; 16]; 2], empty: u32, four: f64) -> f64;

    /// Codes as a table keeps them.
    fn to_table(codes: &[Self], encoder: &Encoder) -> Vec<u8>;

    /// Adds a code to bytes.
    fn put(self, bytes: &mut Vec<u8>);

    /// Takes a code from bytes that [`Code::put`] made.
    fn get(bytes: &mut &[u8]) -> Option<Self>;
}

impl Code for f32 {
    const SURE: Self = 1.0;

    type Lane = f32;

    #[inline(always)]
    fn lane(self) -> f32 {
        self
    }

    #[inline(always)]
    fn new(chance: f64) -> Self {
        chance as f32
    }

    fn chance(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn mean([twos, fours]: &[[f32; 16]; 2], empty: u32, four: f64) -> f64 {
        let mut s = [0.0; 8];
        for (i, s) in s.iter_mut().enumerate() {
            let two = f64::from(twos[i]) + f64::from(twos[i + 8]);
            let four_sum = f64::from(fours[i]) + f64::from(fours[i + 8]);
            *s = (1.0 - four) * two + four * four_sum;
        }
        let sum = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
        sum / f64::from(empty)
    }

    fn to_table(codes: &[Self], encoder: &Encoder) -> Vec<u8> {
        encoder.to_bytes(codes)
    }

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn get(bytes: &mut &[u8]) -> Option<Self> {
        take(bytes).map(|bytes| f32::from_le_bytes(*bytes))
    }
}

/// The angle whose sine is the root of a chance: 0 for never, 65,535 for a right angle.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default, Debug)]
pub(crate) struct Angle(pub(crate) u16);

impl Angle {
    /// A step, as an angle.
    const STEP: f64 = std::f64::consts::FRAC_PI_2 / 65_535.0;

    /// The largest code of a chance below ½. Beyond it, a chance is 1 less that of what is missing to a right angle: both ends are
    /// equally exact.
    const HALF: i32 = 32_767;

    /// sin²x / x² as a polynomial in x², through Chebyshev's points up to π/4: exact to 2e-7, or 0.003 steps.
    const SQUARED_SINE: [f32; 4] = [0.999_999_8, -0.333_325_35, 0.044_379_554, -0.003_004_939];

    /// asin(√P) / √P as a polynomial in P, through Chebyshev's points between 0 and ½: exact to 1e-7.
    const ANGLE: [f32; 8] = [
        1.0,
        0.166_669_55,
        0.074_881_144,
        0.046_480_85,
        0.016_731_389,
        0.075_539_75,
        -0.090_086_217,
        0.109_673_983,
    ];

    /// The chance of a lane, if that is below ½, else what is missing to 1, with a minus.
    #[inline(always)]
    fn signed(lane: i32) -> f32 {
        let far = i32::from(u16::MAX) - lane;
        let near = if lane < far { lane } else { far };
        let angle = near as f32 * Self::STEP as f32;
        let square = angle * angle;
        let [a, b, c, d] = Self::SQUARED_SINE;
        let chance = square * (a + square * (b + square * (c + square * d)));
        if lane > Self::HALF { -chance } else { chance }
    }

    /// The code that a table of one byte has for it.
    fn to_byte(self) -> u8 {
        // A step of such a table has 257 of ours, so that none lies between two of them.
        ((u32::from(self.0) + 128) / 257) as u8
    }
}

impl Code for Angle {
    const SURE: Self = Angle(u16::MAX);

    type Lane = i32;

    #[inline(always)]
    fn lane(self) -> i32 {
        self.0.into()
    }

    #[inline(always)]
    fn new(chance: f64) -> Self {
        // No branches and no conversions to integers: a loop over many chances takes them by the vector.
        const ROUND: f32 = 3.0 * (1 << 22) as f32;
        let other = 1.0 - chance;
        let less = (if chance < other { chance } else { other }) as f32;
        let less = if less > 0.0 { less } else { 0.0 };
        let [a, b, c, d, e, f, g, h] = Self::ANGLE;
        let ratio =
            a + less * (b + less * (c + less * (d + less * (e + less * (f + less * (g + less * h))))));
        let steps = less.sqrt() * ratio * (1.0 / Self::STEP) as f32;
        let steps = (steps + ROUND).to_bits() as u16;
        Angle(if chance < other { steps } else { u16::MAX - steps })
    }

    fn chance(self) -> f64 {
        (f64::from(self.0) * Self::STEP).sin().powi(2)
    }

    #[inline(always)]
    fn mean([twos, fours]: &[[i32; 16]; 2], empty: u32, four: f64) -> f64 {
        // Chances are sums of ones, which are counted, and of what is signed.
        let (mut s, mut high) = ([0.0; 16], [0; 2]);
        for (i, s) in s.iter_mut().enumerate() {
            let (two, after_four) = (twos[i], fours[i]);
            *s = (1.0 - four) as f32 * Self::signed(two) + four as f32 * Self::signed(after_four);
            high[0] += i32::from(two > Self::HALF);
            high[1] += i32::from(after_four > Self::HALF);
        }
        // Where all are high that is exactly their number.
        let [low_twos, low_fours] = high.map(|high| f64::from(empty as i32 - high));
        let ones = f64::from(empty) - ((1.0 - four) * low_twos + four * low_fours);
        for half in [8, 4, 2, 1] {
            for i in 0..half {
                s[i] += s[i + half];
            }
        }
        (ones + f64::from(s[0])) / f64::from(empty)
    }

    fn to_table(codes: &[Self], encoder: &Encoder) -> Vec<u8> {
        match encoder.precision {
            Precision::U8 => codes.iter().map(|code| code.to_byte()).collect(),
            Precision::U16 => {
                [8, 0].iter().flat_map(|i| codes.iter().map(move |code| (code.0 >> i) as u8)).collect()
            }
            Precision::F32 => {
                encoder.to_bytes(&codes.iter().map(|code| code.chance() as f32).collect::<Vec<_>>())
            }
        }
    }

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.0.to_le_bytes());
    }

    fn get(bytes: &mut &[u8]) -> Option<Self> {
        take(bytes).map(|bytes| Angle(u16::from_le_bytes(*bytes)))
    }
}

/// Takes the first bytes.
pub(crate) fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endgame, Solver, file::Reader, layer::Layer};

    #[test]
    fn angles_are_their_chances() {
        for code in (0..=u16::MAX).map(Angle) {
            let chance = code.chance();
            assert_eq!(Angle::new(chance), code);
            // Exact at both ends, by what is left.
            let less = chance.min(1.0 - chance);
            for empty in [1, 5, 16] {
                let lanes = std::array::from_fn(|i| if i < empty { code.lane() } else { 0 });
                let mean = Angle::mean(&[lanes; 2], empty as u32, 0.1);
                assert!((mean - chance).abs() <= 5e-7 * less + 1e-16, "{code:?} {mean} {chance}");
                assert_eq!(Angle::new(mean), code);
            }
        }
        assert_eq!([-1e-17, 0.0, 1.0, 1.0 + 1e-15].map(Angle::new), [0, 0, u16::MAX, u16::MAX].map(Angle));
    }

    #[test]
    fn chances_are_rounded_to_the_nearest_angle() {
        for chance in (0..=1_000_000).map(|i| (f64::from(i) / 1_000_000.0).powi(2)) {
            let steps = chance.sqrt().asin() / Angle::STEP;
            assert!((steps - f64::from(Angle::new(chance).0)).abs() < 0.51, "{chance}");
        }
    }

    #[test]
    fn tables_round_angles_as_chances() {
        for code in (0..=u16::MAX).map(Angle) {
            assert_eq!(u32::from(code.to_byte()), Precision::U8.code(code.chance() as f32), "{code:?}");
        }
    }

    /// How far the angles of a layer are from those of a solver that keeps all that it computes.
    #[derive(Clone, Copy, Default, Debug)]
    struct Deviation {
        positions: u64,
        /// The largest deviation, in steps of an angle.
        largest: f64,
        /// The sum of all deviations, with their signs.
        sum: f64,
        /// The positions whose code of one byte is another one.
        others: u64,
        /// By how much they differ at most.
        apart: u32,
    }

    /// Solves an endgame twice, and compares all positions of each layer, from the smallest sum on.
    fn deviations(endgame: &Endgame) -> Vec<Deviation> {
        let directory = tempfile::tempdir().unwrap();
        let [exact, angles] = ["exact", "angles"].map(|name| directory.path().join(name));
        let solver = || Solver::new(endgame).unwrap().threads(2);
        solver().write::<f32>(&exact, Precision::F32, &mut |_| true).unwrap();
        solver().write::<Angle>(&angles, Precision::U16, &mut |_| true).unwrap();
        let [exact, angles] = [exact, angles].map(|path| Reader::open(&path).unwrap());
        let space = crate::space::Space::new(endgame);
        let layers = (0..exact.entries.len()).map(|sum| {
            let layer = Layer::new(&space, sum);
            let [exact, angles] = [&exact, &angles].map(|reader| reader.layer(&layer).unwrap().unwrap().1);
            let count = angles.len() / 2;
            let mut deviation = Deviation { positions: count as u64, ..Deviation::default() };
            for rank in 0..count {
                let chance = f32::from_bits(Precision::F32.code_at(&exact, count, rank));
                let angle = Angle(Precision::U16.code_at(&angles, count, rank) as u16);
                let steps = f64::from(angle.0) - f64::from(chance).sqrt().asin() / Angle::STEP;
                deviation.largest = deviation.largest.max(steps.abs());
                deviation.sum += steps;
                let apart = u32::from(angle.to_byte()).abs_diff(Precision::U8.code(chance));
                deviation.others += u64::from(apart != 0);
                deviation.apart = deviation.apart.max(apart);
            }
            deviation
        });
        layers.collect()
    }

    #[test]
    fn angles_stay_within_a_step_of_a_table() {
        let displaced = ["FFFF/FFFF/FF../....", "FFFF/FFFF/F.F./....", "FFFF/FFFF/.FF./...."];
        let placed = "..../..../..F./....".parse().unwrap();
        let endgames = [
            Endgame::parse(&["FFFF/FFFF/F.../...."], 64),
            Endgame::parse(&["FFFF/FFFF/..../...."], 128),
            Endgame::parse(&displaced, 64),
            Endgame::parse(&displaced, 32).and_then(|endgame| endgame.with_place(placed)),
            // Hundreds of layers, of millions of positions.
            Endgame::parse(&["FFFF/FFF./..../...."], 256),
        ];
        for endgame in endgames.map(Result::unwrap) {
            let layers = deviations(&endgame);
            let (mut positions, mut others) = (0, 0);
            for (sum, layer) in layers.iter().enumerate() {
                let place = format!("{endgame}, {sum} of {} layers: {layer:?}", layers.len());
                // An eighth of a step; near 1 chances of four bytes are off by more than angles are.
                assert!(layer.largest < 32.0 && layer.apart <= 1, "{place}");
                // Nor do deviations add up to more in one direction, from layer to layer.
                assert!(layer.sum.abs() <= 2.0 * layer.positions as f64, "{place}");
                positions += layer.positions;
                others += layer.others;
            }
            assert!(positions > 3000 && others <= positions / 100, "{endgame}: {others} of {positions}");
        }
    }
}
