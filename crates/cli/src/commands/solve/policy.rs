//! `afterstate solve --policy`: the exact value of a model's play.

use std::{
    io::{IsTerminal, Write, stdout},
    path::{Path, PathBuf},
    time::Instant,
};

use afterstate_game::{State, draw};
use afterstate_lab::model::Model;
use afterstate_search::{Limit, PlayerSpec};
use afterstate_solver::{
    Boards, Evaluation, Greedy, Mistake, Objective, Regret, Searching, Solution, SolverSettings, evaluate,
};
use clap::Args;
use serde_json::{Value, json};

use super::{report, work};
use crate::{commands::eval::parse_search, error::Failure, format::thousands};

/// The number of boards drawn.
const DRAWN: usize = 5;

/// The options of a policy.
#[derive(Args)]
pub(super) struct PolicyArgs {
    /// Compute the exact value of this model's play: a model file, or the directory of a run
    #[arg(long, value_name = "MODEL")]
    pub(super) policy: Option<PathBuf>,
    /// How the model looks ahead, as for `afterstate eval`, but not by time [default: 1ply]
    #[arg(long)]
    search: Option<String>,
    /// Evaluate only one of the eight images of each board: up to eight times as fast, and exact up to ties between
    /// moves if the model is symmetric
    #[arg(long)]
    canonical: bool,
    /// Solve the game too, and show what the model loses against the best play, and where
    #[arg(long)]
    regret: bool,
    /// The solution for --regret; without it the game is solved again
    #[arg(long, value_name = "FILE", requires = "regret")]
    solution: Option<PathBuf>,
}

impl PolicyArgs {
    /// The first option given, except the model.
    pub(super) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--search", self.search.is_some()),
            ("--canonical", self.canonical),
            ("--regret", self.regret),
            ("--solution", self.solution.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    pub(super) fn run(
        &self,
        model: &Path,
        threads: usize,
        as_json: bool,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let search = parse_search(self.search.as_deref().unwrap_or("1ply"))?;
        if !search.search.is_some_and(|search| !matches!(search.limit, Limit::Time(_))) {
            let message = format!("`{search}` does not always make the same move on the same board");
            return Err(Failure::input(message, "`--search 1ply` to `5ply` do"));
        }
        let model = Model::open(Some(model))?;
        model.afterstates("`--policy`")?;
        let search = search.or_downgraded(model.downgrade);
        match model.side() {
            2 => self.on_board::<2>(&model, search, threads, as_json, out),
            3 => self.on_board::<3>(&model, search, threads, as_json, out),
            side => Err(Failure::input(
                format!("{} plays on {side}×{side}, where the boards are too many to count", model.name),
                "`afterstate eval` plays as many games as you like",
            )),
        }
    }

    fn on_board<const N: usize>(
        &self,
        model: &Model,
        search: PlayerSpec,
        threads: usize,
        as_json: bool,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let (rules, network) = (model.rules, model.afterstates("`--policy`")?);
        let optimum =
            self.regret.then(|| work::open::<N>(self.solution.as_deref(), rules, threads)).transpose()?;
        let boards = if self.canonical { Boards::Canonical } else { Boards::All };
        let settings =
            SolverSettings { rules, boards, until: Objective::Score, optimum: optimum.as_ref(), threads };
        let bar = work::bar::<N>("playing");
        let progress = |sum: u32| bar.set_position(sum.into());
        let evaluation = match search.is_greedy() {
            true => evaluate(&Greedy(network), &settings, progress),
            false => evaluate(&Searching { network, search, rules }, &settings, progress),
        };
        bar.finish_and_clear();
        let report = PolicyReport {
            model: &model.name,
            search: search.to_string(),
            evaluation: &evaluation,
            optimum: optimum.as_ref(),
            seconds: start.elapsed().as_secs_f64(),
        };
        if as_json { Ok(writeln!(out, "{}", report.json())?) } else { report.table(out) }
    }
}

/// The exact value of a model's play.
struct PolicyReport<'a, const N: usize> {
    model: &'a str,
    search: String,
    evaluation: &'a Evaluation<N>,
    optimum: Option<&'a Solution<N>>,
    seconds: f64,
}

impl<const N: usize> PolicyReport<'_, N> {
    fn json(&self) -> Value {
        let evaluation = self.evaluation;
        let mut object = json!({
            "model": self.model,
            "search": self.search,
            "board": format!("{N}x{N}"),
            "expected_score": evaluation.expected_score,
            "sd": evaluation.sd,
            "expected_moves": evaluation.expected_moves,
            "states": evaluation.states,
            "tiles": report::tiles_json(evaluation),
            "seconds": self.seconds,
        });
        if let Some((optimum, regret)) = self.optimum.zip(evaluation.regret.as_ref()) {
            object["optimum"] = json!(optimum.expected());
            object["share"] = json!(evaluation.expected_score / optimum.expected());
            object["regret"] = json!({
                "total": regret.total,
                "mistakes": regret.mistakes,
                "worst": regret.worst.iter().map(mistake_json).collect::<Vec<_>>(),
            });
        }
        object
    }

    fn table(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let evaluation = self.evaluation;
        writeln!(out, "{}, {}, {N}×{N}, all games", self.model, self.search)?;
        writeln!(out)?;
        writeln!(out, "score        mean {:.2}, sd {:.2}", evaluation.expected_score, evaluation.sd)?;
        writeln!(out, "moves        mean {:.2}", evaluation.expected_moves)?;
        writeln!(out, "states       {} that it can reach", thousands(evaluation.states))?;
        report::write_tiles(evaluation, out)?;
        if let Some((optimum, regret)) = self.optimum.zip(evaluation.regret.as_ref()) {
            let share = 100.0 * evaluation.expected_score / optimum.expected();
            writeln!(out, "optimum      {:.2}; this is {share:.2}% of it", optimum.expected())?;
            write_regret(regret, out)?;
        }
        Ok(writeln!(out, "time         {:.1} s", self.seconds)?)
    }
}

fn mistake_json<const N: usize>(mistake: &Mistake<N>) -> Value {
    json!({
        "board": mistake.state.to_string(),
        "played": mistake.played.name(),
        "best": mistake.best.name(),
        "regret": mistake.regret,
        "probability": mistake.probability,
        "loss": mistake.loss,
    })
}

fn write_regret<const N: usize>(regret: &Regret<N>, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "lost         {:.2}; {:.2}% of the moves are not the best",
        regret.total,
        100.0 * regret.mistakes
    )?;
    let mistakes = regret.worst.iter().take(DRAWN);
    for Mistake { state, played, best, regret, probability, loss } in mistakes {
        writeln!(out)?;
        write!(out, "{}", draw(&State::board(state), stdout().is_terminal()))?;
        writeln!(
            out,
            "{state}: {played} instead of {best} costs {regret:.1}, in {:.3}% of the games: {loss:.3} on average",
            100.0 * probability
        )?;
    }
    Ok(writeln!(out)?)
}
