//! `afterstate eval`.

mod compare;
mod merge;
mod milestones;
mod survive;
mod table;

use std::{
    io::{IsTerminal, Write, stderr},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use afterstate_cluster::{World, world};
use afterstate_dcnn::Device;
use afterstate_lab::{
    deal::{Dealer, Deck, Part},
    evaluate::{self, Games, KeptGames, KeptHeader, PlayOutcome, Share, Steps},
    log::LogError,
    model::{Kind, Model, Search},
    stats::{EvalReport, GameResult, Summary, Tally},
};
use afterstate_network::file::atomic::Target;
use afterstate_search::{Limit, PlayerSpec, Probing};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    Ranks, dcnn::no_device, endgame::open_tables, model::failure as file_failure, target, thread_count,
};
use crate::{
    cluster::deal,
    error::Failure,
    format::{counted, thousands, whole},
    signals::stop_signal,
};

/// Measure how well a network plays
///
/// The network plays numbered games. The result depends only on the model, the search, the seed and the number of
/// games, not on the number of threads (except for searches by time). ± is half the 95% confidence interval.
///
/// A search is a number of moves to look ahead (1ply is greedy play), a time for each move (10ms, 1s), a number of
/// evaluated boards for each move (20000nodes; adaptive or adaptive=NODES spends more of them on fuller boards), or
/// random. Options follow with a +: downgrade (tile-downgrading from 32768), downgrade=TILE, downgrade=TILE..SUM
/// (until the large tiles reach a sum), downgrade=TILE-once (a single step, as in guei-2021) or downgrade=off (by
/// default, as the model selects); shallow=CELLS (one ply less where this many cells are empty); prune=PROBABILITY
/// (branches less probable are not searched); fours=NUMBER (branches with more 4-tiles are not searched); deeper (the
/// table may answer with deeper searches); table=off or table=BITS.
///
/// With --part K/N it plays one of N equal parts of the games and keeps it in the file of --out; --merge puts all parts
/// together. See docs/cluster.md.
///
/// A DCNN plays by the majority vote of the eight symmetric boards, by the sum of their probabilities, or plainly by the
/// board as it is.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate eval runs/quick\n  \
    afterstate eval runs/quick --search 3ply --games 100 --out games.jsonl     goes on where it was\n  \
    afterstate eval runs/quick --search 1ply,2ply,3ply --games 1e3             the same games, paired\n  \
    afterstate eval --compare runs/a runs/b runs/c                             several models\n  \
    afterstate eval runs/a --collect positions.jsonl                           positions of the late game\n  \
    afterstate eval runs/b --from 16384 --positions positions.jsonl            how many reach 32768\n  \
    afterstate eval runs/a --games 10000 --part 3/16 --out part-3.jsonl        a sixteenth of the games\n  \
    afterstate eval --merge part-*.jsonl                                       all of them\n  \
    afterstate eval --milestones                                               when tiles are first made")]
