//! Resumable collection of the positions with which a training begins.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_network::file::atomic::write_atomically;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    deal::{Deck, Part},
    evaluate::{Contest, Games, Position, write_positions},
    log::{Header, Line, Log},
    model::Model,
    recipe::Collect,
    run::{Observer, RunError},
    stats::{GameResult, Tally},
};

/// The number of games between two log lines: what an interruption loses.
const BATCH: u64 = 50;

/// Games that have been played, and the positions that they reached.
#[derive(Serialize, Deserialize)]
struct Batch {
    results: Vec<GameResult>,
    positions: Vec<Position>,
}

impl Line for Batch {
    const KIND: &'static str = "collected";
}

/// Lets a model play, and writes the positions; returns `false` if stopped. Games are kept beside the file until all
/// are played.
pub(super) fn collect(
    collect: &Collect,
    file: &Path,
    threads: usize,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<bool, RunError> {
    let model = Model::open(Some(Path::new(&collect.model)))?;
    let network = model.afterstates("collecting")?;
    let player = collect.search.or_downgraded(model.downgrade);
    let directory = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)
        .map_err(|source| RunError::Directory { path: directory.to_owned(), source })?;
    let owner = json!({
        "checksum": model.checksum, "search": player, "seed": collect.seed, "goal": collect.goal,
    });
    let part = file.with_added_extension("part");
    let (mut log, mut batches, repaired) = Log::resume(&part, &Header::of::<Batch>(&owner), |_| true)?;
    repaired.into_iter().for_each(|repaired| observer.warning(&repaired.into()));
    let mut ended = Tally::default();
    batches.iter().for_each(|batch: &Batch| ended.extend(batch.results.iter().copied()));
    while ended.games() < collect.games {
        let played = (0..ended.games()).collect();
        let end = (ended.games() + BATCH).min(collect.games);
        let deck = Deck::part(Part::WHOLE, end, played);
        let games = Games { rules: model.rules, seed: collect.seed, dealer: &deck };
        let contest =
            Contest { network, player, endgames: None, games, threads, collect: Some(collect.steps()) };
        let outcome = contest.play(|finished| {
            ended.extend(finished.results.iter().copied());
            observer.collecting(&ended, collect.games);
            !stop.load(Relaxed)
        });
        let Some(outcome) = outcome else { return Ok(false) };
        batches.push(Batch { results: outcome.results, positions: outcome.positions });
        batches.last().map_or(Ok(()), |batch| log.append(batch))?;
    }
    let positions = batches.iter().flat_map(|batch| &batch.positions);
    write_atomically(file, |out| write_positions(out, positions))?;
    // A leftover file would only be in the way.
    let _ = fs::remove_file(&part);
    Ok(true)
}
