//! Evaluations as tables.

use super::{
    Member, Series,
    html::{escape, percent, table, thousands},
};
use crate::reproduce::{Report, Sample, Verdict};
use afterstate_lab::stats::{EvalReport, wilson};

/// The result of a series with one search.
pub(super) struct Figures {
    pub(super) search: String,
    games: u64,
    /// For one run, its games' mean and 95% interval; for several, the mean of their means.
    pub(super) mean: f64,
    pub(super) ci95: Option<f64>,
    median: Option<f64>,
    highest: u64,
    trainings: usize,
    /// The share of all games that reach each tile, with the number of games.
    tiles: Vec<(u64, f64)>,
}

impl Figures {
    /// The results of a series, search by search.
    pub(super) fn of(series: &Series) -> Vec<Figures> {
        let all: Vec<Vec<EvalReport>> =
            series.members.iter().map(|member: &Member| series.last_evaluations(member)).collect();
        let mut searches: Vec<&String> = all.iter().flatten().map(|report| &report.search).collect();
        searches.sort_by_key(|search| (search.len(), (*search).clone()));
        searches.dedup();
        let of = |search: &&String| {
            let reports = all.iter().flatten().filter(|report| report.search == **search);
            Figures::together(&reports.collect::<Vec<_>>())
        };
        searches.iter().filter_map(of).collect()
    }

    fn together(reports: &[&EvalReport]) -> Option<Figures> {
        let first = reports.first()?;
        let sample = Sample::of_trainings(reports.iter().map(|report| report.score.mean).collect());
        let count = reports.len() as f64;
        let mut faces: Vec<u64> = reports.iter().flat_map(|report| report.tiles.keys().copied()).collect();
        faces.sort_unstable();
        faces.dedup();
        // If a report does not list a tile, every game was below it, or above it.
        let rate = |report: &EvalReport, face: u64| {
            let below = report.tiles.first_key_value().is_some_and(|(lowest, _)| face < *lowest);
            report.tiles.get(&face).copied().unwrap_or(if below { 1.0 } else { 0.0 })
        };
        let tiles = faces
            .iter()
            .map(|&face| (face, reports.iter().map(|report| rate(report, face)).sum::<f64>() / count));
        Some(Figures {
            search: first.search.clone(),
            games: reports.iter().map(|report| report.games).sum(),
            mean: sample.mean(),
            ci95: if reports.len() == 1 { first.score.ci95 } else { sample.spread().1 },
            median: (reports.len() == 1).then_some(first.score.median),
            highest: reports.iter().map(|report| report.score.max).max().unwrap_or_default(),
            trainings: reports.len(),
            tiles: tiles.collect(),
        })
    }

    /// The share of games that reach a tile: all of them if it is below the tiles listed.
    pub(super) fn share(&self, tile: u64) -> f64 {
        let found = self.tiles.iter().find(|(face, _)| *face == tile).map(|(_, share)| *share);
        let below = self.tiles.first().is_some_and(|(lowest, _)| tile < *lowest);
        found.unwrap_or(if below { 1.0 } else { 0.0 })
    }

    /// The mean with its interval.
    pub(super) fn score(&self) -> String {
        let half = self.ci95.map(|half| format!(" <small>± {}</small>", thousands(half)));
        thousands(self.mean) + &half.unwrap_or_default()
    }
}

