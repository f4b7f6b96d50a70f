//! `curve.svg`: the mean score over the actions of training, and how often each tile is reached, or how well the network
//! fits the records that teach it.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::log::{EvalLine, Fit, LogLine, searches};

/// The drawing uses integer coordinates: it is this much larger than displayed, so that lines are smooth.
const SCALE: u32 = 4;
/// The displayed size of the figure in pixels: width, height of the scores, height of the tiles.
const SIZE: (u32, u32, u32) = (900, 440, 260);
/// More points on a line would only enlarge the file.
const MOST_POINTS: usize = 600;

const INK: RGBColor = RGBColor(0x3c, 0x3a, 0x37);
const FAINT: RGBColor = RGBColor(0xe6, 0xe3, 0xde);
const TRAINING: RGBColor = RGBColor(0xd0, 0x88, 0x30);
/// Evaluations, search by search.
const EVALUATIONS: [RGBColor; 4] = [
    RGBColor(0x1f, 0x5a, 0x96),
    RGBColor(0x8e, 0x2f, 0x6f),
    RGBColor(0x2e, 0x7d, 0x4f),
    RGBColor(0x7a, 0x5c, 0x2e),
];
/// From the most common tile to the rarest.
const TILES: [RGBColor; 6] = [
    RGBColor(0xd9, 0xa4, 0x41),
    RGBColor(0xe0, 0x7b, 0x39),
    RGBColor(0xcc, 0x4c, 0x4c),
    RGBColor(0x9c, 0x3f, 0x83),
    RGBColor(0x5a, 0x4b, 0xa8),
    RGBColor(0x1f, 0x5a, 0x96),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
/// Points of a line: actions and a figure.
pub type Line = Vec<(f64, f64)>;

/// A curve that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw the learning curve: {0}")]
pub struct CurveError(String);

impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for CurveError {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        CurveError(error.to_string())
    }
}

/// The learning curve of a run as SVG, deterministic for the same lines.
pub fn svg(title: &str, log: &[LogLine], evaluations: &[EvalLine]) -> Result<String, CurveError> {
    let panel = panel(log);
    let height = if panel.is_some() { SIZE.1 + SIZE.2 } else { SIZE.1 };
    let last = log.iter().map(|line| line.actions).chain(evaluations.iter().map(|line| line.actions)).max();
    let actions = last.filter(|&actions| actions > 0).unwrap_or(1_000_000) as f64;
    let mut text = String::new();
    {
        let size = (SIZE.0 * SCALE, height * SCALE);
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE)?;
        let (scores, below) = root.split_vertically(SIZE.1 * SCALE);
        draw_scores(&scores, title, actions, log, evaluations)?;
        if let Some(panel) = panel {
            draw_panel(&below, actions, &panel)?;
        }
        root.present()?;
    }
    let size = |scale: u32| format!(r#"width="{}" height="{}""#, SIZE.0 * scale, height * scale);
    Ok(text.replacen(&size(SCALE), &size(1), 1))
}

fn draw_scores(
    area: &Area,
    title: &str,
    actions: f64,
    log: &[LogLine],
    evaluations: &[EvalLine],
) -> Result<(), CurveError> {
    let training = line(log, MOST_POINTS, |line| line.mean_score);
    let half = |line: &EvalLine| line.report.score.ci95.unwrap_or(0.0);
    let tops = evaluations.iter().map(|line| line.report.score.mean + half(line));
    let top = tops.chain(training.iter().map(|point| point.1)).fold(0.0, f64::max);
    let is_empty = top == 0.0;
    let top = if is_empty { 10_000.0 } else { 1.08 * top };

    let style = styled_text(17, INK, FontStyle::Bold).pos(Pos::new(HPos::Left, VPos::Center));
    area.draw(&Text::new(title.to_owned(), at(20, 28), style))?;
    let more_searches = searches(evaluations).len().saturating_sub(1) as u32;
    let mut chart = chart(area, 58 + 20 * more_searches, actions, top, "average score", &short)?;
    if is_empty {
        let centre = text(14, INK).pos(Pos::new(HPos::Center, VPos::Center));
        area.draw(&Text::new("no games yet", at(SIZE.0 / 2, SIZE.1 / 2), centre))?;
    }
    draw_line(&mut chart, &training, TRAINING, 1)?;
    let mut last = Vec::new();
    for (search, &colour) in searches(evaluations).into_iter().zip(EVALUATIONS.iter().cycle()) {
        let of_search = || evaluations.iter().filter(move |line| line.report.search == search);
        let point = |line: &EvalLine| (line.actions as f64, line.report.score.mean);
        chart.draw_series(of_search().map(|line| {
            let (x, y) = point(line);
            let low = (y - half(line)).max(0.0);
            PathElement::new(vec![(x, low), (x, y + half(line))], colour.stroke_width(SCALE + SCALE / 2))
        }))?;
        chart
            .draw_series(of_search().map(|line| Circle::new(point(line), 7 * SCALE / 2, colour.filled())))?;
        last.extend(of_search().next_back().map(|line| (line, colour)));
    }
    draw_legend(area, !training.is_empty(), &last)
}

