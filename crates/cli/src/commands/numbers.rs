//! Parsing numbers.

/// Parses a number of games, samples or the like: at least 1, also as 1e3 or 10_000, as in recipes.
pub(super) fn parse_count(text: &str) -> Result<u64, String> {
    let wrong = || "write a whole number of at least 1, such as 1000, 10_000 or 1e3".to_owned();
    parse_whole(text).filter(|number| *number > 0).ok_or_else(wrong)
}

/// Parses a seed or the number of a game.
pub(super) fn parse_number(text: &str) -> Result<u64, String> {
    parse_whole(text).ok_or_else(|| "write a whole number of at least 0, such as 7".to_owned())
}

fn parse_whole(text: &str) -> Option<u64> {
    /// Every whole number up to this one is exact as an f64.
    const EXACT: f64 = (1u64 << 53) as f64;
    let digits = text.replace('_', "");
    let float = || digits.parse::<f64>().ok().filter(|x| x.fract() == 0.0 && (0.0..EXACT).contains(x));
    digits.parse().ok().or_else(|| float().map(|number| number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_as_in_recipes() {
        for (text, number) in [("1000", 1000), ("1e3", 1000), ("1_000", 1000), ("2.5e3", 2500)] {
            assert_eq!(parse_count(text), Ok(number));
        }
        for text in ["0", "-5", "1.5", "1e300", "NaN", "x", ""] {
            assert!(parse_count(text).is_err(), "{text}");
        }
        assert_eq!(parse_number("0"), Ok(0));
        assert_eq!(parse_number("18446744073709551615"), Ok(u64::MAX));
        assert!(parse_number("-1").is_err());
    }
}
