//! `afterstate review`.

use std::{
    fs::File,
    io::{self, Read, Write, stdin},
    path::{Path, PathBuf},
};

use afterstate_game::draw;
use afterstate_lab::{
    model::{Model, ModelError, built_in},
    review::{self, AnyGame, Format, Grade, Judged, Played, Regret, Summary},
};
use afterstate_search::{Advice, Limit};
use clap::Args;
use serde_json::{Map, json};

use super::{
    endgame::{open_tables, table_failure},
    thread_count,
};
use crate::{
    error::Failure,
    format::{bytes, counted, thousands},
};

/// The maximum length of a game: longer than any ever played.
const MOST_MOVES: usize = 1_000_000;
/// Space for as many moves in the most verbose format.
const MOST_BYTES: u64 = 1 << 27;

/// The number of worst moves shown.
const WORST: usize = 10;

/// Judge the moves of a game
///
/// Each move is judged by the chance of reaching the next large tile in this game, compared with the chance after the
/// best move. The accuracy compares what the moves of the game lost with what random moves would have lost in its
/// positions: 100% is the best play, 0% is random play. docs/review.md explains where the chances come from,
/// docs/api.md how games can be written: a record of this program, boards with moves, moves with tiles, or a replay of
/// 2048verse.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate review game.txt\n  \
    afterstate review game.txt --search 4ply --json\n  \
    printf 'afterstate game 1 42 4\\nlddu' | afterstate review -")]
pub(crate) struct Review {
    /// The file of the game; - for the standard input
    game: PathBuf,
    /// The model file, or the directory of a run; without it, the built-in model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// How to look ahead, as for `afterstate eval`
    #[arg(long, default_value = "3ply")]
    search: String,
    /// Judge moves in endgames by the exact chances of the tables of this directory
    #[arg(long, value_name = "DIR")]
    endgame: Option<PathBuf>,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print one JSON object instead, with all moves
    #[arg(long)]
    json: bool,
}

/// A move with its evaluation.
struct Entry<const N: usize> {
    played: Played<N>,
    advice: Advice,
    judged: Judged,
}

impl Review {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let text = self.text()?;
        let (format, game) =
            review::parse(&text, MOST_MOVES).map_err(|error| Failure::input(&error, error.hint()))?;
        let endgames = self.endgame.as_deref().map(open_tables).transpose()?.flatten();
        let side = match game {
            AnyGame::Four(_) => 4,
            AnyGame::Three(_) => 3,
            AnyGame::Two(_) => 2,
        };
        let model = Model::open(self.model.as_deref().or_else(|| built_in(side)))?.with_endgames(endgames);
        if let Err(error @ ModelError::NoNetwork { .. }) = model.network("a review") {
            return Err(Failure::input(error, "give an n-tuple network, or leave --model out"));
        }
        model.afterstates("`review`")?;
        match game {
            AnyGame::Four(played) => self.review(&model, format, played, out),
            AnyGame::Three(played) => self.review(&model, format, played, out),
            AnyGame::Two(played) => self.review(&model, format, played, out),
        }
    }

    fn text(&self) -> Result<String, Failure> {
        let read = || {
            let mut text = String::new();
            let most = MOST_BYTES + 1;
            if self.game == Path::new("-") {
                stdin().take(most).read_to_string(&mut text)?;
            } else {
                File::open(&self.game)?.take(most).read_to_string(&mut text)?;
            }
            if text.len() as u64 > MOST_BYTES {
                let message = format!("it has more than {}", bytes(MOST_BYTES));
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
            }
            Ok(text)
        };
        read().map_err(|error| {
            let message = format!("cannot read {}: {error}", self.game.display());
            Failure::input(message, "give a text file with a game, or - for the standard input")
        })
    }

    fn review<const N: usize>(
        &self,
        model: &Model,
        format: Format,
        game: Vec<Played<N>>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if model.side() != N {
            let side = model.side();
            let message = format!("the game is on {N}×{N}, but the model plays on {side}×{side}");
            return Err(Failure::input(message, "give a game or a model that fits the other"));
        }
        let search = model.search(Some(&self.search), Limit::Plies(3))?;
        let mut player = model.player::<N>(search, thread_count(self.threads))?;
        let reference = model.reference();
        let (mut summary, mut entries) = (Summary::default(), Vec::new());
        for played in game {
            let advice = player.advise(played.state);
            let exact = model.endgames(played.state).map_err(table_failure)?;
            let judged = review::judge(played.state, played.a, &advice, reference);
            let judged = judged.with_regret(Regret::of(&exact, played.a));
            summary.add(&judged);
            entries.push(Entry { played, advice, judged });
        }
        let report =
            Report { format, model: &model.name, search: model.search_name(search), summary, entries };
        if self.json { report.json(out) } else { report.text(out) }
    }
}