/// Draws the legend beside the title, where nothing can cover it: for training, and for the last evaluation with each
/// search.
fn draw_legend(area: &Area, training: bool, evaluations: &[(&EvalLine, RGBColor)]) -> Result<(), CurveError> {
    let label = |words: String, y| {
        let style = text(13, INK).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(words, at(SIZE.0 - PADDING.1 - 30, y), style))
    };
    let right = SIZE.0 - PADDING.1;
    if training {
        let y = 18;
        label("games of training".to_owned(), y)?;
        let swatch = vec![at(right - 22, y), at(right, y)];
        area.draw(&PathElement::new(swatch, TRAINING.stroke_width(3 * SCALE / 2)))?;
    }
    for ((EvalLine { report, .. }, colour), y) in evaluations.iter().zip((38..).step_by(20)) {
        let games = if report.games == 1 { "game" } else { "games" };
        label(format!("evaluation, {}, {} {games}, 95% interval", report.search, report.games), y)?;
        let swatch = vec![at(right - 11, y - 8), at(right - 11, y + 8)];
        area.draw(&PathElement::new(swatch, colour.stroke_width(SCALE + SCALE / 2)))?;
        area.draw(&Circle::new(at(right - 11, y), 7 * SCALE / 2, colour.filled()))?;
    }
    Ok(())
}

/// What stands below the scores: lines with their names, from the most common tile to the rarest.
struct Panel {
    name: &'static str,
    /// Whether figures are shares of a whole.
    is_share: bool,
    lines: Vec<(String, Line)>,
}

/// How often each tile is reached; for records, how often the network gives their moves, or its error where it gives none.
fn panel(log: &[LogLine]) -> Option<Panel> {
    let fit =
        |figure: fn(&Fit) -> Option<f64>| line(log, MOST_POINTS, |line| line.fit.as_ref().and_then(figure));
    let of_records = |learned, held_out| {
        let lines = [("learned", fit(learned)), ("held out", fit(held_out))];
        lines.map(|(name, line)| (name.to_owned(), line)).into()
    };
    let tiles = tile_lines(log).into_iter().map(|(face, line)| (face.to_string(), line)).collect();
    let panels = [
        Panel { name: "games that reach", is_share: true, lines: tiles },
        Panel {
            name: "moves that are right",
            is_share: true,
            lines: of_records(|fit| fit.accuracy, |fit| fit.held_out_accuracy),
        },
        Panel {
            name: "error",
            is_share: false,
            lines: of_records(|fit| Some(fit.error), |fit| fit.held_out_error),
        },
    ];
    panels.into_iter().find(|panel| panel.lines.iter().any(|(_, line)| !line.is_empty()))
}

fn draw_panel(area: &Area, actions: f64, panel: &Panel) -> Result<(), CurveError> {
    let percent = |share: &f64| format!("{:.0}%", 100.0 * share);
    let highest = panel.lines.iter().flat_map(|(_, line)| line).map(|point| point.1).fold(0.0, f64::max);
    let (top, label): (_, &dyn Fn(&f64) -> String) =
        if panel.is_share { (1.0, &percent) } else { (1.08 * highest.max(1e-3), &short) };
    let mut chart = chart(area, 8, actions, top, panel.name, label)?;
    let mut heights = Vec::new();
    for (&colour, (_, points)) in TILES.iter().zip(&panel.lines) {
        draw_line(&mut chart, points, colour, 2)?;
        let end = points.last().map_or(0.0, |point| point.1);
        heights.push(chart.backend_coord(&(actions, end)).1 - area.get_base_pixel().1);
    }
    let bottom = chart.backend_coord(&(0.0, 0.0)).1 - area.get_base_pixel().1;
    spread(&mut heights, bottom, 16 * SCALE as i32);
    let left = at(SIZE.0 - PADDING.1 + 7, 0).0;
    for ((colour, (name, _)), height) in TILES.iter().zip(&panel.lines).zip(heights) {
        let style = styled_text(13, *colour, FontStyle::Bold).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(name.clone(), (left, height), style))?;
    }
    Ok(())
}

/// Spreads descending heights, so that names beside the ends of lines do not overlap.
fn spread(heights: &mut [i32], bottom: i32, gap: i32) {
    let mut free = i32::MIN;
    for height in heights.iter_mut() {
        *height = free.max(*height);
        free = *height + gap;
    }
    let mut free = bottom;
    for height in heights.iter_mut().rev() {
        *height = free.min(*height);
        free = *height - gap;
    }
}

/// The margins of a chart, left and right.
const PADDING: (u32, u32) = (10, 64);

