//! Several players in the same games.

use std::{io::Write, path::Path};

use afterstate_lab::{
    model::{Model, Search},
    stats::{EvalReport, GameResult, Paired, Summary, holm},
};
use afterstate_network::file::atomic::Target;
use serde_json::{Value, json};

use super::{Eval, Played, file_failure, not_played, write_json};
use crate::{
    error::Failure,
    format::{counted, mean, percent, plus_minus, whole},
    signals::stop_signal,
};

/// A player and its games.
struct Entry {
    report: EvalReport,
    results: Vec<GameResult>,
    /// The share of games with each tile, from the summary.
    summary: Summary,
}

/// Two players in the same games.
struct Difference {
    players: [usize; 2],
    paired: Paired,
    significant: bool,
}

/// A model and a search, as the user named them; none for the usual ones.
type Named<'a> = (Option<&'a Path>, Option<&'a String>);

impl Eval {
    /// Lets several models, or one model with several searches, play the same games.
    pub(super) fn compare(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let players = self.players()?;
        if let Some(directory) = &self.out {
            std::fs::create_dir_all(directory).map_err(|error| {
                let message = format!("cannot make the directory {}: {error}", directory.display());
                Failure::input(message, "several players keep their games in a directory, a file for each")
            })?;
        }
        let kept_in =
            |i: usize| self.out.as_ref().map(|directory| directory.join(format!("{}.jsonl", letter(i))));
        for path in (0..players.len()).filter_map(kept_in) {
            Target::open(&path).map(drop).map_err(file_failure)?;
        }
        let stop = stop_signal()?;
        let (mut entries, mut side, mut all): (Vec<Entry>, _, _) = (Vec::new(), None, true);
        for (i, (path, search)) in players.iter().enumerate() {
            // One after the other, so that only one of them is in memory.
            let (model, search) = self.player(*path, *search)?;
            self.check(&model, search, None)?;
            check_side(&mut side, &model)?;
            let kept = kept_in(i);
            let kept = kept.as_deref().map(|path| self.kept(path, &model, search)).transpose()?;
            let played = self.play(&model, search, kept, None, &stop)?;
            all &= played.whole;
            entries.push(self.entry(&model, search, played)?);
            if !all {
                break;
            }
        }
        // Whoever was stopped has played fewer games: all are compared by those.
        let games = entries.iter().map(|entry| entry.results.len()).min().unwrap_or_default();
        entries.iter_mut().for_each(|entry| entry.results.truncate(games));
        let differences = differences(&entries).ok_or_else(not_played)?;
        if self.json {
            write_json(&as_json(&entries, &differences), out)?;
        } else {
            self.write(&entries, &differences, out)?;
        }
        if all { Ok(()) } else { Err(self.stopped(games as u64)) }
    }

    /// Who plays, and how: the models with one search for all or one for each, or one model with every search.
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

    fn entry(&self, model: &Model, search: Search, played: Played) -> Result<Entry, Failure> {
        let Played { outcome, seconds, .. } = played;
        let summary = Summary::of(model.side(), &outcome.results).ok_or_else(not_played)?;
        let search = model.search_name(search);
        let report = EvalReport::new(&model.name, &search, self.seed, &summary, seconds);
        let report = EvalReport { move_ms: outcome.times.summary(), ..report };
        Ok(Entry { report, results: outcome.results, summary })
    }

    fn write(
        &self,
        entries: &[Entry],
        differences: &[Difference],
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        writeln!(out, "{}, seed {}\n", counted(entries[0].results.len() as u64, "game"), self.seed)?;
        let means: Vec<_> = entries.iter().map(|entry| mean(&entry.report.score)).collect();
        let width = means.iter().map(|mean| mean.chars().count()).max().unwrap_or_default();
        for (i, (entry, mean)) in entries.iter().zip(&means).enumerate() {
            let EvalReport { model, search, .. } = &entry.report;
            let tile = entry.summary.tiles.iter().rfind(|tile| tile.count > 0);
            let tile = tile
                .map(|tile| format!(", {} in {}", tile.face(), percent(tile.share())))
                .unwrap_or_default();
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
}

impl Difference {
    /// In how many games one of the two has the higher score.
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

    /// What can be said, in plain words.
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

/// Two digits are as many as are known.
fn round(number: u64) -> u64 {
    let unit = 10u64.pow(number.checked_ilog10().unwrap_or_default().saturating_sub(1));
    number.div_ceil(unit) * unit
}

fn letter(player: usize) -> char {
    char::from(b'A' + (player % 26) as u8)
}

/// Refuses players of different boards: their scores mean different things.
fn check_side(side: &mut Option<usize>, model: &Model) -> Result<(), Failure> {
    let (this, first) = (model.side(), *side.get_or_insert(model.side()));
    if this == first {
        return Ok(());
    }
    let name = &model.name;
    let message = format!("{name} plays on {this}×{this}, and the model before it on {first}×{first}");
    Err(Failure::input(message, "compare models of one board"))
}

/// All pairs of players; which differences are significant is decided for all of them together.
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
