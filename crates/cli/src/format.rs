//! Human-readable numbers.

use afterstate_lab::stats::ScoreSummary;

/// A number with thousands separators.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun: `1 game`, `2,000 games`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = match noun {
        noun if number == 1 => noun.to_owned(),
        noun if noun.ends_with("ch") => format!("{noun}es"),
        noun if noun.ends_with('y') => format!("{}ies", &noun[..noun.len() - 1]),
        noun => format!("{noun}s"),
    };
    format!("{} {plural}", thousands(number))
}

/// A signed number, rounded, with thousands separators.
pub(crate) fn whole(value: f64) -> String {
    let sign = if value <= -0.5 { "−" } else { "" };
    sign.to_string() + &thousands(value.abs().round() as u64)
}

/// Half a confidence interval, if known.
pub(crate) fn plus_minus(ci95: Option<f64>) -> String {
    ci95.map(|ci| format!(" ± {}", whole(ci))).unwrap_or_default()
}

/// A mean with its confidence interval.
pub(crate) fn mean(score: &ScoreSummary) -> String {
    whole(score.mean) + &plus_minus(score.ci95)
}

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A number of bytes.
pub(crate) fn bytes(number: u64) -> String {
    let number = number as f64;
    let [gib, mib, kib] = [30, 20, 10].map(|bits| number / (1u64 << bits) as f64);
    match (gib >= 1.0, mib >= 0.1) {
        (true, _) => format!("{gib:.1} GiB"),
        (false, true) => format!("{mib:.1} MiB"),
        (false, false) => format!("{kib:.1} KiB"),
    }
}

/// Seconds in the largest fitting units.
pub(crate) fn duration(seconds: f64) -> String {
    let seconds = seconds.min(1e9) as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let texts = [counted(1, "game"), counted(2000, "game"), counted(0, "entry"), counted(3, "search")];
        assert_eq!(texts, ["1 game", "2,000 games", "0 entries", "3 searches"]);
    }

    #[test]
    fn numbers_are_rounded_once() {
        assert_eq!([whole(2640.7), whole(-0.4), whole(-1234.5)], ["2,641", "0", "−1,235"]);
        assert_eq!((plus_minus(Some(9.6)), plus_minus(None)), (" ± 10".into(), String::new()));
    }
}
