//! A paper's figure, drawn from our runs: a panel for each measure, a line with its band for each row, and the paper's
//! end points beside them.

use plotters::{
    coord::types::RangedCoordf64,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{
    curves::colour,
    html::escape,
    page::{document, figure},
    tables,
};
use crate::reproduce::{Curve, LearningCurves, Panel, Report};
use afterstate_lab::curve::{CurveError, short};

/// The drawing uses integer coordinates: it is this much larger than displayed.
const SCALE: u32 = 4;
const WIDTH: u32 = 960;
const PANEL: u32 = 330;
/// The height of the title and the explanation of the marks.
const HEAD: u32 = 62;
/// The height of a line of the legend.
const LINE: u32 = 20;

const INK: RGBColor = RGBColor(0x3c, 0x3a, 0x37);
const GRID: RGBColor = RGBColor(0xe6, 0xe3, 0xde);

/// The margin to the right of our last point for the paper's end points, as a share of the width.
const BESIDE: f64 = 0.07;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The figure as an SVG file, deterministic for the same curves.
///
/// # Errors
/// If it cannot be drawn.
pub fn svg(curves: &LearningCurves) -> Result<String, CurveError> {
    let labels: Vec<&str> = curves
        .panels
        .first()
        .map_or(Vec::new(), |panel| panel.curves.iter().map(|curve| curve.label.as_str()).collect());
    let head = HEAD + LINE * labels.len().div_ceil(3) as u32;
    let height = head + PANEL * curves.panels.len().max(1) as u32;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH * SCALE, height * SCALE)).into_drawing_area();
        root.fill(&WHITE)?;
        let (top, mut rest) = root.split_vertically(head * SCALE);
        draw_head(&top, curves, &labels)?;
        for panel in &curves.panels {
            let (area, below) = rest.split_vertically(PANEL * SCALE);
            draw_panel(&area, curves, panel)?;
            rest = below;
        }
        root.present()?;
    }
    let size = |scale: u32| format!(r#"width="{}" height="{}""#, WIDTH * scale, height * scale);
    Ok(text.replacen(&size(SCALE), &size(1), 1))
}

/// The figure as a page, with the table of its last points and the claims.
///
/// # Errors
/// If it cannot be drawn.
pub fn figure_page(curves: &LearningCurves, report: &Report) -> Result<String, CurveError> {
    let svg = svg(curves)?;
    let start = svg.find("<svg").unwrap_or_default();
    let body = format!(
        "<section><h2>{}</h2>\n<p>{}</p>\n{}</section>\n<section><h2>The last points</h2>\n{}</section>\n",
        escape(&curves.title),
        escape(&report.introduction()),
        figure(&svg[start..], &escape(&caption(curves))),
        tables::reproduced(report)
    );
    Ok(document(&curves.name, &body))
}

/// Explains bands and marks.
fn caption(curves: &LearningCurves) -> String {
    let band = match curves.trainings {
        1 => "one training each; bands: 95% interval over its games".to_owned(),
        trainings => format!("{trainings} trainings each; bands: over the trainings, as in the paper"),
    };
    let marked = curves.panels.iter().flat_map(|panel| &panel.curves).any(|curve| curve.paper.is_some());
    match marked {
        true => format!("{band}; ◇: the paper's figure after {}", curves.budget),
        false => format!("{band}; the paper: {}", curves.budget),
    }
}

fn draw_head(area: &Area, curves: &LearningCurves, labels: &[&str]) -> Result<(), CurveError> {
    let left = |size, style| text(size, style).pos(Pos::new(HPos::Left, VPos::Center));
    let share = format!("{}", 100.0 * curves.share);
    let title = format!("{}: {}", curves.name, curves.title);
    area.draw(&Text::new(title, at(20, 22), left(16, FontStyle::Bold)))?;
    let words = format!("{share}% of the paper's budget, {}", caption(curves));
    area.draw(&Text::new(words, at(20, 44), left(13, FontStyle::Normal)))?;
    for (i, label) in labels.iter().enumerate() {
        let (x, y) = (20 + 310 * (i as u32 % 3), HEAD + 4 + LINE * (i as u32 / 3));
        let swatch = vec![at(x, y), at(x + 22, y)];
        area.draw(&PathElement::new(swatch, colour(i).stroke_width(3 * SCALE)))?;
        area.draw(&Text::new((*label).to_owned(), at(x + 30, y), left(13, FontStyle::Normal)))?;
    }
    Ok(())
}

