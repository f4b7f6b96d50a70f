//! Statistics of played games: scores with confidence intervals, and how often each tile is reached.

use std::collections::BTreeMap;

pub use afterstate_network::GameResult;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::evaluate::TimeSummary;

/// The 97.5% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A summary of many games.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// The number of games.
    pub games: u64,
    /// Their scores.
    pub score: ScoreSummary,
    /// How many of them reached each tile, from the smallest tile to the largest.
    pub tiles: Vec<TileCount>,
    /// All their moves.
    pub moves: u64,
}

/// The scores of many games.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScoreSummary {
    /// The average.
    pub mean: f64,
    /// Half the width of the 95% confidence interval of the mean (Student); `None` for one game.
    pub ci95: Option<f64>,
    /// The standard deviation of a game's score (n − 1); `None` for one game.
    pub sd: Option<f64>,
    /// The median.
    pub median: f64,
    /// The lowest score.
    pub min: u64,
    /// The highest score.
    pub max: u64,
}

/// How many games reached at least a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileCount {
    /// The exponent of the tile.
    pub exponent: u8,
    /// The number of games that reached it.
    pub count: u64,
    /// The total number of games.
    pub games: u64,
}

/// The share of games that reached at least a tile, by the tile's face value.
pub type TileRates = BTreeMap<u64, f64>;

impl Summary {
    /// Summarizes games on a board of this side; `None` without games.
    pub fn of(side: usize, results: &[GameResult]) -> Option<Summary> {
        let score = ScoreSummary::of(results.iter().map(|result| result.score).collect())?;
        Some(Summary {
            games: results.len() as u64,
            score,
            tiles: tile_counts(side, &exponents(results)),
            moves: results.iter().map(|result| result.moves).sum(),
        })
    }

    /// The share of games for each tile.
    pub fn tile_rates(&self) -> TileRates {
        self.tiles.iter().map(|tile| (tile.face(), tile.share())).collect()
    }
}

impl ScoreSummary {
    /// Summarizes scores; `None` without any.
    fn of(mut scores: Vec<u64>) -> Option<ScoreSummary> {
        scores.sort_unstable();
        let (&min, &max) = (scores.first()?, scores.last()?);
        let games = scores.len();
        let median = (scores[(games - 1) / 2] + scores[games / 2]) as f64 / 2.0;
        let Spread { mean, sd, ci95, .. } = Spread::of(scores.iter().map(|&score| score as f64).collect())?;
        Some(ScoreSummary { mean, ci95, sd, median, min, max })
    }
}

impl TileCount {
    /// The tile's face value, such as 2048.
    pub fn face(&self) -> u64 {
        1 << self.exponent
    }

    /// The share of games that reached the tile.
    pub fn share(&self) -> f64 {
        self.count as f64 / self.games as f64
    }

    /// The 95% confidence interval of the share.
    pub fn interval(&self) -> (f64, f64) {
        wilson(self.count, self.games)
    }
}

/// Wilson's 95% confidence interval for a share of `count` in `total`; (0, 1) without data.
pub fn wilson(count: u64, total: u64) -> (f64, f64) {
    if total == 0 {
        return (0.0, 1.0);
    }
    let (n, share) = (total as f64, count as f64 / total as f64);
    let centre = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0))
}

/// The comparison of two players on the same games: how much better the second one is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Paired {
    /// The number of games.
    pub games: u64,
    /// The mean of the differences, the second player's score minus the first one's.
    pub mean: f64,
    /// Half the width of its 95% confidence interval (Student); `None` for one game.
    pub ci95: Option<f64>,
    /// The standard deviation of a game's difference; `None` for one game.
    pub sd: Option<f64>,
    /// The share of games in which the second player had the higher score; a tie counts half.
    pub better: f64,
    /// The share of games with equal scores.
    pub ties: f64,
    /// The probability of a difference at least as large between equal players; `None` for one game.
    pub p: Option<f64>,
}

impl Paired {
    /// Compares two players on games with the same numbers in the same order; `None` without games.
    pub fn of(first: &[GameResult], second: &[GameResult]) -> Option<Paired> {
        debug_assert!(first.iter().zip(second).all(|(a, b)| a.game == b.game), "the same games");
        let pairs = || first.iter().zip(second).map(|(a, b)| (a.score as f64, b.score as f64));
        let Spread { count, mean, sd, ci95 } = Spread::of(pairs().map(|(a, b)| b - a).collect())?;
        let points = |(a, b)| {
            if b > a {
                1.0
            } else if b == a {
                0.5
            } else {
                0.0
            }
        };
        let better = pairs().map(points).sum::<f64>() / count as f64;
        let ties = pairs().filter(|(a, b)| a == b).count() as f64 / count as f64;
        let p = ci95.map(|ci| p_value(mean, ci));
        Some(Paired { games: count as u64, mean, ci95, sd, better, ties, p })
    }