pub(crate) struct Eval {
    /// The model file, or the directory of a run; without it, the built-in model
    model: Option<PathBuf>,
    /// How to look ahead: 1ply, 3ply, 10ms, 20000nodes, adaptive, random, with options; for a DCNN majority, plain or sum.
    /// Several, with commas between them, play the same games; with --compare one for all models or one for each [default:
    /// 1ply, and majority for a DCNN]
    #[arg(long, value_delimiter = ',')]
    search: Vec<String>,
    /// Downgrade tiles of 32768 and above: the same as +downgrade
    #[arg(long)]
    downgrade: bool,
    /// The number of games
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = crate::commands::numbers::parse_count)]
    games: u64,
    /// The seed of the games
    #[arg(long, value_name = "S", default_value_t = evaluate::SEED, value_parser = crate::commands::numbers::parse_number)]
    seed: u64,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Probe the endgame tables of this directory at the leaves of the search
    #[arg(long, value_name = "DIR")]
    endgame: Option<PathBuf>,
    /// Probe them only at the root of the search, for comparison
    #[arg(long, requires = "endgame")]
    endgame_root: bool,
    /// The device of a DCNN: cpu, or gpu in a program built with GPU support
    #[arg(long, default_value_t)]
    device: Device,
    /// Keep each game in this file: score, moves, the last board, and after how many moves each tile was first there. Games
    /// that it holds are not played again. With several players, FILE is a directory with a file for each, and is made
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    out: Option<PathBuf>,
    /// Play part K of N of the games
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with_all = ["compare", "from"])]
    part: Option<Part>,
    /// Put the files of all parts together, and print what one machine would have printed; the directories, where several
    /// searches have played
    #[arg(
        long, num_args = 1.., value_name = "FILE",
        conflicts_with_all = ["model", "search", "downgrade", "endgame", "out", "part", "compare", "from"]
    )]
    merge: Vec<PathBuf>,
    /// Let several models play the same games
    #[arg(long, num_args = 2.., value_name = "MODEL", conflicts_with_all = ["model", "from", "collect"])]
    compare: Vec<PathBuf>,
    /// Write the first positions of each step towards the goal to this file
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    collect: Option<PathBuf>,
    /// Report instead at which score and after how many moves each tile is first made
    #[arg(long, conflicts_with_all = ["out", "compare", "collect", "from"])]
    milestones: bool,
    /// Play from collected positions at this step, a sum of large tiles
    #[arg(long, value_name = "STEP", requires = "positions")]
    from: Option<u32>,
    /// Play until this step or the goal [default: the next step]
    #[arg(long, value_name = "STEP", requires = "from")]
    to: Option<u32>,
    /// The file of collected positions
    #[arg(long, value_name = "FILE", requires = "from")]
    positions: Option<PathBuf>,
    /// The tile that the steps of --collect and --from lead to [default: 65536]
    #[arg(long, value_name = "TILE")]
    goal: Option<u32>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Eval {
    /// How the ranks of `mpirun` share it.
    pub(crate) fn ranks(&self) -> Ranks {
        let elsewhere = "start it without mpirun";
        if self.milestones {
            return Ranks::None("the ranks of mpirun share games, and `--milestones` keeps none", elsewhere);
        }
        match self.from {
            Some(_) => Ranks::None("the ranks of mpirun share games, not positions of `--from`", elsewhere),
            None if self.merge.is_empty() => Ranks::All,
            None => Ranks::First,
        }
    }

    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        if !self.merge.is_empty() {
            return self.merge(out);
        }
        if self.goal.is_some() && self.collect.is_none() && self.from.is_none() {
            let message = "`--goal` is where the steps of --collect and --from lead, and neither is given";
            return Err(Failure::input(message, "leave it out"));
        }
        self.check_part()?;
        if !self.compare.is_empty() || self.search.len() > 1 {
            return self.compare(out);
        }
        let steps = Steps::to(self.goal()).map_err(|error| Failure::input(error, "leave --goal out"))?;
        let (model, search) = self.player(self.model.as_deref(), self.search.first())?;
        if let (Some(step), Some(positions)) = (self.from, &self.positions) {
            return self.survive(&model, search, steps, step, positions, out);
        }
        if self.milestones {
            return self.milestones(&model, search, out);
        }
        let collect = self.collect.as_ref().map(|_| steps);
        self.check(&model, search, collect)?;
        if let Some(world) = world().filter(|world| !world.is_first()) {
            return self.play_for_first(world, &model, search, collect);
        }
        let kept = self.out.as_deref().map(|path| self.kept(path, &model, search)).transpose()?;
        let target = |path| target::open(path, target::Kind::Positions);
        let target = self.collect.as_deref().map(target).transpose()?;
        let stop = stop_signal()?;
        let Played { outcome, seconds, whole } = self.play(&model, search, kept, collect, &stop)?;
        if let Some(target) = target.filter(|_| whole) {
            target
                .write(|file| evaluate::write_positions(file, outcome.positions.iter()))
                .map_err(file_failure)?;
        }
        let played = (&*model.name, &*model.search_name(search), self.seed);
        self.report(model.side(), played, &outcome, seconds, out)?;
        if whole { Ok(()) } else { Err(self.stopped(outcome.results.len() as u64)) }
    }

    fn goal(&self) -> u32 {
        self.goal.unwrap_or(65536)
    }

    /// The message if it was stopped, which follows the games so far.
    fn stopped(&self, games: u64) -> Failure {
        let message =
            format!("stopped: these are the first {} of {}", counted(games, "game"), thousands(self.games));
        let hint = match &self.out {
            Some(_) => "the same command continues with the kept games",
            None => "with `--out FILE` games are kept, and the same command continues with them",
        };
        Failure::stopped(message, hint)
    }

    /// Prints the result.
    fn report(
        &self,
        side: usize,
        (model, search, seed): (&str, &str, u64),
        outcome: &PlayOutcome,
        seconds: f64,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let summary = Summary::of(side, &outcome.results).ok_or_else(not_played)?;
        let report = EvalReport::new(model, search, seed, &summary, seconds);
        let report = EvalReport { move_ms: outcome.times.summary(), ..report };
        if self.json {
            return write_json(&report, out);
        }
        table::write(&report, &summary, out)
    }

    /// Rejects parts without any games.
    fn check_part(&self) -> Result<(), Failure> {
        match self.part {
            Some(part) if part.len(self.games) == 0 => Err(Failure::input(
                format!("part {part} of {} games has none of them", self.games),
                "divide them into at most as many parts as there are games",
            )),
            _ => Ok(()),
        }
    }

    /// A model and its search.
    fn player(&self, model: Option<&Path>, search: Option<&String>) -> Result<(Model, Search), Failure> {
        let model = Model::open(model)?;
        let is_dcnn = matches!(model.kind, Kind::Dcnn(..));
        if self.device != Device::Cpu && !is_dcnn {
            let message = format!("{} is {}, which plays on the CPU alone", model.name, model.kind.words());
            return Err(Failure::input(message, "leave out `--device`"));
        }
        if self.endgame.is_some() && !matches!(model.kind, Kind::Network(_)) {
            let message = format!("{} is {}, which asks no tables", model.name, model.kind.words());
            return Err(Failure::input(message, "leave out `--endgame`"));
        }
        let mut search = search.cloned();
        if self.downgrade && search.as_deref().is_some_and(|search| search.starts_with("random")) {
            let message = "random play does not look at boards, downgraded or not";
            return Err(Failure::input(message, "leave out `--downgrade`"));
        }
        if self.downgrade && matches!(model.kind, Kind::Network(_)) {
            let text = search.get_or_insert_with(|| "1ply".into());
            if !text.contains("+downgrade") {
                *text += "+downgrade";
            }
        }
        let search = model.search(search.as_deref(), Limit::Plies(1))?;
        let tables = self.endgame.as_deref().map(open_tables).transpose()?.flatten();
        let model = model.on(self.device).map_err(no_device)?.with_endgames(tables);
        let probing = if self.endgame_root { Probing::Root } else { Probing::Leaves };
        Ok((model.with_probing(probing), search))
    }

    /// The file in which games are kept.
    fn kept(&self, path: &Path, model: &Model, search: Search) -> Result<KeptGames, Failure> {
        let header = KeptHeader {
            model: model.name.clone(),
            checksum: model.checksum.clone(),
            search: model.search_name(search),
            seed: self.seed,
            collect: self.collect.as_ref().map(|_| self.goal()),
            share: self.part.map(|part| Share { part, games: self.games, side: model.side() }),
        };
        // Checked before anything is written, so that a wrong path is reported as such.
        Target::open(path).map(drop).map_err(file_failure)?;
        let (kept, repaired) = KeptGames::open(path, &header).map_err(keep_failure)?;
        if let Some(repaired) = repaired {
            let _ = writeln!(stderr(), "warning: {repaired}; damaged games are played again");
        }
        Ok(kept)
    }

    /// Plays the games, with the running mean on terminals; the seconds include earlier sessions.
    fn play(
        &self,
        model: &Model,
        search: Search,
        mut kept: Option<KeptGames>,
        collect: Option<Steps>,
        stop: &AtomicBool,
    ) -> Result<Played, Failure> {
        let threads = thread_count(self.threads);
        let before = kept.as_ref().map(|kept| kept.outcome(self.games)).unwrap_or_default();
        let played = before.results.iter().map(|result| result.game).collect();
        let part = self.part.unwrap_or(Part::WHOLE);
        let deck = Deck::part(part, self.games, played);
        let (rules, seed) = (model.rules, self.seed);
        let seconds_before = kept.as_ref().map_or(0.0, KeptGames::seconds);
        let (start, mut error) = (Instant::now(), None);
        let seconds = || seconds_before + start.elapsed().as_secs_f64();
        let mut progress = EvalProgress::new(part.len(self.games), &before.results);
        let (courses, mut seen) = (kept.is_some(), PlayOutcome::default());
        let watch = Mutex::new(|ended: &PlayOutcome| {
            progress.show(&ended.results);
            seen.add(ended);
            if error.is_none() {
                error = kept.as_mut().and_then(|kept| kept.add(ended, seconds()).err());
            }
            error.is_none() && !stop.load(Relaxed)
        });
        let watch_one = |ended: &PlayOutcome| (watch.lock().unwrap_or_else(PoisonError::into_inner))(ended);
        let play = |dealer: &dyn Dealer| {
            let games = Games { rules, seed, dealer };
            match courses {
                true => model.play_with_courses(search, games, threads, collect, watch_one),
                false => model.play(search, games, threads, collect, watch_one),
            }
        };
        let outcome = match world() {
            None => play(&deck),
            Some(world) => {
                let mut others = PlayOutcome::default();
                let hear = |ended: PlayOutcome| {
                    others.add(&ended);
                    watch_one(&ended)
                };
                let own = deal(world, &deck, hear, play, |_, _| Ok(None));
                own.map(|own| {
                    own.map(|mut own: PlayOutcome| {
                        own.add(&others);
                        own
                    })
                })
            }
        };
        progress.bar.finish_and_clear();
        if let Some(error) = error {
            return Err(keep_failure(error));
        }
        let outcome = outcome?;
        let whole = outcome.is_some();
        let mut outcome = outcome.unwrap_or(seen);
        outcome.add(&before);
        outcome.sort();
        if !whole {
            // Short games end first: all games up to the first missing one are an unbiased sample.
            let numbers = (0..self.games).filter(|&game| part.holds(game));
            let first =
                numbers.zip(&outcome.results).take_while(|(game, result)| result.game == *game).count();
            outcome.results.truncate(first);
        }
        Ok(Played { outcome, seconds: seconds(), whole })
    }
}

