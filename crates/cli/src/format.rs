//! Numbers as people read them.

/// A number with commas between thousands.
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

/// A share as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A number of bytes.
pub(crate) fn bytes(number: u64) -> String {
    let (gib, mib) = (number as f64 / (1u64 << 30) as f64, number as f64 / (1u64 << 20) as f64);
    if gib >= 1.0 { format!("{gib:.1} GiB") } else { format!("{mib:.1} MiB") }
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
