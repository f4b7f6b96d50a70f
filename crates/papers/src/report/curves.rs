//! Learning curves of several series in one figure, as SVG that uses the page's colours.

use plotters::{coord::types::RangedCoordf64, prelude::*};

use super::{Member, ReportError, Series};
use crate::reproduce::Sample;
use afterstate_lab::{
    curve::{CurveError, line, short},
    log::{EvalLine, Fit, LogLine},
};

/// The drawing uses integer coordinates: it is this much larger than displayed.
const SCALE: u32 = 4;
const SIZE: (u32, u32) = (960, 400);
/// More points on a line would only enlarge the file.
const MOST_POINTS: usize = 300;

/// The colours of series, distinguishable in light and dark themes and with colour blindness.
pub(super) const COLOURS: [RGBColor; 12] = [
    RGBColor(0x1f, 0x77, 0xb4),
    RGBColor(0xe0, 0x7b, 0x39),
    RGBColor(0x2c, 0xa0, 0x5a),
    RGBColor(0xc0, 0x3d, 0x6e),
    RGBColor(0x8a, 0x63, 0xd2),
    RGBColor(0x9c, 0x75, 0x4f),
    RGBColor(0x17, 0xa2, 0xb8),
    RGBColor(0x9a, 0x9a, 0x2a),
    RGBColor(0xe3, 0x6f, 0xb0),
    RGBColor(0x7a, 0x86, 0x94),
    RGBColor(0x6a, 0xb3, 0x3e),
    RGBColor(0xd4, 0x5b, 0x3f),
];

/// Placeholders for colours of the page: text and grid lines.
const INK: RGBColor = RGBColor(1, 2, 3);
const GRID: RGBColor = RGBColor(3, 2, 1);

/// A point of a curve: actions, value, and its interval.
type Point = (f64, f64, f64, f64);

/// The colour of a series by its number.
pub(super) fn colour(series: usize) -> RGBColor {
    COLOURS[series % COLOURS.len()]
}

/// The searches with which the series were evaluated, including greedy play if there are games of training.
pub(super) fn searches(series: &[&Series]) -> Vec<String> {
    let plays = series.iter().any(|series| series.recipe.lesson.is_none());
    let mut all: Vec<String> = plays.then(|| "1ply".to_owned()).into_iter().collect();
    for member in series.iter().flat_map(|series| &series.members) {
        let new = afterstate_lab::log::searches(&member.evaluations);
        all.extend(new.into_iter().map(str::to_owned));
    }
    let mut known = std::collections::HashSet::new();
    all.retain(|search| known.insert(search.clone()));
    all
}

/// The mean scores of evaluations with a search over actions, with 95% bands, and, if a series is one run and play is
/// greedy, those of its training games.
pub(super) fn scores(series: &[&Series], search: &str) -> Result<String, ReportError> {
    let curves: Vec<Vec<Point>> = series.iter().map(|series| evaluations(series, search)).collect();
    let greedy = search == "1ply";
    let lines: Vec<Vec<(f64, f64)>> =
        series.iter().map(|series| training(series, |line| line.mean_score.filter(|_| greedy))).collect();
    Ok(draw("mean score", &curves, &lines, &short)?)
}

/// The share of training games that reach a tile, over actions.
pub(super) fn tile(series: &[&Series], tile: u64) -> Result<String, ReportError> {
    let rate = |line: &LogLine| line.tiles.get(&tile).copied();
    let lines: Vec<_> = series.iter().map(|series| training(series, rate)).collect();
    Ok(draw(&format!("games of training with {tile}"), &[], &lines, &|value| {
        format!("{:.0} %", 100.0 * value)
    })?)
}

/// The accuracy of networks taught by records, on held-out records if there are any; their error if they give no moves; `None`
/// for networks that learn from their own games.
pub(super) fn fits(series: &[&Series]) -> Result<Option<String>, ReportError> {
    let lines = |figure: fn(&Fit) -> Option<f64>| -> Vec<Vec<(f64, f64)>> {
        let of = |line: &LogLine| line.fit.as_ref().and_then(figure);
        series.iter().map(|series| training(series, of)).collect()
    };
    let right = lines(|fit| fit.held_out_accuracy.or(fit.accuracy));
    let errors = lines(|fit| fit.held_out_error.or(Some(fit.error)));
    let is_empty = |lines: &[Vec<_>]| lines.iter().all(Vec::is_empty);
    let percent = |share: &f64| format!("{:.0} %", 100.0 * share);
    Ok(match (is_empty(&right), is_empty(&errors)) {
        (false, _) => Some(draw("moves of records that are right", &[], &right, &percent)?),
        (true, false) => Some(draw("error", &[], &errors, &short)?),
        (true, true) => None,
    })
}

/// The largest tile that one in ten of the last training games of any run reach.
pub(super) fn telling_tile(series: &[&Series]) -> Option<u64> {
    let lines = series.iter().flat_map(|series| &series.members).filter_map(|member| member.log.last());
    lines.flat_map(|line| line.tiles.iter().filter(|(_, rate)| **rate >= 0.1).map(|(tile, _)| *tile)).max()
}