/// The report on a game.
struct Report<'a, const N: usize> {
    format: Format,
    model: &'a str,
    search: String,
    summary: Summary,
    entries: Vec<Entry<N>>,
}

impl<const N: usize> Report<'_, N> {
    fn score(&self) -> u64 {
        let reward =
            |entry: &Entry<N>| entry.played.state.slide(entry.played.a).map_or(0, |slide| slide.reward);
        self.entries.iter().map(|entry| u64::from(reward(entry))).sum()
    }

    fn json(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let entry = |Entry { played, advice, judged }: &Entry<N>| {
            let mut entry = json!(advice);
            entry["board"] = json!(played.state.to_string());
            entry["played"] = json!(played.a.name());
            entry["loss"] = json!(judged.loss);
            entry["chance"] = json!(judged.chance);
            entry["kept"] = json!(judged.kept);
            entry["lost"] = json!(judged.lost);
            entry["grade"] = json!(judged.grade);
            entry["endgame"] = json!(judged.regret);
            entry
        };
        let grades: Map<_, _> = Grade::ALL
            .iter()
            .map(|grade| (grade.name().to_owned(), json!(self.summary.grades[*grade as usize])))
            .collect();
        let review = json!({
            "side": N,
            "format": self.format.name(),
            "model": self.model,
            "search": self.search,
            "accuracy": self.summary.accuracy.percent(),
            "score": self.score(),
            "grades": grades,
            "exact_moves": self.summary.exact_moves,
            "regret": self.summary.regret,
            "worst": self.summary.worst(WORST),
            "moves": self.entries.iter().map(entry).collect::<Vec<_>>(),
        });
        Ok(writeln!(out, "{review}")?)
    }

    fn text(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let (moves, score) = (counted(self.entries.len() as u64, "move"), counted(self.score(), "point"));
        writeln!(out, "{moves}, {score}, judged by {} at {}", self.model, self.search)?;
        match self.summary.accuracy.percent() {
            Some(accuracy) => writeln!(
                out,
                "accuracy {accuracy:.1}%: of the chances of the next large tile that moves at random would have lost here, these moves lost {:.1}%",
                100.0 - accuracy
            )?,
            None => writeln!(out, "accuracy is known for games of some ten moves and more on 4×4")?,
        }
        for grade in Grade::ALL {
            writeln!(out, "{:<11} {:>7}", grade.name(), thousands(self.summary.grades[grade as usize]))?;
        }
        if self.summary.exact_moves > 0 {
            let (moves, lost) = (counted(self.summary.exact_moves, "move"), 100.0 * self.summary.regret);
            writeln!(out, "{moves} in solved endgames lost {lost:.1}% of their chances in all")?;
        }
        for number in self.summary.worst(WORST) {
            self.write_move(number, out)?;
        }
        Ok(())
    }

    fn write_move(&self, number: usize, out: &mut dyn Write) -> Result<(), Failure> {
        let Entry { played, advice, judged } = &self.entries[number];
        let (Some(best), a) = (advice.best(), played.a) else { return Ok(()) };
        writeln!(out, "\nmove {}, {}: {a} instead of {best}", number + 1, judged.grade.name())?;
        writeln!(out, "{}", draw(&played.state.board(), false))?;
        let percent = |chance: Option<f64>| format!("{:.1}%", 100.0 * chance.unwrap_or_default());
        if let Some(Regret { endgame, best, made, .. }) = &judged.regret {
            let [made, best] = [*made, *best].map(|chance| percent(Some(chance)));
            return Ok(writeln!(out, "{endgame}: {made} with {a}, {best} with the best move")?);
        }
        match &judged.chance {
            Some(chance) => {
                let [with, without] = [a, best].map(|a| percent(chance.moves[a as usize]));
                writeln!(
                    out,
                    "chance of a {} in this game: {with} with {a}, {without} with {best}",
                    chance.tile
                )?;
            }
            None => writeln!(out, "{best} is worth {:.0} points more", judged.loss)?,
        }
        Ok(())
    }
}
