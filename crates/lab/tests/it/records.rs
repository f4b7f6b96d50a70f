//! Play records: what is written can be read, follows the rules, continues after interruptions, and is shuffled.

use std::{collections::HashSet, fs, path::Path, time::Duration};

use afterstate_game::{Rules, State};
use afterstate_lab::{
    deal::Part,
    records::{About, GAMES_PER_SHARD, Record, RecordError, Recorder, Shard, Shuffled, shards, verify},
};
use afterstate_search::{Advice, Player, Random};

fn about(search: &str) -> About {
    let Rules { four, start_tiles } = Rules::default();
    let [model, checksum, search, version] = ["none", "0", search, "0"].map(str::to_owned);
    About { model, checksum, search, seed: 3, four, start_tiles, version }
}

/// Records games of random play.
fn record(directory: &Path, games: u64, threads: usize) -> Result<bool, RecordError> {
    Recorder { directory, about: about("random"), games, part: Part::WHOLE, threads }
        .record(|_| Random, |_, _| true)
}

/// Random play that leaves time to stop it.
struct Slow;

impl Player<4> for Slow {
    fn advise(&mut self, state: State<4>) -> Advice {
        std::thread::sleep(Duration::from_micros(100));
        Random.advise(state)
    }
}

fn read(path: &Path) -> Vec<Record> {
    Shard::read(path).unwrap().records
}

fn read_all(directory: &Path) -> Vec<Record> {
    shards(directory).unwrap().iter().flat_map(|shard| read(shard)).collect()
}

#[test]
fn records_follow_the_rules_on_any_number_of_threads() {
    let (one, three) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let games = GAMES_PER_SHARD + 3;
    assert!(record(one.path(), games, 1).unwrap() && record(three.path(), games, 3).unwrap());
    let records = read_all(one.path());
    assert_eq!(records, read_all(three.path()));
    let verified = verify(one.path(), |_| ()).unwrap();
    assert_eq!((verified.shards, verified.games, verified.moves), (2, games, records.len() as u64));
    let first: Vec<_> = records.iter().filter(|record| record.game == 0).collect();
    assert_eq!(first[0].score_to_end, first.iter().map(|record| record.reward).sum::<u32>());
    assert!(records.iter().all(|record| record.state.slide(record.action).is_some()));
}