/// The evaluations of a series; for several runs, their mean at the same point of training.
fn evaluations(series: &Series, search: &str) -> Vec<Point> {
    let of_search = |member: &Member| -> Vec<EvalLine> {
        member.evaluations.iter().filter(|line| line.report.search == search).cloned().collect()
    };
    let members: Vec<_> = series.members.iter().map(of_search).collect();
    if let [member] = &members[..] {
        let point = |line: &EvalLine| {
            let (mean, half) = (line.report.score.mean, line.report.score.ci95.unwrap_or(0.0));
            (line.actions as f64, mean, mean - half, mean + half)
        };
        return member.iter().map(point).collect();
    }
    let count = members.iter().map(Vec::len).min().unwrap_or_default();
    let point = |at: usize| {
        let lines = || members.iter().map(|member| &member[at]);
        let sample = Sample::of_trainings(lines().map(|line| line.report.score.mean).collect());
        let actions = lines().map(|line| line.actions as f64).sum::<f64>() / series.members.len() as f64;
        let (mean, half) = (sample.mean(), sample.spread().1.unwrap_or(0.0));
        (actions, mean, mean - half, mean + half)
    };
    (0..count).map(point).collect()
}

/// A figure of the log of a series with one run, averaged if there are many lines.
fn training(series: &Series, figure: impl Fn(&LogLine) -> Option<f64>) -> Vec<(f64, f64)> {
    let [Member { log, .. }] = &series.members[..] else { return Vec::new() };
    line(log, MOST_POINTS, figure)
}

/// The highest value shown: that of the lines with a margin, extended to intervals as long as the lines stay
/// readable.
fn top(curves: &[Vec<Point>], lines: &[Vec<(f64, f64)>]) -> f64 {
    let means =
        curves.iter().flatten().map(|point| point.1).chain(lines.iter().flatten().map(|point| point.1));
    let highest = means.fold(0.0, f64::max);
    let interval = curves.iter().flatten().map(|point| point.3).fold(highest, f64::max);
    1.05 * interval.min(1.4 * highest).max(1e-3)
}

fn draw(
    name: &str,
    curves: &[Vec<Point>],
    lines: &[Vec<(f64, f64)>],
    label: &dyn Fn(&f64) -> String,
) -> Result<String, CurveError> {
    let xs = curves.iter().flatten().map(|point| point.0).chain(lines.iter().flatten().map(|point| point.0));
    let (right, top) = (xs.fold(0.0, f64::max).max(1.0), top(curves, lines));
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (SIZE.0 * SCALE, SIZE.1 * SCALE)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(12 * SCALE)
            .x_label_area_size(38 * SCALE)
            .y_label_area_size(62 * SCALE)
            .build_cartesian_2d(0.0..right, 0.0..top)?;
        let style = ("sans-serif", f64::from(13 * SCALE) * 1.24, &INK).into_text_style(&root);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID.stroke_width(SCALE))
            .axis_style(INK.stroke_width(SCALE))
            .label_style(style.clone())
            .axis_desc_style(style)
            .x_labels(8)
            .y_labels(8)
            .x_label_formatter(&short)
            .y_label_formatter(label)
            .x_desc("actions")
            .y_desc(name)
            .draw()?;
        for (i, line) in lines.iter().enumerate() {
            let (share, width) = if curves.is_empty() { (1.0, 2 * SCALE) } else { (0.35, SCALE) };
            let style = colour(i).mix(share).stroke_width(width);
            chart.draw_series(LineSeries::new(line.iter().copied(), style))?;
        }
        for (i, curve) in curves.iter().enumerate() {
            draw_curve(&mut chart, curve, colour(i), top)?;
        }
        root.present()?;
    }
    Ok(themed(&text))
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// A line through points with their intervals, as a band and as bars.
fn draw_curve(chart: &mut Chart, curve: &[Point], colour: RGBColor, top: f64) -> Result<(), CurveError> {
    let inside = |value: f64| value.clamp(0.0, top);
    let low = curve.iter().map(|point| (point.0, inside(point.2)));
    let band: Vec<_> = low.chain(curve.iter().rev().map(|point| (point.0, inside(point.3)))).collect();
    chart.draw_series([Polygon::new(band, colour.mix(0.18))])?;
    let mean: Vec<_> = curve.iter().map(|point| (point.0, point.1)).collect();
    chart.draw_series(LineSeries::new(mean.clone(), colour.stroke_width(2 * SCALE)))?;
    chart.draw_series(mean.into_iter().map(|point| Circle::new(point, 3 * SCALE, colour.filled())))?;
    // A single evaluation has no visible band.
    let bars = curve.iter().map(|&(x, _, low, high)| {
        PathElement::new(vec![(x, inside(low)), (x, inside(high))], colour.stroke_width(SCALE))
    });
    chart.draw_series(bars)?;
    Ok(())
}

/// Makes the figure part of the page: full width, in the page's colours.
fn themed(svg: &str) -> String {
    let size = format!(r#"width="{}" height="{}""#, SIZE.0 * SCALE, SIZE.1 * SCALE);
    let start = svg.find("<svg").unwrap_or_default();
    svg[start..]
        .replacen(&size, r#"class="figure" role="img""#, 1)
        .replace("#010203", "currentColor")
        .replace("#030201", "var(--grid)")
}
