//! Several players on the same games.

use std::{io::Write, path::Path};

use afterstate_cluster::world;
use afterstate_lab::{
    evaluate::{self, KeptHeader, Merged, PlayOutcome},
    stats::{EvalReport, GameResult, Paired, Summary, holm},
};
use afterstate_network::file::atomic::Target;
use serde_json::{Value, json};

use super::{Eval, file_failure, merge::failure as merge_failure, not_played, write_json};
use crate::{
    error::Failure,
    format::{counted, mean, percent, plus_minus, whole},
    signals::stop_signal,
};

/// A player and its games.
struct Entry {
    report: EvalReport,
    results: Vec<GameResult>,
    /// The share of games that reach each tile, from the summary.
    summary: Summary,
}

/// The comparison of two players on the same games.
struct Difference {
    players: [usize; 2],
    paired: Paired,
    significant: bool,
}

/// A model and a search as given by the user; `None` for the defaults.
type Named<'a> = (Option<&'a Path>, Option<&'a String>);

impl Eval {
    /// Lets several models, or one model with several searches, play the same games.
    pub(super) fn compare(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let players = self.players()?;
        let others = world().filter(|world| !world.is_first());
        if let Some(directory) = self.out.as_ref().filter(|_| others.is_none()) {
            std::fs::create_dir_all(directory).map_err(|error| {
                let message = format!("cannot make the directory {}: {error}", directory.display());
                Failure::input(message, "several players keep their games in a directory, a file for each")
            })?;
        }
        let kept_in =
            |i: usize| self.out.as_ref().map(|directory| directory.join(format!("{}.jsonl", letter(i))));
        for path in (0..players.len()).filter_map(kept_in).filter(|_| others.is_none()) {
            Target::open(&path).map(drop).map_err(file_failure)?;
        }
        let stop = stop_signal()?;
        let (mut entries, mut side, mut all): (Vec<Entry>, _, _) = (Vec::new(), None, true);
        for (i, (path, search)) in players.iter().enumerate() {
            // One after the other, so that only one of them is in memory.
            let (model, search) = self.player(*path, *search)?;
            self.check(&model, search, None)?;
            check_side(&mut side, (&model.name, model.side()))?;
            if let Some(world) = others {
                self.play_for_first(world, &model, search, None)?;
                if has_ended(false) {
                    return Ok(());
                }
                continue;
            }
            let kept = kept_in(i);
            let kept = kept.as_deref().map(|path| self.kept(path, &model, search)).transpose()?;
            let played = self.play(&model, search, kept, None, &stop)?;
            all &= played.whole;
            let player = (&*model.name, &*model.search_name(search), self.seed);
            entries.push(Entry::new(player, model.side(), played.outcome, played.seconds)?);
            if has_ended(!all) {
                break;
            }
        }
        if others.is_some() {
            return Ok(());
        }
        // After an interruption, the last player has fewer games: all are compared on those.
        let games = entries.iter().map(|entry| entry.results.len()).min().unwrap_or_default();
        entries.iter_mut().for_each(|entry| entry.results.truncate(games));
        self.report_all(&entries, out)?;
        if all { Ok(()) } else { Err(self.stopped(games as u64)) }
    }

    /// Merges the parts of several players: directories that each hold a file for every player.
    pub(super) fn merge_several(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let hint = "give the directories of `--out` of all parts of one evaluation, and no others";
        if self.collect.is_some() {
            let message = "the parts of several players have collected no positions";
            return Err(Failure::input(message, "leave out `--collect`"));
        }
        let (mut entries, mut side): (Vec<Entry>, _) = (Vec::new(), None);
        for name in self.names(hint)? {
            let files: Vec<_> = self.merge.iter().map(|directory| directory.join(&name)).collect();
            let Merged { header, side: of_player, outcome, seconds } =
                evaluate::merge(&files).map_err(merge_failure)?;
            let KeptHeader { model, search, seed, .. } = &header;
            check_side(&mut side, (model, of_player))?;
            let entry = Entry::new((model, search, *seed), of_player, outcome, seconds)?;
            let what = |entry: &Entry| (entry.report.seed, entry.results.len());
            if let Some(first) = entries.first().filter(|first| what(first) != what(&entry)) {
                let [(seed, games), (other_seed, others)] = [what(&entry), what(first)];
                let message = format!(
                    "the files {name} hold {games} games of seed {seed}, and those before {others} of seed {other_seed}"
                );
                return Err(Failure::input(message, hint));
            }
            entries.push(entry);
        }
        self.report_all(&entries, out)
    }