    /// The number of games for which a difference of this size would be significant.
    pub fn games_needed(&self) -> Option<u64> {
        let ratio = self.ci95.filter(|_| self.mean != 0.0)? / self.mean;
        Some((self.games as f64 * ratio * ratio).ceil() as u64)
    }
}

/// The two-sided p-value of a mean with this 95% confidence interval: below 0.05 if the interval excludes 0.
fn p_value(mean: f64, ci95: f64) -> f64 {
    if mean == 0.0 { 1.0 } else { erfc(mean.abs() / ci95 * Z / std::f64::consts::SQRT_2) }
}

/// The complementary error function above 0, within 1.5e-7: Abramowitz and Stegun, 7.1.26.
fn erfc(x: f64) -> f64 {
    const A: [f64; 5] = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    t * A.iter().rev().fold(0.0, |sum, a| sum * t + a) * (-x * x).exp()
}

/// Which of several p-values are jointly significant at 5%: Holm's method.
pub fn holm(p_values: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut significant = vec![false; p_values.len()];
    for (rank, &i) in order.iter().enumerate() {
        if p_values[i] * (p_values.len() - rank) as f64 >= 0.05 {
            break;
        }
        significant[i] = true;
    }
    significant
}

/// The mean and spread of some numbers.
pub struct Spread {
    /// How many numbers there are.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation; `None` for a single number.
    pub sd: Option<f64>,
    /// Half of the 95% interval of the mean, by Student's t.
    pub ci95: Option<f64>,
}

impl Spread {
    /// Computes it; `None` without numbers.
    pub fn of(numbers: Vec<f64>) -> Option<Spread> {
        let count = numbers.len();
        if count == 0 {
            return None;
        }
        let mean = numbers.iter().sum::<f64>() / count as f64;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let sd = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
        let ci95 = sd.map(|sd| student(count - 1) * sd / (count as f64).sqrt());
        Some(Spread { count, mean, sd, ci95 })
    }
}

/// The number of games for each exponent of the largest tile.
type Exponents = [u64; 20];

fn exponents(results: &[GameResult]) -> Exponents {
    let mut exponents = Exponents::default();
    results.iter().for_each(|result| exponents[usize::from(result.max_exponent)] += 1);
    exponents
}

/// The tiles of the board's usual range, and all others that distinguish these games.
fn tile_counts(side: usize, exponents: &Exponents) -> Vec<TileCount> {
    // Each range ends with the largest tile that play actually reaches.
    let usual = match side {
        2 => 3..=5,
        3 => 7..=10,
        _ => 11..=16,
    };
    let lowest = exponents.iter().position(|&games| games > 0).unwrap_or_default();
    let highest = exponents.iter().rposition(|&games| games > 0).unwrap_or_default();
    let range = (lowest + 1).min(*usual.start())..=highest.max(*usual.end());
    let games = exponents.iter().sum();
    range
        .map(|exponent| TileCount {
            exponent: exponent as u8,
            count: exponents[exponent..].iter().sum(),
            games,
        })
        .collect()
}

/// A running, serializable count of games.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    games: u64,
    score: u64,
    max_score: u64,
    exponents: Exponents,
}

impl Tally {
    /// Adds a game.
    pub fn add(&mut self, result: &GameResult) {
        self.games += 1;
        self.score += result.score;
        self.max_score = self.max_score.max(result.score);
        self.exponents[usize::from(result.max_exponent)] += 1;
    }

    /// The number of games.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// The mean score; `None` without games.
    pub fn mean_score(&self) -> Option<f64> {
        (self.games > 0).then(|| self.score as f64 / self.games as f64)
    }

    /// The highest score; `None` without games.
    pub fn max_score(&self) -> Option<u64> {
        (self.games > 0).then_some(self.max_score)
    }

    /// The share of games that reached each tile, on a board of this side; empty without games.
    pub fn tile_rates(&self, side: usize) -> TileRates {
        let tiles = if self.games > 0 { tile_counts(side, &self.exponents) } else { Vec::new() };
        tiles.iter().map(|tile| (tile.face(), tile.share())).collect()
    }
}

