//! `afterstate eval`.

use std::{
    io::{IsTerminal, Write, stderr},
    path::PathBuf,
    time::Instant,
};

use afterstate_game::Rules;
use afterstate_lab::{
    evaluate::{self, Games, evaluate},
    recipe::Recipe,
    stats::{EvalReport, Summary, Tally},
};
use afterstate_network::{Network, file::ModelInfo, file::safetensors::TensorFile};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::model::{failure, open_model, thousands};
use crate::error::Failure;

/// Measure how well a network plays
///
/// The network plays numbered games greedily: the move with the largest reward plus value. The result depends
/// on the model, the seed and the number of games alone, not on the number of threads. Behind ± is half the
/// 95% confidence interval.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate eval runs/quick\n  \
    afterstate eval runs/quick --games 10000 --threads 2\n  \
    afterstate eval model.safetensors --json")]
pub(crate) struct Eval {
    /// The model file, or the directory of a run
    model: Option<PathBuf>,
    /// How to look ahead; 1ply is greedy play
    #[arg(long, default_value = "1ply")]
    search: String,
    /// The number of games
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    games: u64,
    /// The seed of the games
    #[arg(long, value_name = "S", default_value_t = evaluate::SEED)]
    seed: u64,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        if self.search != "1ply" {
            let message = format!("there is no search `{}` yet", self.search);
            return Err(Failure::input(message, "`--search 1ply` is greedy play, and the default"));
        }
        let Some(model) = &self.model else {
            let message = "no model given, and there is no built-in model yet";
            return Err(Failure::input(message, "`afterstate train quick` makes one in runs/quick"));
        };
        let file = open_model(model)?;
        let rules = rules_of(&file)?;
        let network = Network::load(file.path()).map_err(failure)?;
        let start = Instant::now();
        let results = self.play(&network, rules);
        let seconds = start.elapsed().as_secs_f64();
        let summary = results.and_then(|results| Summary::of(network.spec().side, &results));
        let summary = summary.ok_or_else(|| Failure::other("the games were not played", "try again"))?;
        let report = EvalReport::new(&model.to_string_lossy(), &self.search, self.seed, &summary, seconds);
        if self.json {
            let text = serde_json::to_string(&report).map_err(std::io::Error::from)?;
            return Ok(writeln!(out, "{text}")?);
        }
        write_table(&report, &summary, out)
    }

    /// Plays the games, with the running mean on a terminal.
    fn play(&self, network: &Network, rules: Rules) -> Option<Vec<afterstate_lab::stats::GameResult>> {
        let bar = bar(self.games);
        let mut ended = Tally::default();
        let games = Games { rules, seed: self.seed, count: self.games };
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let results = evaluate(network, games, threads, |finished| {
            ended.extend(finished.iter().copied());
            bar.set_position(ended.games());
            bar.set_message(format!(
                "mean so far {}",
                thousands(ended.mean_score().unwrap_or_default() as u64)
            ));
            true
        });
        bar.finish_and_clear();
        results
    }
}

/// A bar on a terminal, nothing elsewhere.
fn bar(games: u64) -> ProgressBar {
    let target =
        if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(games), target);
    let style = ProgressStyle::with_template("{bar:40.cyan} {pos} of {len} games  {eta} left  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
    bar
}

/// The rules that the model has learned; the usual ones if it does not say.
fn rules_of(file: &TensorFile) -> Result<Rules, Failure> {
    let info = ModelInfo::of(file).map_err(failure)?;
    let Some(text) = info.extra.get("recipe") else { return Ok(Rules::default()) };
    let place = format!("{}: recipe", file.path().display());
    let recipe = Recipe::parse("model", &place, text, &[]);
    let hint = "the model was made by another version of this program, or damaged";
    recipe.map(|recipe| recipe.game.rules()).map_err(|error| Failure::input(error, hint))
}

fn write_table(report: &EvalReport, summary: &Summary, out: &mut dyn Write) -> Result<(), Failure> {
    let score = &report.score;
    let whole = |value: f64| thousands(value.round() as u64);
    let plus_minus = score.ci95.map(|ci| format!(" ± {}", whole(ci))).unwrap_or_default();
    writeln!(
        out,
        "{}, {}, {} games, seed {}",
        report.model,
        report.search,
        thousands(report.games),
        report.seed
    )?;
    writeln!(out)?;
    writeln!(out, "score     mean {}{plus_minus}", whole(score.mean))?;
    if let Some(sd) = score.sd {
        writeln!(out, "          sd {}", whole(sd))?;
    }
    writeln!(out, "          median {}", whole(score.median))?;
    writeln!(out, "          min {}, max {}", thousands(score.min), thousands(score.max))?;
    writeln!(out, "tile      share of games that reach it (95% interval)")?;
    for tile in &summary.tiles {
        let (low, high) = tile.interval();
        writeln!(
            out,
            "{:<9} {:>8}  ({} to {})",
            tile.face(),
            percent(tile.share()),
            percent(low),
            percent(high)
        )?;
    }
    let speed = report.moves_per_second / 1e6;
    Ok(writeln!(
        out,
        "moves     {} in {:.1} s, {speed:.2} M moves/s",
        thousands(report.moves),
        report.seconds
    )?)
}

/// A share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A number of bytes for people.
pub(super) fn bytes(number: u64) -> String {
    let (gib, mib) = (number as f64 / (1u64 << 30) as f64, number as f64 / (1u64 << 20) as f64);
    if gib >= 1.0 { format!("{gib:.1} GiB") } else { format!("{mib:.1} MiB") }
}
