use std::{fs, path::PathBuf};

use serde_json::json;

use super::*;
use crate::stats::{GameResult, Summary};

fn line(actions: u64) -> LogLine {
    LogLine {
        actions,
        episodes: 3,
        seconds: 1.5,
        budget_share: 0.25,
        moves_per_second: 2e6,
        mean_score: Some(1234.5),
        max_score: Some(5000),
        tiles: [(1024, 0.75), (2048, 0.5)].into(),
        merge_share: None,
        merge_bytes_per_second: None,
        rate: Rate::Beta(0.1),
        fit: None,
    }
}

fn header(seed: u64) -> Header {
    Header::of::<LogLine>(&json!({ "recipe": "quick", "seed": seed }))
}

fn open(path: &std::path::Path) -> Log<LogLine> {
    Log::open(path, &header(1)).unwrap().0
}

fn log(lines: &[LogLine]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let mut log = open(&path);
    lines.iter().for_each(|line| log.append(line).unwrap());
    (folder, path)
}

#[test]
fn lines_are_flat_json_with_a_checksum() {
    let (_folder, path) = log(&[line(10)]);
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with(r#"{"log":"training","recipe":"quick","seed":1,"check":""#), "{text}");
    let expected = concat!(
        r#"{"actions":10,"episodes":3,"seconds":1.5,"budget_share":0.25,"moves_per_second":2000000.0,"#,
        r#""mean_score":1234.5,"max_score":5000,"tiles":{"1024":0.75,"2048":0.5},"beta":0.1,"check":""#,
    );
    assert!(lines[1].starts_with(expected), "{text}");
    assert!(lines.len() == 2 && text.ends_with("\"}\n"), "{text}");
}

#[test]
fn lines_survive_a_round_trip() {
    let without_games = LogLine { mean_score: None, max_score: None, rate: Rate::Alpha(0.1), ..line(20) };
    let lines = [line(10), without_games];
    let (folder, path) = log(&lines);
    assert_eq!(Log::<LogLine>::read(&path).unwrap(), lines);
    assert_eq!(Log::<LogLine>::read(&folder.path().join("none")).unwrap(), []);

    let result = GameResult { game: 0, score: 8, max_exponent: 2, moves: 5 };
    let report = EvalReport::new("m", "1ply", 1, &Summary::of(4, &[result]).unwrap(), 2.0);
    let eval = EvalLine { actions: 7, episodes: 2, report };
    let path = folder.path().join("eval.jsonl");
    Log::open(&path, &Header::of::<EvalLine>(&json!({}))).unwrap().0.append(&eval).unwrap();
    assert_eq!(Log::<EvalLine>::read(&path).unwrap(), [eval]);
}

#[test]
fn a_line_cut_short_anywhere_is_ignored_and_then_removed() {
    let (_folder, path) = log(&[line(10), line(20)]);
    let whole = fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    for length in last..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(Log::<LogLine>::read(&path).unwrap(), [line(10)], "cut at {length}");
        let (mut log, lines, repaired) = Log::open(&path, &header(1)).unwrap();
        assert_eq!((lines, repaired), (vec![line(10)], None));
        log.append(&line(20)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
}

#[test]
fn resuming_drops_what_followed_the_checkpoint() {
    let (folder, path) = log(&[line(10), line(20), line(30)]);
    let resume = |path: &std::path::Path| Log::resume(path, &header(1), |line: &LogLine| line.actions <= 20);
    let (mut log, lines, repaired) = resume(&path).unwrap();
    assert_eq!((lines, repaired), (vec![line(10), line(20)], None));
    log.append(&line(25)).unwrap();
    assert_eq!(Log::<LogLine>::read(&path).unwrap(), [line(10), line(20), line(25)]);
    assert_eq!(resume(&folder.path().join("new")).unwrap().1, []);
}

#[test]
fn a_damaged_line_is_left_out_and_the_file_kept_aside() {
    let (folder, path) = log(&[line(10), line(20), line(30)]);
    let damaged = fs::read_to_string(&path).unwrap().replace("\"actions\":20", "\"actions\":21");
    fs::write(&path, &damaged).unwrap();
    let error = Log::<LogLine>::read(&path).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{} line 3 is damaged: ", path.display())), "{error}");
    let (_, lines, repaired) = Log::<LogLine>::open(&path, &header(1)).unwrap();
    assert_eq!(lines, [line(10), line(30)]);
    let aside = folder.path().join("log.jsonl.damaged");
    assert_eq!(repaired.unwrap(), Repaired { path: path.clone(), damaged: 1, aside: aside.clone() });
    assert_eq!(fs::read_to_string(aside).unwrap(), damaged);
    assert_eq!(Log::<LogLine>::read(&path).unwrap(), [line(10), line(30)]);
}

#[test]
fn a_run_whose_log_has_a_damaged_first_line_keeps_the_others() {
    let (folder, path) = log(&[line(10), line(20), line(30)]);
    let whole = fs::read_to_string(&path).unwrap();
    let damaged = whole.replacen("training", "trainxng", 1).replace("\"actions\":20", "\"actions\":21");
    fs::write(&path, &damaged).unwrap();
    let (log, lines, repaired) = Log::resume(&path, &header(1), |_: &LogLine| true).unwrap();
    assert_eq!(lines, [line(10), line(30)]);
    assert_eq!(repaired.unwrap().damaged, 2);
    assert_eq!(fs::read_to_string(folder.path().join("log.jsonl.damaged")).unwrap(), damaged);
    assert_eq!(Log::<LogLine>::read(&path).unwrap(), [line(10), line(30)]);
    drop(log);
    // Lines of another run are not accepted, whatever the header looks like.
    fs::write(&path, &damaged).unwrap();
    assert_eq!(Log::resume(&path, &header(2), |_: &LogLine| true).unwrap().1, []);
}

#[test]
fn what_is_no_log_is_never_touched_but_a_run_goes_on() {
    let (folder, path) = log(&[line(10)]);
    let whole = fs::read_to_string(&path).unwrap();
    let without_header = whole.split_once('\n').unwrap().1.to_owned();
    let of_old = serde_json::to_string(&line(10)).unwrap() + "\n";
    for content in ["notes", "notes\n", "{}\n", "\n", &without_header, &of_old, &whole[1..]] {
        fs::write(&path, content).unwrap();
        let error = Log::<LogLine>::open(&path, &header(1)).unwrap_err();
        assert!(matches!(error, LogError::Foreign { .. }), "{content:?}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    fs::write(&path, &whole).unwrap();
    assert!(matches!(Log::<LogLine>::open(&path, &header(2)), Err(LogError::Other { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);

    // The log of a run from before checksums were introduced continues.
    fs::write(&path, &of_old).unwrap();
    let (log, lines, repaired) = Log::resume(&path, &header(1), |_: &LogLine| true).unwrap();
    assert_eq!((lines, repaired), (vec![line(10)], None));
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    drop(log);
    // Anything else is kept aside.
    fs::write(&path, "notes").unwrap();
    let (_, lines, repaired) = Log::resume(&path, &header(1), |_: &LogLine| true).unwrap();
    assert!(lines.is_empty() && repaired.is_some());
    assert_eq!(fs::read_to_string(folder.path().join("log.jsonl.damaged")).unwrap(), "notes");
}

#[test]
fn only_one_writes_at_a_time() {
    let (_folder, path) = log(&[line(10)]);
    let first = open(&path);
    assert!(matches!(Log::<LogLine>::open(&path, &header(1)), Err(LogError::Busy(_))));
    drop(first);
    open(&path);
}

#[test]
fn processes_that_begin_one_log_together_lose_nothing() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let one = |i: u64| {
            let Ok((mut log, ..)) = Log::<LogLine>::open(&path, &header(1)) else { return 0 };
            log.append(&line(i)).unwrap();
            1
        };
        let written: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|i| scope.spawn(move || one(i))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!(Log::<LogLine>::read(&path).unwrap().len() == written, "{written} were told that it worked");
    }
}