/// The games of an evaluation.
struct Played {
    outcome: PlayOutcome,
    seconds: f64,
    /// Whether these are all games; otherwise it was stopped, and these are the first ones.
    whole: bool,
}

impl Eval {
    /// Rejects what the model does not support.
    fn check(&self, model: &Model, search: Search, collect: Option<Steps>) -> Result<(), Failure> {
        if let Some(spec) = search.spec() {
            check_search(&spec, thread_count(self.threads))?;
            if !spec.is_greedy() && spec.search.is_some() {
                model.afterstates("a search")?;
            }
        }
        if collect.is_some() {
            model.afterstates("`--collect`")?;
        }
        Ok(())
    }

    /// Plays games for the first rank, which keeps them.
    fn play_for_first(
        &self,
        world: &World,
        model: &Model,
        search: Search,
        collect: Option<Steps>,
    ) -> Result<(), Failure> {
        let (rules, seed, threads) = (model.rules, self.seed, thread_count(self.threads));
        let follow = |dealer: &dyn Dealer, tell: &dyn Fn(PlayOutcome) -> bool| {
            let watch = |ended: &PlayOutcome| ended.results.is_empty() || tell(ended.clone());
            let games = Games { rules, seed, dealer };
            // The first rank records what the file of `--out` holds.
            match self.out {
                Some(_) => model.play_with_courses(search, games, threads, collect, watch).map(drop),
                None => model.play(search, games, threads, collect, watch).map(drop),
            }
        };
        Ok(deal(world, &Deck::new(0), |_| true, |_| Ok(()), follow)?)
    }
}