impl Extend<GameResult> for Tally {
    fn extend<T: IntoIterator<Item = GameResult>>(&mut self, results: T) {
        results.into_iter().for_each(|result| self.add(&result));
    }
}

/// The 97.5% quantile of Student's distribution, for at least 1 degree of freedom.
pub fn student(freedom: usize) -> f64 {
    const FEW: [f64; 4] = [12.706_205, 4.302_653, 3.182_446, 2.776_445];
    if let Some(&quantile) = FEW.get(freedom - 1) {
        return quantile;
    }
    // The Cornish–Fisher expansion, within 0.0003 for 5 or more degrees of freedom.
    let (z, v) = (Z, freedom as f64);
    z + (z.powi(3) + z) / (4.0 * v)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v.powi(2))
        + (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * v.powi(3))
        + (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z)
            / (92_160.0 * v.powi(4))
}

/// The output of `eval --json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvalReport {
    /// The model that played.
    pub model: String,
    /// The search, such as `1ply`.
    pub search: String,
    /// The number of games.
    pub games: u64,
    /// The seed of the games.
    pub seed: u64,
    /// Their scores.
    pub score: ScoreSummary,
    /// The share of games that reached at least each tile.
    #[serde(deserialize_with = "tile_rates")]
    pub tiles: TileRates,
    /// All their moves.
    pub moves: u64,
    /// How long they took.
    pub seconds: f64,
    /// Moves per second, over all threads.
    pub moves_per_second: f64,
    /// The times of moves; unknown for greedy play.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub move_ms: Option<TimeSummary>,
}

impl EvalReport {
    /// Creates a report from a summary and how it was made.
    pub fn new(model: &str, search: &str, seed: u64, summary: &Summary, seconds: f64) -> EvalReport {
        EvalReport {
            model: model.to_owned(),
            search: search.to_owned(),
            games: summary.games,
            seed,
            score: summary.score,
            tiles: summary.tile_rates(),
            moves: summary.moves,
            seconds,
            moves_per_second: summary.moves as f64 / seconds.max(1e-9),
            move_ms: None,
        }
    }
}