/// Axes and a grid; the charts of a figure are aligned vertically.
fn chart<'a, 'b>(
    area: &'a Area<'b>,
    above: u32,
    actions: f64,
    top: f64,
    name: &str,
    label: &dyn Fn(&f64) -> String,
) -> Result<Chart<'a, 'b>, CurveError> {
    let mut chart = ChartBuilder::on(area)
        .margin_top(above * SCALE)
        .margin_left(PADDING.0 * SCALE)
        .margin_right(PADDING.1 * SCALE)
        .margin_bottom(6 * SCALE)
        .x_label_area_size(44 * SCALE)
        .y_label_area_size(64 * SCALE)
        .build_cartesian_2d(0.0..actions, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(FAINT.stroke_width(SCALE))
        .axis_style(INK.stroke_width(SCALE))
        .set_all_tick_mark_size(4 * SCALE)
        .label_style(text(13, INK))
        .axis_desc_style(text(13, INK))
        .x_labels(10)
        .y_labels(10)
        .x_label_formatter(&short)
        .y_label_formatter(label)
        .x_desc("actions")
        .y_desc(name)
        .draw()?;
    Ok(chart)
}

fn draw_line(chart: &mut Chart, points: &Line, colour: RGBColor, width: u32) -> Result<(), CurveError> {
    if let [point] = points.as_slice() {
        chart.draw_series([Circle::new(*point, 2 * SCALE, colour.filled())])?;
    }
    let style = colour.stroke_width(width * SCALE + SCALE / 2);
    chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
    Ok(())
}

fn at(x: u32, y: u32) -> (i32, i32) {
    ((x * SCALE) as i32, (y * SCALE) as i32)
}

fn text(size: u32, colour: RGBColor) -> TextStyle<'static> {
    styled_text(size, colour, FontStyle::Normal)
}

fn styled_text(size: u32, colour: RGBColor, style: FontStyle) -> TextStyle<'static> {
    // The backend divides sizes by 1.24.
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(size * SCALE) * 1.24, style);
    TextStyle { color: colour.to_backend_color(), ..font.into() }
}

/// A figure of the log over actions, averaged over neighbours if there are more than `most` points.
pub fn line(log: &[LogLine], most: usize, figure: impl Fn(&LogLine) -> Option<f64>) -> Line {
    let points: Line = log.iter().filter_map(|line| Some((line.actions as f64, figure(line)?))).collect();
    let average = |chunk: &[(f64, f64)]| {
        let mean = chunk.iter().map(|point| point.1).sum::<f64>() / chunk.len() as f64;
        (chunk[chunk.len() - 1].0, mean)
    };
    points.chunks(points.len().div_ceil(most).max(1)).map(average).collect()
}

/// The rates of the largest tiles that any game reached, the smallest tile first.
fn tile_lines(log: &[LogLine]) -> Vec<(u64, Line)> {
    let reached = log.iter().flat_map(|line| line.tiles.iter().filter(|(_, rate)| **rate > 0.0));
    let faces: std::collections::BTreeSet<u64> = reached.map(|(face, _)| *face).collect();
    let faces = faces.iter().skip(faces.len().saturating_sub(TILES.len()));
    // If a line does not list a tile, every game was below its range, or above it.
    let rate = |line: &LogLine, face: u64| {
        let smallest = *line.tiles.first_key_value()?.0;
        Some(line.tiles.get(&face).copied().unwrap_or(if face < smallest { 1.0 } else { 0.0 }))
    };
    // Zeros before the first game that reached the tile would only cover the axis.
    let from_first = |points: Line| {
        let first = points.iter().position(|point| point.1 > 0.0).unwrap_or(points.len());
        points[first.saturating_sub(1)..].to_vec()
    };
    faces.map(|&face| (face, from_first(line(log, MOST_POINTS, |line| rate(line, face))))).collect()
}

/// A number with k, M or G, such as 2.5M.
pub fn short(value: &f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (unit, name) = units.into_iter().find(|(unit, _)| *value >= *unit).unwrap_or((1.0, ""));
    let digits = format!("{:.2}", value / unit);
    format!("{}{name}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 0.5, 999.0, 1e3, 2.5e6, 1.25e8, 1e9, 3.2e10];
        let texts = numbers.map(|number| short(&number));
        assert_eq!(texts, ["0", "0.5", "999", "1k", "2.5M", "125M", "1G", "32G"]);
    }

    #[test]
    fn names_keep_their_distance_and_stay_above_the_bottom() {
        let spread_out = |mut heights: [i32; 3]| {
            spread(&mut heights, 100, 10);
            heights
        };
        assert_eq!(spread_out([5, 50, 90]), [5, 50, 90]);
        assert_eq!(spread_out([5, 6, 90]), [5, 15, 90]);
        assert_eq!(spread_out([98, 99, 100]), [80, 90, 100]);
    }
}