/// The running result, on a terminal.
struct EvalProgress {
    bar: ProgressBar,
    ended: Tally,
}

impl EvalProgress {
    fn new(games: u64, before: &[GameResult]) -> Self {
        let mut progress = EvalProgress { bar: bar(games), ended: Tally::default() };
        progress.show(before);
        // The remaining time is estimated from the games of this session.
        progress.bar.reset_eta();
        progress
    }

    fn show(&mut self, finished: &[GameResult]) {
        self.ended.extend(finished.iter().copied());
        self.bar.set_position(self.ended.games());
        let mean = whole(self.ended.mean_score().unwrap_or_default());
        self.bar.set_message(format!("mean so far {mean}"));
    }
}

/// A progress bar on terminals, hidden elsewhere.
pub(super) fn bar(games: u64) -> ProgressBar {
    let target =
        if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(games), target);
    let style = ProgressStyle::with_template("{bar:40.cyan} {pos} of {len} games  {eta} left  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━━─"));
    bar
}

/// Parses a search.
pub(super) fn parse_search(text: &str) -> Result<PlayerSpec, Failure> {
    text.parse().map_err(|error| Failure::input(error, "`afterstate eval --help` explains searches"))
}

fn not_played() -> Failure {
    Failure::stopped("stopped before the first game was over", "with `--out FILE` games are kept")
}

/// Rejects a search whose tables do not fit into memory, before they are allocated.
pub(super) fn check_search(search: &PlayerSpec, threads: usize) -> Result<(), Failure> {
    let hint = "give a smaller `+table=BITS`, or fewer `--threads`";
    search.check_fits(threads).map_err(|error| Failure::input(error, hint))
}

/// A file of another kind is left unchanged; an error while writing is not the user's fault.
fn keep_failure(error: LogError) -> Failure {
    match error {
        LogError::Io { .. } | LogError::File(_) => Failure::other(
            error,
            "is there room on the disk, and may you write there? The games before are kept",
        ),
        _ => Failure::input(error, "give another file with `--out`"),
    }
}

fn write_json(value: &impl serde::Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    Ok(writeln!(out, "{}", serde_json::to_string(value).map_err(std::io::Error::from)?)?)
}
