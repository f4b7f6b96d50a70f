//! Whether our figures confirm what a paper claims.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    markdown::interval,
    paper::{Claim, Table},
    sample::{Difference, Sample},
};

/// Whether a claim is confirmed, by the 95% intervals of the differences.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every difference is as claimed.
    Seen,
    /// A difference has the opposite sign.
    NotSeen,
    /// Some interval does not decide it.
    Undecided,
    /// One of its rows was not measured.
    NotMeasured,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Seen => "seen",
            Verdict::NotSeen => "not seen",
            Verdict::Undecided => "undecided",
            Verdict::NotMeasured => "not measured",
        })
    }
}

/// A claim, and what our figures say about it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClaimReport {
    /// The claim.
    pub says: String,
    /// Where the paper makes it.
    pub place: String,
    /// Whether it was seen.
    pub verdict: Verdict,
    /// The differences on which it rests.
    pub pairs: Vec<Pair>,
}

/// Two figures that a claim compares.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The row, or row@column, that is claimed to be better, or alike.
    pub first: String,
    /// The one that it is compared with.
    pub second: String,
    /// The first minus the second; `None` if one of them was not measured.
    pub difference: Option<Difference>,
    /// The verdict for this pair.
    pub verdict: Verdict,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference =
            self.difference.map_or("not measured".to_owned(), |difference| interval(&difference));
        write!(f, "{} − {}: {difference}", self.first, self.second)
    }
}

/// Judges a claim by the samples of rows and columns.
pub(super) fn judge(
    table: &Table,
    claim: &Claim,
    sample: impl Fn(usize, usize) -> Option<Sample>,
) -> ClaimReport {
    let find = |reference: &str| {
        table.cell(reference, claim.column.as_deref()).and_then(|(row, column)| sample(row, column))
    };
    let mut pairs = Vec::new();
    for first in &claim.above {
        for second in &claim.below {
            let samples = find(first).zip(find(second));
            let band = samples.as_ref().map_or(0.0, |(_, second)| claim.within * second.mean().abs());
            let difference = samples.map(|(a, b)| a.less(&b));
            let verdict = difference.map_or(Verdict::NotMeasured, |difference| is_above(&difference, -band));
            pairs.push(Pair { first: first.clone(), second: second.clone(), difference, verdict });
        }
    }
    let per = |i: usize| claim.per.get(i).copied().unwrap_or(1.0);
    if let Some((first, others)) = claim.alike.split_first() {
        for (i, other) in others.iter().enumerate() {
            let other_per = find(other).map(|sample| sample.divided_by(per(i + 1)));
            let samples = other_per.zip(find(first).map(|sample| sample.divided_by(per(0))));
            let band = samples.as_ref().map_or(0.0, |(_, first)| claim.within * first.mean().abs());
            let difference = samples.map(|(a, b)| a.less(&b));
            let verdict = difference.map_or(Verdict::NotMeasured, |difference| is_within(&difference, band));
            pairs.push(Pair { first: other.clone(), second: first.clone(), difference, verdict });
        }
    }
    let verdict = together(pairs.iter().map(|pair| pair.verdict));
    ClaimReport { says: claim.says.clone(), place: claim.place.clone(), verdict, pairs }
}

fn is_above(difference: &Difference, least: f64) -> Verdict {
    match (difference.low, difference.high) {
        (Some(low), _) if low > least => Verdict::Seen,
        (_, Some(high)) if high < least => Verdict::NotSeen,
        _ => Verdict::Undecided,
    }
}

fn is_within(difference: &Difference, band: f64) -> Verdict {
    match (difference.low, difference.high) {
        (Some(low), Some(high)) if low >= -band && high <= band => Verdict::Seen,
        (Some(low), Some(high)) if low > band || high < -band => Verdict::NotSeen,
        _ => Verdict::Undecided,
    }
}

