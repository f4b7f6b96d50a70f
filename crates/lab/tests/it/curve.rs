//! The learning curve draws any amount of data.

use afterstate_lab::curve::svg;
use afterstate_lab::log::{EvalLine, Fit, LogLine, Rate};
use afterstate_lab::stats::{EvalReport, GameResult, Summary};

/// A run that learns as temporal coherence does, with this many log lines.
fn log(lines: u64) -> Vec<LogLine> {
    let line = |number: u64| {
        let actions = number * 4_000_000;
        let mean = 110_000.0 * (1.0 - (-(actions as f64) / 9e7).exp()) + 1500.0 * (number as f64 * 2.1).sin();
        let rate = |limit: f64| (1.0 - (limit / mean).powi(2)).clamp(0.0, 1.0);
        LogLine {
            actions,
            episodes: number * 2000,
            seconds: number as f64 * 2.0,
            budget_share: number as f64 / lines as f64,
            moves_per_second: 2e6,
            mean_score: Some(mean),
            max_score: Some(2 * mean as u64),
            tiles: [(2048, 9e3), (4096, 25e3), (8192, 60e3), (16384, 1e5), (32768, 1e9)]
                .map(|(face, limit)| (face, rate(limit)))
                .into(),
            merge_share: None,
            merge_bytes_per_second: None,
            rate: Rate::Beta(1.0),
            fit: None,
        }
    };
    (1..=lines).map(line).collect()
}

fn evaluations(log: &[LogLine]) -> Vec<EvalLine> {
    let evaluate = |line: &LogLine| {
        let mean = line.mean_score.unwrap_or_default() * 1.05;
        let game = |game| GameResult {
            game,
            score: (mean * (0.5 + game as f64 / 199.0)) as u64,
            max_exponent: 11,
            moves: 9,
        };
        let summary = Summary::of(4, &(0..200).map(game).collect::<Vec<_>>()).expect("there are games");
        let report = EvalReport::new("m", "1ply", 1, &summary, 1.0);
        EvalLine { actions: line.actions, episodes: line.episodes, report }
    };
    log.iter().step_by(5).skip(1).map(evaluate).collect()
}

#[test]
fn a_curve_has_its_title_axes_and_points() {
    let log = log(90);
    let evaluations = evaluations(&log);
    let text = svg("reference/4x6-tc <&>", &log, &evaluations).unwrap();
    assert_eq!(
        text,
        svg("reference/4x6-tc <&>", &log, &evaluations).unwrap(),
        "the same lines, the same text"
    );
    for expected in
        ["reference/4x6-tc &lt;&amp;&gt;", "average score", "100k", "100M", "16384", "40%", "200 games"]
    {
        assert!(text.contains(expected), "{expected} is drawn");
    }
    assert!(!text.contains("32768"), "no game reached that tile");
    // One more circle than points: the legend's.
    assert_eq!(text.matches("<circle").count(), evaluations.len() + 1);
}

#[test]
fn few_points_are_drawn_too() {
    let none = svg("quick", &[], &[]).unwrap();
    assert!(none.contains("no games yet") && none.contains("average score"));
    let without_games = LogLine { mean_score: None, tiles: Default::default(), ..log(1).remove(0) };
    assert!(svg("quick", &[without_games], &[]).unwrap().contains("no games yet"));
    let one = svg("quick", &log(1), &[]).unwrap();
    assert!(one.contains("<circle") && !one.contains("no games yet"));
    let two = log(6);
    assert!(svg("quick", &[], &evaluations(&two)).unwrap().contains("95% interval"));
}

#[test]
fn a_long_run_is_no_larger_a_file() {
    assert!(svg("long", &log(50_000), &[]).unwrap().len() < 150_000);
}

#[test]
fn what_records_teach_has_its_accuracy_below_or_its_error() {
    let with = |accuracy: Option<f64>| -> String {
        let fit = Fit { error: 0.7, accuracy, held_out_error: Some(0.75), held_out_accuracy: accuracy };
        let line = |line: LogLine| LogLine { tiles: [].into(), mean_score: None, fit: Some(fit), ..line };
        svg("taught", &log(5).into_iter().map(line).collect::<Vec<_>>(), &[]).unwrap()
    };
    let (policy, values) = (with(Some(0.6)), with(None));
    for (text, name, other) in
        [(&policy, "moves that are right", "error"), (&values, "error", "moves that are right")]
    {
        assert!([name, "learned", "held out"].iter().all(|part| text.contains(part)), "no {name}");
        assert!(!text.contains(other) && !text.contains("games that reach"));
    }
}