fn draw_panel(area: &Area, curves: &LearningCurves, panel: &Panel) -> Result<(), CurveError> {
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let last = points().map(|point| point.x).fold(0.0, f64::max).max(1.0);
    let papers = panel.curves.iter().filter_map(|curve| curve.paper.as_ref());
    let highest = points().map(|point| point.mean).chain(papers.map(|paper| paper.value)).fold(0.0, f64::max);
    let top = 1.08 * highest.max(1e-3);
    let mut chart = ChartBuilder::on(area)
        .margin(12 * SCALE)
        .x_label_area_size(38 * SCALE)
        .y_label_area_size(66 * SCALE)
        .build_cartesian_2d(0.0..last * (1.0 + BESIDE), 0.0..top)?;
    let x_label = |x: &f64| if *x <= last * 1.001 { short(x) } else { String::new() };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(SCALE))
        .axis_style(INK.stroke_width(SCALE))
        .label_style(text(13, FontStyle::Normal))
        .axis_desc_style(text(13, FontStyle::Normal))
        .x_labels(8)
        .y_labels(6)
        .x_label_formatter(&x_label)
        .y_label_formatter(&short)
        .x_desc(curves.unit)
        .y_desc(panel.name.as_str())
        .draw()?;
    for (i, curve) in panel.curves.iter().enumerate() {
        draw_curve(&mut chart, curve, colour(i), top)?;
        draw_paper(&mut chart, curve, colour(i), last * (1.0 + BESIDE / 2.0), top)?;
    }
    Ok(())
}

/// A line through the points, with their intervals as a band.
fn draw_curve(chart: &mut Chart, curve: &Curve, colour: RGBColor, top: f64) -> Result<(), CurveError> {
    let inside = |value: f64| value.clamp(0.0, top);
    let low = curve.points.iter().map(|point| (point.x, inside(point.mean - point.half)));
    let high = curve.points.iter().rev().map(|point| (point.x, inside(point.mean + point.half)));
    chart.draw_series([Polygon::new(low.chain(high).collect::<Vec<_>>(), colour.mix(0.18))])?;
    let mean = || curve.points.iter().map(|point| (point.x, point.mean));
    chart.draw_series(LineSeries::new(mean(), colour.stroke_width(2 * SCALE)))?;
    // Marks the points if they are few.
    if curve.points.len() <= 60 {
        chart.draw_series(mean().map(|point| Circle::new(point, 5 * SCALE / 2, colour.filled())))?;
    }
    Ok(())
}

/// The paper's value at the end: a diamond, with its ± as a bar.
fn draw_paper(
    chart: &mut Chart,
    curve: &Curve,
    colour: RGBColor,
    x: f64,
    top: f64,
) -> Result<(), CurveError> {
    let Some(paper) = &curve.paper else { return Ok(()) };
    let half = paper.spread.unwrap_or(0.0);
    let bar = vec![(x, (paper.value - half).max(0.0)), (x, (paper.value + half).min(top))];
    chart.draw_series([PathElement::new(bar, colour.stroke_width(SCALE))])?;
    let r = 6 * SCALE as i32;
    let diamond = vec![(0, -r), (r, 0), (0, r), (-r, 0)];
    let marks = [EmptyElement::at((x, paper.value))
        + Polygon::new(diamond.clone(), WHITE.filled())
        + PathElement::new([&diamond[..], &diamond[..1]].concat(), colour.stroke_width(2 * SCALE))];
    chart.draw_series(marks)?;
    Ok(())
}

fn at(x: u32, y: u32) -> (i32, i32) {
    ((x * SCALE) as i32, (y * SCALE) as i32)
}

fn text(size: u32, style: FontStyle) -> TextStyle<'static> {
    // The backend divides sizes by 1.24.
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(size * SCALE) * 1.24, style);
    TextStyle { color: INK.to_backend_color(), ..font.into() }
}