/// Parses tile rates from text keys, since flattened objects have no other.
fn tile_rates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TileRates, D::Error> {
    let rates = BTreeMap::<String, f64>::deserialize(deserializer)?;
    let parse = |(tile, rate): (String, f64)| tile.parse().map(|tile| (tile, rate));
    rates.into_iter().map(parse).collect::<Result<_, _>>().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(results: &[(u64, u8)]) -> Vec<GameResult> {
        let game = |(game, &(score, max_exponent))| GameResult { game, score, max_exponent, moves: 10 };
        (0..).zip(results).map(game).collect()
    }

    fn assert_near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[test]
    fn scores_match_a_calculation_by_hand() {
        // Mean 5, squares 9+1+1+1+0+0+4+16 = 32: sd √(32/7), ci 2.3646 · sd / √8.
        let scores = ScoreSummary::of(vec![9, 4, 4, 5, 5, 7, 2, 4]).unwrap();
        assert_eq!((scores.mean, scores.median, scores.min, scores.max), (5.0, 4.5, 2, 9));
        assert_near(scores.sd.unwrap(), 2.138_089_935, 1e-9);
        assert_near(scores.ci95.unwrap(), 1.787_487, 1e-4);
        assert_eq!(ScoreSummary::of(vec![3, 1, 2]).unwrap().median, 2.0);
    }

    #[test]
    fn pairs_match_a_calculation_by_hand() {
        let (first, second) = (games(&[(10, 3), (20, 4), (40, 5)]), games(&[(13, 3), (20, 4), (46, 5)]));
        // Differences 3, 0, 6: mean 3, sd 3, ci 4.302653 · 3 / √3.
        let paired = Paired::of(&first, &second).unwrap();
        assert_eq!((paired.games, paired.mean, paired.sd), (3, 3.0, Some(3.0)));
        assert_near(paired.ci95.unwrap(), 7.452_414, 1e-5);
        assert_near(paired.better, 2.5 / 3.0, 1e-12);
        assert_eq!(Paired::of(&[], &[]), None);
    }

    #[test]
    fn p_values_match_the_tables_and_the_interval() {
        for (z, p) in [(0.0, 1.0), (1.0, 0.317_311), (1.959_964, 0.05), (3.0, 0.002_700)] {
            assert_near(p_value(z, Z), p, 1e-6);
        }
        assert_eq!(p_value(0.0, 0.0), 1.0);
        assert_eq!(p_value(3.0, 0.0), 0.0, "every game has the same difference");
    }

    #[test]
    fn holm_is_stricter_with_every_comparison() {
        assert_eq!(holm(&[0.04]), [true]);
        assert_eq!(holm(&[0.04, 0.3]), [false, false]);
        // 0.01 · 3, 0.02 · 2, 0.03 · 1 are all below 0.05.
        assert_eq!(holm(&[0.03, 0.01, 0.02]), [true, true, true]);
        assert_eq!(holm(&[0.02, 0.01, 0.04, 0.03]), [false, true, false, false]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn few_games_say_what_is_unknown() {
        assert_eq!(Summary::of(4, &[]), None);
        let one = Summary::of(4, &games(&[(100, 4)])).unwrap();
        assert_eq!((one.score.mean, one.score.sd, one.score.ci95), (100.0, None, None));
    }

    #[test]
    fn student_matches_the_tables() {
        let table =
            [(1, 12.7062), (2, 4.3027), (4, 2.7764), (5, 2.5706), (10, 2.2281), (30, 2.0423), (999, 1.9623)];
        for (freedom, expected) in table {
            assert_near(student(freedom), expected, 4e-4);
        }
    }

    #[test]
    fn wilson_matches_a_published_example() {
        // Newcombe 1998, Table I, method 3: 81/263, 15/148, 0/20 and 1/29.
        let published = [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ];
        for (count, total, low, high) in published {
            let interval = wilson(count, total);
            assert_near(interval.0, low, 5e-5);
            assert_near(interval.1, high, 5e-5);
        }
        assert_eq!(wilson(0, 0), (0.0, 1.0));
        assert_near(wilson(20, 20).1, 1.0, 1e-12);
    }

    #[test]
    fn tiles_hold_the_usual_range_and_what_tells_games_apart() {
        let rates = |side, results: &[(u64, u8)]| Summary::of(side, &games(results)).unwrap().tile_rates();
        let strong = rates(4, &[(1, 11), (1, 12), (1, 13), (1, 13)]);
        assert_eq!(strong.keys().copied().collect::<Vec<_>>(), [2048, 4096, 8192, 16384, 32768, 65536]);
        assert_eq!(strong.values().copied().collect::<Vec<_>>(), [1.0, 0.75, 0.5, 0.0, 0.0, 0.0]);
        let weak = rates(4, &[(1, 8), (1, 9)]);
        assert_eq!(
            (weak.first_key_value(), weak.last_key_value()),
            (Some((&512, &0.5)), Some((&65536, &0.0)))
        );
        assert!(rates(4, &[(1, 17)]).contains_key(&131072));
        assert_eq!(rates(3, &[(1, 9)]).into_keys().collect::<Vec<_>>(), [128, 256, 512, 1024]);
    }

    #[test]
    fn a_tally_says_what_a_summary_says() {
        let results = games(&[(100, 4), (700, 11), (300, 12)]);
        let (mut tally, summary) = (Tally::default(), Summary::of(4, &results).unwrap());
        assert_eq!((tally.mean_score(), tally.max_score()), (None, None));
        assert!(tally.tile_rates(4).is_empty());
        tally.extend(results);
        assert_eq!((tally.games(), tally.mean_score()), (3, Some(summary.score.mean)));
        assert_eq!((tally.max_score(), tally.tile_rates(4)), (Some(700), summary.tile_rates()));
        let stored = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<Tally>(&stored).unwrap(), tally);
    }

    #[test]
    fn the_report_has_the_form_of_eval_json() {
        let summary = Summary::of(4, &games(&[(30_000, 11), (30_000, 12)])).unwrap();
        let report = EvalReport::new("m", "1ply", 7, &summary, 0.5);
        let json = serde_json::to_string(&report).unwrap();
        let expected = concat!(
            r#"{"model":"m","search":"1ply","games":2,"seed":7,"score":{"mean":30000.0,"ci95":0.0,"sd":0.0,"#,
            r#""median":30000.0,"min":30000,"max":30000},"tiles":{"2048":1.0,"4096":0.5,"8192":0.0,"#,
            r#""16384":0.0,"32768":0.0,"65536":0.0},"moves":20,"seconds":0.5,"moves_per_second":40.0}"#
        );
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<EvalReport>(&json).unwrap(), report);
    }
}