/// Scores and tiles of all series.
pub(super) fn evaluations(series: &[&Series]) -> String {
    let figures: Vec<(usize, Figures)> = series
        .iter()
        .enumerate()
        .flat_map(|(i, series)| Figures::of(series).into_iter().map(move |f| (i, f)))
        .collect();
    if figures.is_empty() {
        return "<p>Nothing has been evaluated yet.</p>\n".to_owned();
    }
    let mut faces: Vec<u64> =
        figures.iter().flat_map(|(_, figures)| figures.tiles.iter().map(|tile| tile.0)).collect();
    faces.sort_unstable();
    faces.dedup();
    faces.retain(|&face| figures.iter().any(|(_, figures)| figures.share(face) > 0.0));
    let several = figures.iter().any(|(_, figures)| figures.trainings > 1);
    let mut head: Vec<String> =
        ["run", "search", "games", "mean score", "median", "highest"].map(str::to_owned).into();
    head.extend(faces.iter().map(|face| format!("<span class=\"tile t{face}\">{face}</span>")));
    let row = |(i, figures): &(usize, Figures)| {
        let swatch = format!("<i class=\"swatch s{}\"></i>", i % super::curves::COLOURS.len());
        let mut cells = vec![
            format!("{swatch}{}", escape(&series[*i].label)),
            escape(&figures.search),
            thousands(figures.games as f64),
            figures.score(),
            figures.median.map(thousands).unwrap_or_else(|| "—".to_owned()),
            thousands(figures.highest as f64),
        ];
        cells.extend(faces.iter().map(|&face| share_cell(figures, face)));
        cells
    };
    let rows: Vec<_> = figures.iter().map(row).collect();
    let note = if several {
        "Behind ± is half the 95% interval of the mean of the trainings; tiles are shares of all their games."
    } else {
        "Behind ± is half the 95% interval of the mean; under the share of games that reach a tile is its 95% interval."
    };
    format!("{}<p class=\"note\">{note}</p>\n", table("figures", &head, &rows))
}

fn share_cell(figures: &Figures, face: u64) -> String {
    let share = figures.share(face);
    let interval = (figures.trainings == 1).then(|| {
        let (low, high) = wilson((share * figures.games as f64).round() as u64, figures.games);
        format!("<small>{:.1} – {:.1}</small>", 100.0 * low, 100.0 * high)
    });
    let bar = format!("<span class=\"bar\" style=\"--share:{share:.4}\"></span>");
    format!("{bar}{}{}", percent(share), interval.unwrap_or_default())
}

/// A reproduced table, and its claims.
pub(super) fn reproduced(report: &Report) -> String {
    let mut head = vec!["row".to_owned()];
    head.extend(report.columns.iter().flat_map(|column| {
        let column = escape(column);
        [format!("{column}<small>paper</small>"), format!("{column}<small>here</small>")]
    }));
    let rows: Vec<Vec<String>> = report
        .rows
        .iter()
        .map(|row| {
            let mut cells = vec![escape(&row.label)];
            for cell in &row.cells {
                let paper = cell.paper.as_ref().map_or("", |figure| &figure.text);
                let ours = escape(&report.ours(cell));
                let ours = match &cell.left_out {
                    Some(reason) => format!(
                        "<span class=\"none\" title=\"{0}\">— <small>{0}</small></span>",
                        escape(reason)
                    ),
                    None => ours,
                };
                cells.extend([escape(paper), ours]);
            }
            cells
        })
        .collect();
    let claims: String = report
        .claims
        .iter()
        .map(|claim| {
            let class = match claim.verdict {
                Verdict::Seen => "seen",
                Verdict::NotSeen => "not-seen",
                Verdict::Undecided => "undecided",
                Verdict::NotMeasured => "not-measured",
            };
            let (says, place) = (escape(&claim.says), escape(&claim.place));
            let pairs: String = claim.pairs.iter().map(|pair| format!("<li>{}</li>", escape(&pair.to_string()))).collect();
            format!(
                "<li><details><summary><b class=\"verdict {class}\">{}</b> {says} <small>{place}</small></summary><ul>{pairs}</ul></details></li>\n",
                report.verdict(claim)
            )
        })
        .collect();
    let claims = if claims.is_empty() {
        claims
    } else {
        format!("<h3>What the paper says</h3>\n<ul class=\"claims\">{claims}</ul>\n")
    };
    format!("{}{claims}", table("figures", &head, &rows))
}
