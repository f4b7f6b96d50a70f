//! The papers' figures beside those of runs whose recipe is a row of a table.

use super::{
    ReportError, Series,
    html::{escape, percent, table, thousands},
    tables::Figures,
};
use crate::reproduce::{
    Table,
    paper::{Column, Measure, Row},
    table_names,
};
use afterstate_lab::recipe::Recipe;
use afterstate_learning::Budget;

/// The papers' figures beside ours; empty if no recipe is a paper's.
pub(super) fn section(series: &[&Series]) -> Result<String, ReportError> {
    let mut rows = Vec::new();
    for name in table_names() {
        let paper = Table::find(name)?;
        for series in series {
            for row in paper.rows.iter().filter(|row| paper.training_name(row) == series.recipe.name) {
                rows.extend(lines(&paper, row, series)?);
            }
        }
    }
    if rows.is_empty() {
        return Ok(String::new());
    }
    let head = ["run", "where", "row", "figure", "paper", "here", "budget used"].map(str::to_owned);
    Ok(format!("<h2>Beside the papers</h2>\n{}", table("papers", &head, &rows)))
}

fn lines(paper: &Table, row: &Row, series: &Series) -> Result<Vec<Vec<String>>, ReportError> {
    let figures = Figures::of(series);
    let used = used(series)?;
    let place = format!("{}, {}", paper.name.split('/').next().unwrap_or_default(), paper.place);
    let line = |(column, figure): (&Column, &crate::reproduce::paper::Figure)| {
        let search = row.search(column);
        let ours = figures.iter().find(|figures| figures.search == search)?;
        let ours = match (column.measure, column.tile) {
            (Measure::Mean, None) => ours.score(),
            (Measure::Mean, Some(tile)) => format!("{:.2}", 100.0 * ours.share(tile)),
            _ => return None,
        };
        let (label, name) = (escape(&row.label), escape(&column.name));
        Some(vec![
            escape(&series.label),
            escape(&place),
            label,
            name,
            escape(&figure.text),
            ours,
            used.clone(),
        ])
    };
    let columns = paper.columns.iter().enumerate();
    Ok(columns.filter_map(|(i, column)| Some((column, row.figure(i)?))).filter_map(line).collect())
}

/// The share of the shipped recipe's budget that the run has used.
fn used(series: &Series) -> Result<String, ReportError> {
    let done = series.members.first().and_then(|member| member.log.last());
    let shipped = Recipe::load(&series.recipe.name, &[])?;
    Ok(match (shipped.budget, done) {
        (_, None) => "—".to_owned(),
        (Budget::Actions(budget), Some(line)) => percent(line.actions as f64 / budget as f64),
        (Budget::Episodes(budget), Some(line)) => percent(line.episodes as f64 / budget as f64),
        (Budget::Seconds(_), Some(line)) => format!("{} s", thousands(line.seconds)),
    })
}
