//! The page itself.

use super::{
    BOARDS, Member, Recorded, ReportError, Series, Subject,
    curves::{COLOURS, fits, scores, searches, telling_tile, tile},
    html::{escape, thousands},
    papers, recipes, tables,
};

/// A report on runs and reproduced tables. `play` plays the given number of games by a series' model, or says why it
/// cannot.
///
/// # Errors
/// If a run or a paper's table cannot be read.
pub fn page(
    subjects: &[Subject],
    mut play: impl FnMut(&Series, u64) -> Result<Vec<Recorded>, String>,
) -> Result<String, ReportError> {
    let series: Vec<&Series> = subjects.iter().flat_map(|subject| &subject.series).collect();
    let mut body = String::new();
    for report in subjects.iter().filter_map(|subject| subject.table.as_ref()) {
        body += &format!(
            "<section><h2>{}: {}</h2>\n<p>{}</p>\n{}</section>\n",
            escape(&report.table),
            escape(&report.title),
            escape(&report.introduction()),
            tables::reproduced(report)
        );
    }
    if series.is_empty() {
        return Ok(document(&title(subjects), &body));
    }
    body += &format!("<section><h2>Learning</h2>\n{}", legend(&series));
    for search in searches(&series) {
        let name = if search == "1ply" { String::new() } else { format!("{search}. ") };
        body += &figure(&scores(&series, &search)?, &format!("{name}{SCORES}"));
    }
    if let Some(face) =
        telling_tile(&series).filter(|_| series.iter().any(|series| series.members.len() == 1))
    {
        body += &figure(&tile(&series, face)?, "");
    }
    if let Some(fits) = fits(&series)? {
        body += &figure(&fits, "");
    }
    body += "</section>\n";
    body += &format!("<section><h2>Evaluations</h2>\n{}</section>\n", tables::evaluations(&series));
    if subjects.iter().any(|subject| subject.table.is_none()) {
        let plain = subjects.iter().filter(|subject| subject.table.is_none());
        let beside = papers::section(&plain.flat_map(|subject| &subject.series).collect::<Vec<_>>())?;
        body += &if beside.is_empty() { beside } else { format!("<section>{beside}</section>\n") };
    }
    body += &format!("<section class=\"games\"><h2>Games</h2>\n{}</section>\n", games(&series, &mut play));
    body += &format!("<section><h2>Recipes</h2>\n{}</section>\n", recipes::section(&series)?);
    Ok(document(&title(subjects), &body))
}

/// The maximum number of runs of a series that are named.
const NAMED: usize = 10;

const SCORES: &str = "Points are evaluations with their 95% intervals: of one run over its games, of several over the runs. Faint lines are the \
                      games of training.";

fn title(subjects: &[Subject]) -> String {
    let name = |subject: &Subject| match (&subject.table, subject.series.first()) {
        (Some(report), _) => report.table.clone(),
        (None, Some(series)) => series.label.clone(),
        (None, None) => String::new(),
    };
    let names: Vec<_> = subjects.iter().map(name).collect();
    match &names[..] {
        [] => "Report".to_owned(),
        [first, rest @ ..] if rest.len() > 3 => format!("{first} and {} more", rest.len()),
        all => all.join(", "),
    }
}

fn legend(series: &[&Series]) -> String {
    let entry = |(i, series): (usize, &&Series)| {
        let runs = match &series.members[..] {
            [_] => String::new(),
            runs => format!(", {} trainings: {}", runs.len(), escape(&names(runs))),
        };
        let actions = thousands(series.actions() as f64);
        let (label, swatch) = (escape(&series.label), i % COLOURS.len());
        format!("<li><i class=\"swatch s{swatch}\"></i>{label} <small>{actions} actions{runs}</small></li>")
    };
    format!("<ul class=\"legend\">{}</ul>\n", series.iter().enumerate().map(entry).collect::<String>())
}

/// The directories of the runs of a series, abbreviated if there are many.
fn names(runs: &[Member]) -> String {
    let names = runs.iter().take(NAMED).map(|run| run.directory.path().display().to_string());
    let mut names: Vec<_> = names.collect();
    if runs.len() > NAMED {
        names.push(format!("{} more", runs.len() - NAMED));
    }
    names.join(", ")
}

pub(super) fn figure(svg: &str, caption: &str) -> String {
    let caption =
        if caption.is_empty() { String::new() } else { format!("<figcaption>{caption}</figcaption>") };
    format!("<figure>{svg}{caption}</figure>\n")
}

/// Boards of the first series, two for each if there are few.
fn games(series: &[&Series], play: &mut impl FnMut(&Series, u64) -> Result<Vec<Recorded>, String>) -> String {
    let each = (BOARDS / series.len().max(1)).clamp(1, 2) as u64;
    let mut text = String::from("<div class=\"boards\">\n");
    let mut recorded = Vec::new();
    for series in series.iter().take(BOARDS) {
        let label = escape(&series.label);
        match play(series, each) {
            Err(reason) => {
                text += &format!("<p class=\"note\">{label}: no games: {}.</p>\n", escape(&reason))
            }
            Ok(games) => {
                for game in games {
                    text += &board(&label, &game, recorded.len());
                    recorded.push(game);
                }
            }
        }
    }
    let left = series.len().saturating_sub(BOARDS);
    let note = if left > 0 {
        format!("<p class=\"note\">Of {left} more runs no games are shown.</p>\n")
    } else {
        String::new()
    };
    // Only `</` could end the JSON within a script; no string here contains it.
    let data = serde_json::to_string(&recorded).unwrap_or_default();
    format!("{text}</div>\n{note}<script type=\"application/json\" id=\"games\">{data}</script>\n")
}

/// A board that shows the end of a game, until the script animates it.
fn board(label: &str, game: &Recorded, index: usize) -> String {
    let cell = |&exponent: &u8| match exponent {
        0 => "<i></i>".to_owned(),
        exponent => format!("<i class=\"tile t{0}\">{0}</i>", 1u32 << exponent),
    };
    let cells: String = game.end.iter().map(cell).collect();
    let (score, moves) = (thousands(game.score as f64), thousands(game.moves as f64));
    format!(
        "<article class=\"board\" data-game=\"{index}\" style=\"--side:{}\"><h3>{label}<small>game {}, greedy</small></h3>\n\
         <div class=\"grid\">{cells}</div>\n<p class=\"state\">{score} points, {moves} moves</p></article>\n",
        game.side, game.game
    )
}

pub(super) fn document(title: &str, body: &str) -> String {
    let colours: String = COLOURS
        .iter()
        .enumerate()
        .map(|(i, colour)| format!(".s{i}{{background:rgb({},{},{})}}\n", colour.0, colour.1, colour.2))
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<title>{title}</title>\n<style>\n{}{colours}</style>\n</head>\n<body>\n<header><p>Afterstate</p><h1>{title}</h1></header>\n\
         <main>\n{body}</main>\n<script>\n{}</script>\n</body>\n</html>\n",
        include_str!("report.css"),
        include_str!("report.js"),
        title = escape(title),
    )
}