    /// The files of players, which must be the same in all merged directories.
    fn names(&self, hint: &str) -> Result<Vec<String>, Failure> {
        let mut all: Option<(&Path, Vec<String>)> = None;
        for path in &self.merge {
            let unreadable = |error: std::io::Error| {
                Failure::input(format!("cannot read the directory {}: {error}", path.display()), hint)
            };
            let mut names = Vec::new();
            for entry in std::fs::read_dir(path).map_err(unreadable)? {
                let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
                // Other files, such as a damaged one kept aside, do not belong to players.
                if name.strip_suffix(".jsonl").is_some_and(|name| name.len() == 1) {
                    names.push(name);
                }
            }
            names.sort();
            let (first, expected) = all.get_or_insert_with(|| (path.as_path(), names.clone()));
            if names.len() < 2 || names != *expected {
                let list = |names: &[String]| if names.is_empty() { "none".into() } else { names.join(", ") };
                let (place, found) = (path.display(), list(&names));
                let message = match names == *expected {
                    true => format!("{place} holds no games of several players"),
                    false => format!(
                        "the files of players in {place} are {found}, in {} {}",
                        first.display(),
                        list(expected)
                    ),
                };
                return Err(Failure::input(message, hint));
            }
        }
        Ok(all.map(|(_, names)| names).unwrap_or_default())
    }

    fn report_all(&self, entries: &[Entry], out: &mut dyn Write) -> Result<(), Failure> {
        let differences = differences(entries).ok_or_else(not_played)?;
        match self.json {
            true => write_json(&as_json(entries, &differences), out),
            false => write(entries, &differences, out),
        }
    }

    /// The players: the models with one search for all or one for each, or one model with every search.
    fn players(&self) -> Result<Vec<Named<'_>>, Failure> {
        if self.compare.is_empty() {
            return Ok(self.search.iter().map(|search| (self.model.as_deref(), Some(search))).collect());
        }
        let models = self.compare.iter().map(|path| Some(path.as_path()));
        match &self.search[..] {
            [] => Ok(models.map(|model| (model, None)).collect()),
            [all] => Ok(models.map(|model| (model, Some(all))).collect()),
            each if each.len() == self.compare.len() => Ok(models.zip(each.iter().map(Some)).collect()),
            other => {
                let message = format!("{} for {}", counted(other.len() as u64, "search"), self.compare.len());
                Err(Failure::input(message + " models", "give one for all, or one for each"))
            }
        }
    }
}

/// Whether all ranks of `mpirun` stop here, because one of them says so. They synchronize: none requests games of the
/// next player while the first rank still deals out those of the current one.
fn has_ended(says_so: bool) -> bool {
    let mut word = [u64::from(says_so)];
    world().inspect(|world| world.all_or(&mut word));
    word[0] != 0
}

impl Entry {
    fn new(
        (model, search, seed): (&str, &str, u64),
        side: usize,
        outcome: PlayOutcome,
        seconds: f64,
    ) -> Result<Entry, Failure> {
        let summary = Summary::of(side, &outcome.results).ok_or_else(not_played)?;
        let report = EvalReport::new(model, search, seed, &summary, seconds);
        let report = EvalReport { move_ms: outcome.times.summary(), ..report };
        Ok(Entry { report, results: outcome.results, summary })
    }
}

fn write(entries: &[Entry], differences: &[Difference], out: &mut dyn Write) -> Result<(), Failure> {
    let first = &entries[0];
    writeln!(out, "{}, seed {}\n", counted(first.results.len() as u64, "game"), first.report.seed)?;
    let means: Vec<_> = entries.iter().map(|entry| mean(&entry.report.score)).collect();
    let width = means.iter().map(|mean| mean.chars().count()).max().unwrap_or_default();
    for (i, (entry, mean)) in entries.iter().zip(&means).enumerate() {
        let EvalReport { model, search, .. } = &entry.report;
        let tile = entry.summary.tiles.iter().rfind(|tile| tile.count > 0);
        let tile =
            tile.map(|tile| format!(", {} in {}", tile.face(), percent(tile.share()))).unwrap_or_default();
        writeln!(out, "{}      {mean:>width$}   {model}, {search}{tile}", letter(i))?;
    }
    for difference in differences {
        let [a, b] = difference.players.map(letter);
        let Paired { mean, ci95, .. } = difference.paired;
        writeln!(out, "{b} − {a}  {}{}", whole(mean), plus_minus(ci95))?;
        writeln!(out, "       {}", difference.wins())?;
    }
    differences.iter().try_for_each(|difference| Ok(writeln!(out, "{}", difference.sentence())?))
}

