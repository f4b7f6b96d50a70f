//! A report as Markdown.

use std::fmt::Write;

use super::{Cell, ClaimReport, Difference, Ours, Report, Verdict, paper::Spread, sample::Of};

impl Report {
    /// The report as Markdown: the table, an explanation of its figures, the claims.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}: {}\n\n", self.table, self.title);
        let _ = write!(text, "{}\n\n", self.introduction());
        self.write_table(&mut text);
        self.write_notes(&mut text);
        self.write_claims(&mut text);
        text
    }

    /// What was done in the paper, and here.
    pub fn introduction(&self) -> String {
        if self.trainings[0] == 0 {
            return format!("{}. Counted: nothing is trained.", self.place);
        }
        let [theirs, ours] = self.trainings.map(|number| format!("{number} training{}", plural(number)));
        let budget = if self.budget.is_empty() { "budget as there" } else { &self.budget };
        let mut text = format!("{}. The paper: {budget}, {theirs} of each row. ", self.place);
        let _ = write!(text, "Here: {} of that budget, {ours}.", percent(self.share));
        if let Some(games) = &self.taught_by {
            let _ = write!(text, " Taught by {games}.");
        }
        text
    }

    fn write_table(&self, text: &mut String) {
        let mut head = vec!["row".to_owned()];
        head.extend(self.columns.iter().flat_map(|name| [format!("{name}: paper"), format!("{name}: ours")]));
        head.push("actions".to_owned());
        let rows = self.rows.iter().map(|row| {
            let mut cells = vec![row.label.clone()];
            for cell in &row.cells {
                let paper = cell.paper.as_ref().map_or("", |figure| &figure.text);
                cells.extend([paper.to_owned(), self.ours(cell)]);
            }
            cells.push(row.actions.map(|actions| number(actions, 0)).unwrap_or_default());
            cells
        });
        text.push_str(&aligned(&head, &rows.collect::<Vec<_>>()));
        text.push('\n');
    }

    /// Our figure as displayed, with as many decimals as the paper's, or as needed if the paper has none.
    pub fn ours(&self, cell: &Cell) -> String {
        let Some(ours) = &cell.ours else { return "—".to_owned() };
        let needed = if ours.mean.abs() < 10.0 { 3 } else { 0 };
        let decimals = cell.paper.as_ref().map_or(needed, |figure| decimals(&figure.text));
        let spread = ours.plus_minus(self.spread).map(|spread| format!(" ± {}", number(spread, decimals)));
        number(ours.mean, decimals) + &spread.unwrap_or_default()
    }

    /// Explains the ± of our figures, and what was left out.
    fn write_notes(&self, text: &mut String) {
        if self.trainings[0] == 0 {
            return;
        }
        let all = || self.rows.iter().flat_map(|row| &row.cells);
        let figures: Vec<_> = all().filter_map(|cell| cell.paper.as_ref()).collect();
        // A curve has no figures of ours, but a single training has no spread.
        let none = match &figures[..] {
            [] => self.trainings[0] == 1,
            figures => figures.iter().all(|figure| figure.spread.is_none()),
        };
        let theirs = if none { "nothing" } else { self.spread.words() };
        let _ = writeln!(text, "Behind ± is, in the paper, {theirs}; here, {}.", self.our_spread());
        let games =
            all().filter_map(|cell| cell.ours.as_ref()?.games).collect::<std::collections::BTreeSet<_>>();
        if let (Some(fewest), Some(most)) = (games.first(), games.last()) {
            let range = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
            let _ = writeln!(text, "Each evaluation has {range} games.");
        }
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            let mut own: Vec<_> = row.cells.iter().filter_map(|cell| cell.left_out.clone()).collect();
            own.dedup();
            for reason in own {
                match reasons.iter_mut().find(|(other, _)| *other == reason) {
                    Some((_, rows)) => rows.push(&row.label),
                    None => reasons.push((reason, vec![&row.label])),
                }
            }
        }
        for (reason, rows) in reasons {
            let _ = writeln!(text, "Not measured: {}: {reason}.", rows.join(", "));
        }
        text.push('\n');
    }

    fn our_spread(&self) -> &'static str {
        let ours: Vec<&Ours> =
            self.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.ours.as_ref()).collect();
        match ours.first().map(|ours| ours.of) {
            Some(Of::Trainings) if self.spread == Spread::TrainingsSd => Spread::TrainingsSd.words(),
            Some(Of::Trainings) => Spread::TrainingsCi95.words(),
            Some(Of::Games) => Spread::GamesCi95.words(),
            Some(Of::Batches) => "the 95% interval over the last batches of one training",
            None => "nothing: no row was measured",
        }
    }

    /// A verdict in words, which mentions if it rests on a single training of each row.
    pub fn verdict(&self, claim: &ClaimReport) -> String {
        match claim.verdict {
            Verdict::Seen | Verdict::NotSeen if self.trainings[1] == 1 => {
                format!("{}, one training", claim.verdict)
            }
            verdict => verdict.to_string(),
        }
    }

    fn write_claims(&self, text: &mut String) {
        if self.claims.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "What the paper says, whether it was seen here, and the differences with their 95% intervals:\n"
        );
        for claim in &self.claims {
            let verdict = self.verdict(claim);
            let _ = writeln!(text, "- **{verdict}**: {} ({})", claim.says, claim.place);
            for pair in &claim.pairs {
                let _ = writeln!(text, "  - {pair}");
            }
        }
        text.push('\n');
    }
}

