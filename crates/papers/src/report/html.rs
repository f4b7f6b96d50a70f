//! Small HTML fragments.

/// Escapes a text for HTML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A number with commas between thousands.
pub(super) fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value <= -0.5 { "−" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".to_owned(),
        small if small < 1.0 => format!("{small:.2} %"),
        value => format!("{value:.1} %"),
    }
}

/// A table; the cells are HTML.
pub(super) fn table(class: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let body: String = rows.iter().map(|row| line(row, "td")).collect();
    format!(
        "<div class=\"wide\"><table class=\"{class}\"><thead>{}</thead><tbody>\n{body}</tbody></table></div>\n",
        line(head, "th")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        assert_eq!(escape("<b a='1'>&\"</b>"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;&lt;/b&gt;");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!([thousands(1234567.4), thousands(-999.6), thousands(12.0)], ["1,234,567", "−1,000", "12"]);
        assert_eq!([percent(0.0), percent(0.0012), percent(0.5)], ["0 %", "0.12 %", "50.0 %"]);
    }
}