#[test]
fn a_recording_goes_on_where_it_was() {
    let (stopped, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let games = 2 * GAMES_PER_SHARD;
    let mut ended = 0;
    let recorder =
        Recorder { directory: stopped.path(), about: about("random"), games, part: Part::WHOLE, threads: 1 };
    let all = recorder.record(
        |_| Slow,
        |_, result| {
            ended += u64::from(result.is_some());
            ended < GAMES_PER_SHARD + 2
        },
    );
    assert!(!all.unwrap());
    let first = shards(stopped.path()).unwrap();
    assert_eq!(first.len(), 1, "only whole shards are written");
    let written = fs::metadata(&first[0]).unwrap().modified().unwrap();
    assert!(record(stopped.path(), games, 2).unwrap() && record(whole.path(), games, 2).unwrap());
    assert_eq!(fs::metadata(&first[0]).unwrap().modified().unwrap(), written, "what is there stays");
    assert_eq!(read_all(stopped.path()), read_all(whole.path()));
    // Games of another player do not mix with them.
    let other =
        Recorder { directory: whole.path(), about: about("3ply"), games, part: Part::WHOLE, threads: 1 };
    assert!(matches!(other.record(|_| Random, |_, _| true), Err(RecordError::Other { .. })));
}

#[test]
fn damaged_shards_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(verify(directory.path(), |_| ()), Err(RecordError::Empty(_))));
    record(directory.path(), 2, 1).unwrap();
    let shard = shards(directory.path()).unwrap().remove(0);
    let bytes = fs::read(&shard).unwrap();
    for cut in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&shard, &bytes[..cut]).unwrap();
        assert!(verify(directory.path(), |_| ()).is_err(), "cut at {cut}");
    }
    // Whatever byte changes, reading returns what was written, or an error.
    fs::write(&shard, &bytes).unwrap();
    let (whole, mut refused) = (read(&shard), 0);
    for place in (0..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (place % 8);
        fs::write(&shard, damaged).unwrap();
        match Shard::read(&shard) {
            Ok(shard) => assert!(shard.records == whole, "byte {place} changed, and nobody noticed"),
            Err(error) => {
                assert!(error.to_string().contains("games-00000000.parquet"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > bytes.len() / 6, "{refused} of {} were refused", bytes.len() / 3);
}

#[test]
fn shuffled_records_are_all_of_them_in_an_order_of_the_seed() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path(), 3 * GAMES_PER_SHARD, 2).unwrap();
    let (all, shards) = (read_all(directory.path()), shards(directory.path()).unwrap());
    let draw = |seed: u64, count: usize| -> Vec<Record> {
        let mut shuffled = Shuffled::new(shards.clone(), 500, seed).unwrap();
        (0..count).map(|_| shuffled.draw().unwrap()).collect()
    };
    let key = |record: &Record| (record.game, record.ply);
    let drawn = draw(1, all.len() + 500);
    assert_eq!(drawn[..700], draw(1, 700));
    assert_ne!(drawn[..700], draw(2, 700));
    // After an epoch and the buffer, nearly all have occurred at least once.
    let distinct: HashSet<_> = drawn.iter().map(key).collect();
    assert!(distinct.len() > all.len() * 19 / 20, "{} of {}", distinct.len(), all.len());
    let neighbours = drawn.windows(2).filter(|pair| key(&pair[0]).0 == key(&pair[1]).0).count();
    assert!(neighbours < drawn.len() / 3, "{neighbours} of {} follow one of the same game", drawn.len());
    // Skipping is drawing, in the first epoch and in the next.
    for skipped in [0, 1, 499, 700, all.len() + 300] {
        let mut shuffled = Shuffled::new(shards.clone(), 500, 1).unwrap();
        shuffled.skip(skipped as u64).unwrap();
        let rest: Vec<_> = (0..200).map(|_| shuffled.draw().unwrap()).collect();
        assert_eq!(rest, drawn[skipped..skipped + 200], "after {skipped}");
    }
}

/// Records of several players are subdirectories of one directory; each is recorded and continued separately.
#[test]
fn records_of_several_players_are_read_together() {
    let directory = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| directory.path().join(name));
    assert!(record(&first, 2, 1).unwrap());
    let about = About { seed: 9, ..about("random") };
    let other = Recorder { directory: &second, about, games: 3, part: Part::WHOLE, threads: 1 };
    assert!(other.record(|_| Random, |_, _| true).unwrap());
    assert!(other.record(|_| Random, |_, result| result.is_none()).unwrap(), "all are there");
    let verified = verify(directory.path(), |_| ()).unwrap();
    assert_eq!((verified.shards, verified.games), (2, 5));
    let all = [read_all(&first), read_all(&second)].concat();
    assert_eq!(read_all(directory.path()), all);
    let mut shuffled = Shuffled::new(shards(directory.path()).unwrap(), all.len(), 1).unwrap();
    let drawn: HashSet<_> = (0..all.len()).map(|_| shuffled.draw().unwrap().state.to_string()).collect();
    assert!(
        [&first, &second].iter().all(|&of| read_all(of).iter().any(|r| drawn.contains(&r.state.to_string())))
    );
}

#[test]
fn parts_record_the_files_of_the_whole() {
    let (parts, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let games = 3 * GAMES_PER_SHARD + 5;
    assert!(record(whole.path(), games, 2).unwrap());
    let mut recorded = 0;
    for part in ["2/3", "3/3", "1/3"] {
        let (directory, part) = (parts.path(), part.parse().expect("a part"));
        let recorder = Recorder { directory, about: about("random"), games, part, threads: 2 };
        let mut ended = 0;
        let count = |_, result: Option<_>| {
            ended += u64::from(result.is_some());
            true
        };
        assert!(recorder.record(|_| Random, count).unwrap());
        assert_eq!(ended, recorder.total());
        recorded += ended;
    }
    assert_eq!(recorded, games);
    let bytes = |directory: &Path| -> Vec<_> {
        shards(directory).unwrap().iter().map(|path| fs::read(path).unwrap()).collect()
    };
    assert_eq!(bytes(parts.path()), bytes(whole.path()));
}
