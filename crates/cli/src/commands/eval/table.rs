//! Human-readable tables of evaluations.

use std::io::Write;

use afterstate_lab::stats::{EvalReport, Summary};

use crate::{
    error::Failure,
    format::{counted, mean, percent, thousands, whole},
};

/// Scores, tiles and speed.
pub(super) fn write(report: &EvalReport, summary: &Summary, out: &mut dyn Write) -> Result<(), Failure> {
    let score = &report.score;
    let EvalReport { model, search, seed, .. } = report;
    writeln!(out, "{model}, {search}, {}, seed {seed}", counted(report.games, "game"))?;
    writeln!(out)?;
    writeln!(out, "score     mean {}", mean(score))?;
    if let Some(sd) = score.sd {
        writeln!(out, "          sd {}", whole(sd))?;
    }
    writeln!(out, "          median {}", whole(score.median))?;
    writeln!(out, "          min {}, max {}", thousands(score.min), thousands(score.max))?;
    writeln!(out, "tile      share of games that reach it (95% interval)")?;
    for tile in summary.tiles.iter().filter(|tile| tile.count > 0) {
        let (low, high) = tile.interval();
        let [share, low, high] = [tile.share(), low, high].map(percent);
        writeln!(out, "{:<9} {share:>6}  ({low:>6} to {high:>6})", tile.face())?;
    }
    let speed = speed(report.moves_per_second);
    writeln!(out, "moves     {} in {:.1} s, {speed} moves/s", thousands(report.moves), report.seconds)?;
    if let Some(times) = report.move_ms {
        let [p50, p90, p99, max] = [times.p50, times.p90, times.p99, times.max].map(milliseconds);
        writeln!(out, "a move    50% within {p50}, 90% {p90}, 99% {p99}, all {max} ms")?;
    }
    Ok(())
}

fn speed(rate: f64) -> String {
    match rate {
        1e6.. => format!("{:.2} M", rate / 1e6),
        1e4.. => format!("{:.1} k", rate / 1e3),
        _ => format!("{rate:.0}"),
    }
}

fn milliseconds(time: f64) -> String {
    if time < 1.0 { format!("{time:.3}") } else { format!("{time:.1}") }
}