/// A single opposite difference refutes a claim; to confirm it, all must agree.
fn together(verdicts: impl Iterator<Item = Verdict> + Clone) -> Verdict {
    let any = |wanted| verdicts.clone().any(|verdict| verdict == wanted);
    if any(Verdict::NotSeen) {
        Verdict::NotSeen
    } else if any(Verdict::NotMeasured) {
        Verdict::NotMeasured
    } else if any(Verdict::Undecided) {
        Verdict::Undecided
    } else {
        Verdict::Seen
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::Of, *};

    fn table(claim: &str) -> Table {
        let rows =
            ["a", "b", "c"].map(|name| format!("[[row]]\nname = '{name}'\nlabel = '{name}'\n")).concat();
        let head = "title = ''\nplace = ''\ncolumns = [{ name = 'x' }, { name = 'y' }]\n";
        Table::parse("p/t", &format!("{head}{rows}[[claim]]\nsays = ''\nplace = ''\n{claim}")).unwrap()
    }

    /// The verdict if a, b and c have these values in column x, and ten times these in y.
    fn verdict(claim: &str, values: [&[f64]; 3]) -> Verdict {
        let table = table(claim);
        let sample = |row: usize, column: usize| {
            let factor = [1.0, 10.0][column];
            let values: Vec<f64> = values[row].iter().map(|value| factor * value).collect();
            (!values.is_empty()).then_some(Sample { of: Of::Trainings, values })
        };
        judge(&table, &table.claims[0], sample).verdict
    }

    #[test]
    fn orders_are_judged_by_the_interval_of_the_difference() {
        let order = "above = ['a']\nbelow = ['b', 'c']";
        let (high, low, wide) = (&[100.0, 101.0, 102.0][..], &[50.0, 51.0, 52.0][..], &[10.0, 120.0][..]);
        assert_eq!(verdict(order, [high, low, low]), Verdict::Seen);
        assert_eq!(verdict(order, [low, low, high]), Verdict::NotSeen, "one pair the other way is enough");
        assert_eq!(verdict(order, [high, low, wide]), Verdict::Undecided);
        assert_eq!(verdict(order, [high, low, &[1.0]]), Verdict::Undecided, "one number has no interval");
        assert_eq!(verdict(order, [high, low, &[]]), Verdict::NotMeasured);
    }

    #[test]
    fn an_order_may_allow_for_a_loss() {
        let order = "above = ['a']\nbelow = ['b']\nwithin = 0.05";
        let around = |value: f64| [value - 0.5, value, value + 0.5];
        let is = |a: f64, b: f64| verdict(order, [&around(a), &around(b), &[]]);
        assert_eq!(
            [is(98.0, 100.0), is(150.0, 100.0), is(90.0, 100.0)],
            [Verdict::Seen, Verdict::Seen, Verdict::NotSeen]
        );
    }

    #[test]
    fn claims_compare_columns_too() {
        let flat = &[100.0, 101.0][..];
        assert_eq!(verdict("above = ['a@y']\nbelow = ['a@x']", [flat, flat, flat]), Verdict::Seen);
        assert_eq!(
            verdict("column = 'y'\nabove = ['a@x']\nbelow = ['a']", [flat, flat, flat]),
            Verdict::NotSeen
        );
    }

    /// Times of 5, 10 and 12 tuples that are proportional to these numbers, or not.
    #[test]
    fn figures_may_be_alike_per_something() {
        let alike = "alike = ['a', 'b', 'c']\nper = [5, 10, 12]\nwithin = 0.1";
        let around = |value: f64| [value - 0.01, value, value + 0.01];
        let is = |b: f64, c: f64| verdict(alike, [&around(5.0), &around(b), &around(c)]);
        assert_eq!(
            [is(10.0, 12.5), is(5.0, 5.0), is(10.0, 18.0)],
            [Verdict::Seen, Verdict::NotSeen, Verdict::NotSeen]
        );
        // Without it, the same figures are not alike.
        let plain = "alike = ['a', 'b', 'c']\nwithin = 0.1";
        let values = [&around(5.0)[..], &around(10.0), &around(12.5)];
        assert_eq!(verdict(plain, values), Verdict::NotSeen);
    }

    #[test]
    fn alike_means_that_the_whole_interval_is_within_the_band() {
        let alike = "alike = ['a', 'b']\nwithin = 0.05";
        let around = |value: f64| [value - 1.0, value, value + 1.0];
        let is = |a: f64, b: f64| verdict(alike, [&around(a), &around(b), &[]]);
        assert_eq!(is(100.0, 101.0), Verdict::Seen);
        assert_eq!(is(100.0, 80.0), Verdict::NotSeen);
        assert_eq!(is(100.0, 104.5), Verdict::Undecided);
    }
}