/// A Markdown table with aligned columns, so that its source is readable.
fn aligned(head: &[String], rows: &[Vec<String>]) -> String {
    let length = |cell: &String| cell.chars().count();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| length(&row[column]));
        cells.chain([length(&head[column]), 4]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!(" {cell:<width$} |"),
            _ => format!(" {cell:>width$} |"),
        });
        format!("|{}\n", padded.collect::<String>())
    };
    let rule = widths.iter().enumerate().map(|(column, &width)| match column {
        0 => format!(" {} |", "-".repeat(width)),
        _ => format!(" {}: |", "-".repeat(width - 1)),
    });
    let rule = format!("|{}\n", rule.collect::<String>());
    line(head) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// A difference with its interval.
pub(super) fn interval(difference: &Difference) -> String {
    let digits = match difference.mean.abs() {
        ..1.0 => 3,
        ..100.0 => 1,
        _ => 0,
    };
    let signed =
        |value: f64| if value < 0.0 { number(value, digits) } else { format!("+{}", number(value, digits)) };
    match (difference.low, difference.high) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", signed(difference.mean), signed(low), signed(high))
        }
        _ => format!("{} (no interval)", signed(difference.mean)),
    }
}

/// A number with thousands separators from 10,000.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let digits = whole.len();
    let mut grouped =
        String::from(if value < 0.0 && text.chars().any(|c| ('1'..='9').contains(&c)) { "−" } else { "" });
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && digits > 4 && (digits - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    fraction.map_or(grouped.clone(), |fraction| format!("{grouped}.{fraction}"))
}

fn decimals(text: &str) -> usize {
    let first = text.split('±').next().unwrap_or_default().trim();
    first.split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// The plural ending for this number.
pub(super) fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn percent(share: f64) -> String {
    let text = format!("{:.4}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_the_papers() {
        let written = [(4610.25, 1), (280_281.0, 0), (-1234.4, 0), (-0.2, 0), (0.0, 2)];
        let texts = written.map(|(value, decimals)| number(value, decimals));
        assert_eq!(texts, ["4610.2", "280,281", "−1234", "0", "0.00"]);
        assert_eq!([decimals("4610.2 ± 81.1"), decimals("280,281 ± 5,267"), decimals("0.00")], [1, 0, 2]);
        assert_eq!([percent(0.02), percent(1.0), percent(0.00005)], ["2 %", "100 %", "0.005 %"]);
    }
}