impl Difference {
    /// The share of games in which one of the two has the higher score.
    fn wins(&self) -> String {
        let [a, b] = self.players.map(letter);
        let Paired { better, ties, .. } = self.paired;
        if ties == 1.0 {
            return format!("{a} and {b} have the same score in every game");
        }
        // Ties count half in `better`.
        let wins = percent(better - ties / 2.0);
        let tied = if ties > 0.0 { format!(", and the same in {}", percent(ties)) } else { String::new() };
        format!("{b} has the higher score in {wins} of the games{tied}")
    }

    /// The conclusion in plain words.
    fn sentence(&self) -> String {
        let [a, b] = self.players.map(letter);
        let Paired { mean, games, ties, .. } = self.paired;
        if ties == 1.0 {
            let games = counted(games, "game");
            return format!("{a} and {b} tie in all of {games}: they seem to play alike.");
        }
        if self.significant {
            let (better, worse) = if mean > 0.0 { (b, a) } else { (a, b) };
            let by = whole(mean.abs()) + &plus_minus(self.paired.ci95);
            return format!(
                "{better} is better than {worse}, by {by} points a game: chance alone rarely does that."
            );
        }
        let needed = match self.paired.games_needed().filter(|needed| *needed > games) {
            Some(needed) => format!(" About {} would tell, if it is real.", counted(round(needed), "game")),
            None => String::new(),
        };
        let games = counted(games, "game");
        format!("{a} and {b} cannot be told apart by {games}: the difference may be chance.{needed}")
    }
}

/// Rounds to two digits, which are as many as are significant.
fn round(number: u64) -> u64 {
    let unit = 10u64.pow(number.checked_ilog10().unwrap_or_default().saturating_sub(1));
    number.div_ceil(unit) * unit
}

fn letter(player: usize) -> char {
    char::from(b'A' + (player % 26) as u8)
}

/// Rejects players of different boards, whose scores are not comparable.
fn check_side(side: &mut Option<usize>, (name, this): (&str, usize)) -> Result<(), Failure> {
    let first = *side.get_or_insert(this);
    if this == first {
        return Ok(());
    }
    let message = format!("{name} plays on {this}×{this}, and the model before it on {first}×{first}");
    Err(Failure::input(message, "compare models of one board"))
}

/// All pairs of players; significance is decided jointly for all of them.
fn differences(entries: &[Entry]) -> Option<Vec<Difference>> {
    let pairs = (0..entries.len()).flat_map(|a| (a + 1..entries.len()).map(move |b| [a, b]));
    let paired = |players: [usize; 2]| {
        let [a, b] = players.map(|i| &entries[i].results);
        Some(Difference { players, paired: Paired::of(a, b)?, significant: false })
    };
    let mut differences: Vec<_> = pairs.map(paired).collect::<Option<_>>()?;
    let p_values: Vec<_> = differences.iter().map(|difference| difference.paired.p.unwrap_or(1.0)).collect();
    for (difference, significant) in differences.iter_mut().zip(holm(&p_values)) {
        difference.significant = significant;
    }
    Some(differences)
}

fn as_json(entries: &[Entry], differences: &[Difference]) -> Value {
    let reports: Vec<_> = entries.iter().map(|entry| &entry.report).collect();
    let difference = |difference: &Difference| {
        let mut object = json!(difference.paired);
        object["players"] = json!(difference.players);
        object["significant"] = difference.significant.into();
        object
    };
    let differences: Vec<_> = differences.iter().map(difference).collect();
    match &reports[..] {
        [a, b] => {
            json!({ "a": a, "b": b, "difference": differences[0], "players": reports, "differences": differences })
        }
        _ => json!({ "players": reports, "differences": differences }),
    }
}
