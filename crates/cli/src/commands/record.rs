//! `afterstate record`.

use std::{
    io::{Write, stderr},
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use afterstate_cluster::{World, world};
use afterstate_game::Rules;
use afterstate_lab::{
    deal::{Deck, Part},
    model::Model,
    records::{About, RecordError, Recorder, verify},
    stats::{GameResult, Tally},
};
use afterstate_search::{Limit, Player};
use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    Ranks,
    endgame::open_tables,
    eval::{bar, check_search},
    thread_count,
};
use crate::{
    cluster::deal,
    error::Failure,
    format::{counted, thousands, whole},
    signals::stop_signal,
};

/// Record games of a strong player, for networks to learn from
///
/// Every move becomes a row of a Parquet file: game, ply, board, move, reward, spawn_cell, spawn_tile, score_to_end.
/// Each file holds twenty games and is written when they are over. After an interruption the same command continues.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  \
    afterstate record --model runs/quick --search 3ply --games 500 --out records\n  \
    afterstate record --model runs/quick --games 5000 --part 3/16               a sixteenth of the files\n  \
    afterstate record verify records\n  \
    afterstate dcnn train --records records --out runs/dcnn-5"
)]
pub(crate) struct Record {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    recording: Recording,
}

#[derive(Subcommand)]
enum Action {
    Verify(Verify),
}

/// Replay every record against the rules
#[derive(Args)]
struct Verify {
    /// The directory of the records, or one file
    records: PathBuf,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Recording {
    /// The model file, or the directory of a run
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Probe the endgame tables of this directory at the leaves of the search
    #[arg(long, value_name = "DIR")]
    endgame: Option<PathBuf>,
    /// How to look ahead, as for `afterstate eval`
    #[arg(long, default_value = "3ply")]
    search: String,
    /// The number of games in all
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = crate::commands::numbers::parse_count)]
    games: u64,
    /// The directory of the records; it is made, with those above it
    #[arg(long, value_name = "DIR", default_value = "records")]
    out: PathBuf,
    /// The seed of the games; it should not be that of evaluations
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = crate::commands::numbers::parse_number)]
    seed: u64,
    /// Record part K of N of the files; all parts can share the directory
    #[arg(long, value_name = "K/N")]
    part: Option<Part>,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Record {
    /// How the ranks of `mpirun` share it.
    pub(crate) fn ranks(&self) -> Ranks {
        if self.action.is_some() { Ranks::First } else { Ranks::All }
    }

    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        match self.action {
            Some(Action::Verify(verify)) => verify.run(out),
            None => self.recording.run(out),
        }
    }
}

impl Verify {
    fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let verified = verify(&self.records, |_| ()).map_err(failure)?;
        if self.json {
            let (files, games, moves) = (verified.shards, verified.games, verified.moves);
            return Ok(writeln!(out, "{}", json!({ "files": files, "games": games, "moves": moves }))?);
        }
        let (games, moves) = (counted(verified.games, "game"), counted(verified.moves, "move"));
        let files = counted(verified.shards, "file");
        Ok(writeln!(out, "{files}, {games}, {moves}: all follow the rules")?)
    }
}

impl Recording {
    fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let endgames = self.endgame.as_deref().map(open_tables).transpose()?.flatten();
        let model = Model::open(self.model.as_deref())?.with_endgames(endgames);
        let search = model.search(Some(&self.search), Limit::Plies(1))?;
        let view = model.afterstates("`record`")?.view();
        if model.side() != 4 {
            return Err(Failure::input("records are of games on 4×4", "give a model that plays on 4×4"));
        }
        let Rules { four, start_tiles } = model.rules;
        let about = About {
            model: model.name.clone(),
            checksum: model.checksum.clone(),
            search: model.search_name(search),
            seed: self.seed,
            four,
            start_tiles,
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let threads = thread_count(self.threads);
        let Some(spec) = search.spec() else { return Ok(()) };
        check_search(&spec, threads)?;
        let part = self.part.unwrap_or(Part::WHOLE);
        let recorder = Recorder { directory: &self.out, about, games: self.games, part, threads };
        let games = recorder.total();
        let player = |stop: &Arc<AtomicBool>| {
            spec.player_with::<4>(view, model.rules, 1, |search| {
                search.with_endgames(model.endgames.as_ref()).with_stop(stop.clone())
            })
        };
        let (stop, progress, ended) = (stop_signal()?, bar(games), Mutex::new(Tally::default()));
        let watch = |games: u64, result: Option<GameResult>| {
            progress.inc(games);
            if result.is_none() && games > 0 {
                // Games of earlier sessions are irrelevant for the remaining time.
                progress.reset_eta();
            }
            if let Some(result) = result {
                let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                ended.add(&result);
                let mean = whole(ended.mean_score().unwrap_or_default());
                progress.set_message(format!("mean so far {mean}"));
            }
            !stop.load(Relaxed)
        };
        let all = match world() {
            None => recorder.record(player, watch),
            Some(world) => record_together(world, &recorder, player, watch),
        };
        let ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        progress.finish_and_clear();
        let place = self.out.display();
        let finished = all.map_err(failure)?;
        if self.json {
            let (played, mean) = (ended.games(), ended.mean_score());
            let answer = json!({
                "records": self.out, "games": games, "finished": finished, "played_now": played, "mean_now": mean,
            });
            return Ok(writeln!(out, "{answer}")?);
        }
        if finished {
            let mean = ended.mean_score().map(|mean| format!(", mean score {} now", whole(mean)));
            let which = self.part.map(|part| format!(", part {part} of {}", thousands(self.games)));
            let (which, mean) = (which.unwrap_or_default(), mean.unwrap_or_default());
            writeln!(out, "{} in {place}{which}{mean}", counted(games, "game"))?;
            if self.part.is_none() {
                writeln!(out, "next: afterstate dcnn train --records {place}")?;
            }
            return Ok(());
        }
        // The work is incomplete, but this is not an error: the user stopped it.
        let _ = writeln!(stderr(), "stopped; the same command continues with the finished files");
        Ok(())
    }
}

/// Records together with the other ranks; the first rank assigns the files.
fn record_together<P: Player<4>>(
    world: &World,
    recorder: &Recorder<'_>,
    player: impl Fn(&Arc<AtomicBool>) -> P + Sync,
    watch: impl Fn(u64, Option<GameResult>) -> bool + Sync,
) -> Result<bool, RecordError> {
    let (there, missing) = if world.is_first() { recorder.missing()? } else { (0, Deck::new(0)) };
    watch(there, None);
    let (player, watch) = (&player, &watch);
    deal(
        world,
        &missing,
        |result: GameResult| watch(1, Some(result)),
        |dealer| recorder.record_dealt(dealer, player, watch),
        |dealer, tell| recorder.record_dealt(dealer, player, |_, result| result.is_none_or(tell)),
    )
}

/// An error of records, for the user.
pub(super) fn failure(error: RecordError) -> Failure {
    match error {
        RecordError::Write(error) => super::model::failure(error),
        RecordError::Empty(_) => {
            Failure::input(error, "`afterstate record --out DIR` makes some, and DIR is what to give here")
        }
        RecordError::Other { .. } => Failure::input(error, "give another directory with `--out`"),
        RecordError::Directory { .. } => Failure::input(error, "is it the right path, and may you use it?"),
        _ => Failure::input(error, "the file is damaged, or was not made by `afterstate record`: remove it"),
    }
}
