//! `afterstate eval`, as a user sees it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use afterstate_network::{Network, NetworkSpec, Tuples};
use serde_json::Value;

fn eval(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).arg("eval").args(arguments).output().expect("the binary runs")
}

fn good(directory: &Path, arguments: &[&str]) -> String {
    let output = eval(directory, arguments);
    assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// A directory with a model whose values are arbitrary but not all equal.
fn model() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    network.set_table(0, (0..65_536u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as f32));
    let path = directory.path().join("model.safetensors");
    network.save(&path, &[].into()).expect("a written model");
    directory
}

/// A directory with a model that likes empty cells, which suffices to play far better than at random.
fn careful_model() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    let empty = |index: u32| (0..4).filter(|cell| (index >> (4 * cell)) & 15 == 0).count();
    network.set_table(0, (0..65_536).cycle().map(|index| 100.0 * empty(index) as f32));
    network.save(&directory.path().join("model.safetensors"), &[].into()).expect("a written model");
    directory
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let directory = model();
    let played = |threads: &str| -> Value {
        let arguments = [".", "--games", "101", "--seed", "5", "--threads", threads, "--json"];
        let mut object: Value = serde_json::from_str(&good(directory.path(), &arguments)).expect("JSON");
        let fields = object.as_object_mut().expect("an object");
        fields.remove("seconds");
        fields.remove("moves_per_second");
        object
    };
    let one = played("1");
    assert_eq!((&one["games"], &one["seed"], &one["search"]), (&101.into(), &5.into(), &"1ply".into()));
    assert!(one["score"]["min"].as_u64() < one["score"]["max"].as_u64(), "games differ: {one}");
    assert_eq!(one, played("2"));
    assert_eq!(one, played("7"));
}

#[test]
fn json_has_the_documented_fields() {
    let directory = model();
    let text = good(directory.path(), &["model.safetensors", "--games", "3", "--json"]);
    let object: Value = serde_json::from_str(&text).expect("JSON");
    let keys: Vec<_> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected =
        ["games", "model", "moves", "moves_per_second", "score", "search", "seconds", "seed", "tiles"];
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    for key in ["mean", "ci95", "sd", "median", "min", "max"] {
        assert!(object["score"][key].is_number(), "{key} in {text}");
    }
    assert!(object["tiles"]["2048"].is_number() && object["tiles"]["65536"].is_number(), "{text}");
}

#[test]
fn people_get_a_table() {
    let directory = model();
    let text = good(directory.path(), &[".", "--games", "20"]);
    for part in ["20 games", "mean ", " ± ", "median", "2048", "95% interval", "moves/s"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn bad_requests_are_refused() {
    let directory = model();
    fs::write(directory.path().join("bad"), "no network").expect("a written file");
    let cases: [(&[&str], &str); 8] = [
        (&["none"], "none: cannot be read"),
        (&["bad"], "not a network"),
        (&[".", "--search", "3plies"], "`3plies` is not a search"),
        (&[".", "--search", "3ply+fast"], "`fast` is not an option"),
        (&[".", "--games", "0"], "'0'"),
        (&[".", "--from", "100", "--positions", "bad"], "100 is not a step"),
        (&[".", "--from", "16384", "--positions", "none"], "none holds no position"),
        (&[".", "--goal", "100", "--collect", "positions"], "100 is not a goal"),
    ];
    for (arguments, part) in cases {
        let output = eval(directory.path(), arguments);
        let complaint = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(output.stdout.is_empty() && complaint.contains(part), "{arguments:?}: {complaint}");
    }
}

#[test]
fn searches_report_the_time_of_moves() {
    let directory = model();
    let text = good(directory.path(), &[".", "--games", "3", "--search", "2ply", "--downgrade", "--json"]);
    let object: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(object["search"], "2ply+downgrade=32768");
    let time = |key: &str| object["move_ms"][key].as_f64().expect("a time");
    assert!(0.0 < time("p50") && time("p50") <= time("p99") && time("p99") <= time("max"), "{text}");
    let table = good(directory.path(), &[".", "--games", "3", "--search", "2ply"]);
    assert!(table.contains("a move    50% within "), "{table}");
}

#[test]
fn a_model_can_ask_for_downgraded_boards() {
    let directory = model();
    let arguments =
        ["compact", "model.safetensors", "-o", "small.safetensors", "--size", "150kB", "--games", "3"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(&directory).arg("model").args(arguments).args(["--downgrade", "64"]);
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    for (search, played) in [
        ("2ply", "2ply+downgrade=64"),
        ("2ply+downgrade=128", "2ply+downgrade=128"),
        ("2ply+downgrade=off", "2ply+downgrade=off"),
        ("1ply", "1ply+downgrade=64"),
        ("1ply+downgrade=64..96", "1ply+downgrade=64..96"),
    ] {
        let arguments = ["small.safetensors", "--games", "2", "--search", search, "--json"];
        let object: Value = serde_json::from_str(&good(directory.path(), &arguments)).expect("JSON");
        assert_eq!(object["search"], played);
    }
    let network = Network::load(&directory.path().join("model.safetensors")).expect("a model");
    let extra = [("downgrade".to_owned(), "100".to_owned())].into();
    network.save(&directory.path().join("wrong.safetensors"), &extra).expect("a written model");
    let output = eval(directory.path(), &["wrong.safetensors"]);
    let complaint = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.code() == Some(2) && complaint.contains("`100`"), "{complaint}");
}

#[test]
fn kept_games_are_gone_on_with() {
    let directory = model();
    let path = directory.path();
    let report = |arguments: &[&str]| -> Value {
        let text = good(path, &[&[".", "--search", "2ply", "--json"], arguments].concat());
        serde_json::from_str(&text).expect("JSON")
    };
    let whole = report(&["--games", "8"]);
    report(&["--games", "5", "--out", "games"]);
    assert_eq!(fs::read_to_string(path.join("games")).expect("a file").lines().count(), 6);
    let resumed = report(&["--games", "8", "--out", "games"]);
    assert_eq!(
        (&resumed["score"], &resumed["tiles"], &resumed["moves"]),
        (&whole["score"], &whole["tiles"], &whole["moves"])
    );
    // Everything is there already.
    assert_eq!(report(&["--games", "8", "--out", "games"])["score"], whole["score"]);
    let other = eval(path, &[".", "--search", "1ply", "--out", "games"]);
    assert_eq!(other.status.code(), Some(2), "{other:?}");
}

#[test]
fn two_players_meet_in_the_same_games() {
    let directory = model();
    let compare = ["--compare", ".", "model.safetensors", "--games", "30"];
    let same: Value =
        serde_json::from_str(&good(directory.path(), &[&compare[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(same["difference"]["mean"], 0.0);
    assert_eq!(same["difference"]["better"], 0.5);
    let searches = ["--search", "1ply", "--search", "2ply"];
    let text = good(directory.path(), &[&compare[..], &searches].concat());
    assert!(text.contains("B − A  ") && text.contains("2ply") && !text.contains("B − A  −"), "{text}");
}

#[test]
fn positions_are_collected_and_played_from() {
    let directory = model();
    let goal = ["--goal", "512", "--search", "2ply"];
    let collect = [".", "--games", "40", "--collect", "positions"];
    good(directory.path(), &[&collect[..], &goal].concat());
    let from = [".", "--games", "50", "--from", "128", "--positions", "positions"];
    let text = good(directory.path(), &[&from[..], &goal].concat());
    assert!(text.contains("50 games from 128") && text.contains("% reach 256 (95% interval "), "{text}");
    let json: Value =
        serde_json::from_str(&good(directory.path(), &[&from[..], &goal, &["--json"]].concat()))
            .expect("JSON");
    assert_eq!((&json["games"], &json["from"], &json["to"]), (&50.into(), &128.into(), &256.into()));
    let text = good(directory.path(), &[&from[..], &goal, &["--to", "384"]].concat());
    assert!(text.contains("50 games from 128") && text.contains("% reach 384 (95% interval "), "{text}");
}

/// The error message of a command that must fail with this exit code.
fn complaint(directory: &Path, code: i32, arguments: &[&str]) -> String {
    let output = eval(directory, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).expect("text")
}

/// The same with a limit on file sizes, in blocks, which simulates a full disk.
#[cfg(unix)]
fn limited(directory: &Path, limit: &str, arguments: &[&str]) -> Output {
    let script = format!("trap '' XFSZ; ulimit {limit}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.current_dir(directory).args(["-c", &script, env!("CARGO_BIN_EXE_afterstate")]).args(arguments);
    command.output().expect("the binary runs")
}

#[test]
fn a_file_that_is_not_ours_is_never_touched() {
    let directory = model();
    for content in ["notes", "notes\n", "{}\n", "{\"game\":1}\n", "[1,\n"] {
        fs::write(directory.path().join("n.txt"), content).expect("a file");
        let told = complaint(directory.path(), 2, &[".", "--games", "2", "--out", "n.txt"]);
        assert!(told.contains("n.txt") && told.contains("left as it is"), "{told}");
        assert_eq!(fs::read_to_string(directory.path().join("n.txt")).expect("a file"), content);
    }
}

#[cfg(unix)]
#[test]
fn collected_positions_replace_a_file_whole_or_not_at_all() {
    let directory = model();
    let arguments = [".", "--games", "20", "--goal", "256", "--collect", "positions"];
    good(directory.path(), &arguments);
    let before = fs::read(directory.path().join("positions")).expect("a file");
    assert!(!before.is_empty());
    let output = limited(directory.path(), "-f 0", &[&["eval", "--seed", "9"], &arguments[..]].concat());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && told.contains("positions: cannot be written"), "{told}");
    assert!(fs::read(directory.path().join("positions")).expect("a file") == before);
    // A part of a file, as left by an interrupted copy, is not accepted as complete.
    fs::write(directory.path().join("positions"), &before[..before.len() - 3]).expect("a file");
    let told =
        complaint(directory.path(), 2, &[".", "--from", "64", "--goal", "256", "--positions", "positions"]);
    assert!(told.contains("is damaged"), "{told}");
    // An unwritable target is detected before the games are played.
    let told = complaint(directory.path(), 2, &[".", "--games", "1000000000", "--collect", "none/positions"]);
    assert!(told.contains("none/positions"), "{told}");
}

#[test]
fn kept_games_are_those_of_one_evaluation_each_once() {
    let directory = model();
    let path = directory.path().join("games");
    let report = |arguments: &[&str]| -> Value {
        let all = [&[".", "--json", "--out", "games"], arguments].concat();
        serde_json::from_str(&good(directory.path(), &all)).expect("JSON")
    };
    let eight = report(&["--games", "8"]);
    let text = fs::read_to_string(&path).expect("a file");
    let lines: Vec<_> = text.lines().collect();

    // Copied lines count only once.
    fs::write(&path, format!("{text}{}\n{}\n", lines[3], lines[3])).expect("a file");
    assert_eq!(report(&["--games", "8"])["score"], eight["score"]);

    // Without the first line the owner of the games is unknown.
    fs::write(&path, lines[1..].join("\n") + "\n").expect("a file");
    complaint(directory.path(), 2, &[".", "--games", "8", "--out", "games"]);
    // Nor are games of another evaluation accepted.
    report_into(directory.path(), "other", "5");
    let other = fs::read_to_string(directory.path().join("other")).expect("a file");
    fs::write(&path, format!("{text}{}\n", other.lines().nth(4).expect("a game"))).expect("a file");
    let output = eval(directory.path(), &[".", "--json", "--out", "games", "--games", "8"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("1 line damaged"), "{told}");
    let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(again["score"], eight["score"]);

    // A changed score is not accepted.
    let changed = text.replacen("\"score\":", "\"score\":9", 1);
    fs::write(&path, changed).expect("a file");
    let output = eval(directory.path(), &[".", "--json", "--out", "games", "--games", "8"]);
    let again: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(again["score"], eight["score"]);
    assert!(directory.path().join("games.damaged").exists());
}

/// Keeps games of another seed in a file.
fn report_into(directory: &Path, file: &str, seed: &str) {
    good(directory, &[".", "--games", "8", "--seed", seed, "--out", file, "--json"]);
}

#[test]
fn two_evaluations_do_not_write_to_one_file() {
    let directory = model();
    let arguments = ["eval", ".", "--games", "1000000000", "--search", "2ply", "--out", "games"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory.path()).args(arguments).stdout(std::process::Stdio::null());
    let mut first = command.spawn().expect("the binary runs");
    let path = directory.path().join("games");
    while !fs::read_to_string(&path).is_ok_and(|text| text.lines().count() > 1) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let told = complaint(directory.path(), 2, &[".", "--search", "2ply", "--out", "games"]);
    first.kill().expect("a kill");
    first.wait().expect("a status");
    assert!(told.contains("another process is writing to games"), "{told}");
    good(directory.path(), &[".", "--games", "3", "--search", "2ply", "--out", "games"]);
}

#[cfg(unix)]
#[test]
fn a_game_that_cannot_be_kept_is_not_forgotten() {
    let directory = model();
    for search in ["1ply", "2ply"] {
        let arguments = ["eval", ".", "--games", "60", "--search", search, "--out", search];
        let output = limited(directory.path(), "-f 2", &arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && told.contains(&format!("write {search}")), "{told}");
        assert!(output.stdout.is_empty());
    }
}

/// The memory in megabytes that a command has taken after a second.
#[cfg(target_os = "linux")]
fn megabytes(directory: &Path, arguments: &[&str]) -> (u64, std::process::Child) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.current_dir(directory).args(arguments).stdout(std::process::Stdio::null());
    let child = command.stderr(std::process::Stdio::null()).spawn().expect("the binary runs");
    std::thread::sleep(std::time::Duration::from_secs(1));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a figure");
    (line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024, child)
}

#[cfg(target_os = "linux")]
#[test]
fn sizes_are_looked_at_before_memory_is_taken() {
    let directory = model();
    good(
        directory.path(),
        &[".", "--games", "20", "--goal", "256", "--search", "2ply", "--collect", "positions"],
    );
    let many = "1000000000000";
    let from = [
        "eval",
        ".",
        "--goal",
        "256",
        "--from",
        "64",
        "--positions",
        "positions",
        "--games",
        many,
        "--search",
        "2ply",
    ];
    let cases: [&[&str]; 3] = [
        &["eval", ".", "--search", "2ply", "--games", many],
        &from,
        &["record", "--model", "model.safetensors", "--search", "2ply", "--games", many],
    ];
    for arguments in cases {
        let (megabytes, mut child) = megabytes(directory.path(), arguments);
        let stopped = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(stopped.expect("kill runs").success());
        child.wait().expect("a status");
        assert!(megabytes < 300, "{arguments:?} took {megabytes} MB");
    }
    let told = complaint(directory.path(), 2, &[".", "--search", "3ply+table=30", "--threads", "1000"]);
    assert!(told.contains("32000.0 GiB") && told.contains("available"), "{told}");
    let told = complaint(directory.path(), 2, &[".", "--threads", "1000000"]);
    assert!(told.contains("1000000") && told.contains("1024"), "{told}");
    let output = limited(directory.path(), "-v 400000", &["solve", "--threads", "1"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && told.contains("solving 3×3 needs"), "{told}");
}

#[test]
fn parts_merge_to_what_one_machine_prints() {
    let folder = model();
    let directory = folder.path();
    let object = |text: String| {
        let mut object: Value = serde_json::from_str(&text).expect("JSON");
        let fields = object.as_object_mut().expect("an object");
        ["seconds", "moves_per_second", "move_ms"].iter().for_each(|&field| drop(fields.remove(field)));
        object
    };
    let base = [".", "--games", "50", "--search", "1ply", "--goal", "512", "--json"];
    let whole = good(directory, &[&base[..], &["--collect", "whole.jsonl"]].concat());
    let files = ["1.jsonl", "2.jsonl", "3.jsonl"];
    for (file, part) in files.iter().zip(["1/3", "2/3", "3/3"]) {
        good(directory, &[&base[..], &["--collect", "own.jsonl", "--part", part, "--out", file]].concat());
    }
    let merged = good(directory, &[&["--merge"], &files[..], &["--collect", "all.jsonl", "--json"]].concat());
    assert_eq!(object(merged), object(whole));
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("positions");
    assert!(read("all.jsonl") == read("whole.jsonl") && read("own.jsonl").len() > 100);
    // An interrupted part continues, and is not mistaken for another part.
    good(directory, &[&base[..], &["--collect", "own.jsonl", "--part", "3/3", "--out", "3.jsonl"]].concat());
    for (arguments, message) in [
        (&["--merge", "1.jsonl", "3.jsonl"][..], "no file holds part 2/3"),
        (&["--merge", "1.jsonl", "2.jsonl", "whole.jsonl"], "whole.jsonl is not a log of games"),
        (&[".", "--part", "3/3"], "--out"),
        (&[".", "--part", "4/3", "--out", "4.jsonl"], "`4/3` is not a part"),
        (&[".", "--games", "2", "--part", "3/3", "--out", "4.jsonl"], "has none of them"),
        (&[".", "--games", "50", "--part", "2/3", "--out", "1.jsonl"], "1.jsonl belongs to"),
    ] {
        let output = eval(directory, arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && told.contains(message), "{arguments:?}: {told}");
    }
}

#[test]
fn parts_of_several_searches_merge_too() {
    let folder = model();
    let directory = folder.path();
    let base = [".", "--games", "31", "--search", "random,1ply"];
    let whole = good(directory, &base);
    for (place, part) in [("1", "1/2"), ("2", "2/2")] {
        good(directory, &[&base[..], &["--part", part, "--out", place]].concat());
    }
    // Nothing in this table depends on time.
    assert_eq!(good(directory, &["--merge", "1", "2"]), whole);
    assert_eq!(good(directory, &["--merge", "2", "1"]), whole);
    let differences = |text: String| -> Value {
        let mut object: Value = serde_json::from_str(&text).expect("JSON");
        object["differences"].take()
    };
    let whole_json = good(directory, &[&base[..], &["--json"]].concat());
    assert_eq!(differences(good(directory, &["--merge", "1", "2", "--json"])), differences(whole_json));
    // Parts that do not belong together are rejected.
    good(directory, &[".", "--games", "31", "--part", "2/2", "--out", "alone.jsonl"]);
    let copy = |from: &str, to: &str| {
        let (from, to) = (directory.join(from), directory.join(to));
        fs::create_dir_all(to.parent().expect("a directory")).expect("a directory");
        fs::copy(from, to).expect("a copy");
    };
    copy("2/A.jsonl", "without/A.jsonl");
    copy("2/B.jsonl", "swapped/A.jsonl");
    copy("2/A.jsonl", "swapped/B.jsonl");
    let other = [".", "--games", "31", "--search", "random,1ply", "--seed", "7"];
    for (place, part) in [("seed-1", "1/2"), ("seed-2", "2/2")] {
        good(directory, &[&other[..], &["--part", part, "--out", place]].concat());
        let (to, from) = (place.replace("seed", "mixed"), place.replace("seed-", ""));
        copy(&format!("{from}/A.jsonl"), &format!("{to}/A.jsonl"));
        copy(&format!("{place}/B.jsonl"), &format!("{to}/B.jsonl"));
    }
    fs::create_dir(directory.join("empty")).expect("a directory");
    for (places, message) in [
        (&["1"][..], "no file holds part 2/2"),
        (&["1", "1"], "are both part 1/2"),
        (&["1", "swapped"], "its search is 1ply, not random"),
        (&["1", "without"], "the files of players in without are A.jsonl, in 1 A.jsonl, B.jsonl"),
        (&["1", "alone.jsonl"], "cannot read the directory alone.jsonl"),
        (&["empty"], "empty holds no games of several players"),
        (&["mixed-1", "mixed-2"], "and those before 31 of seed 2048"),
        (&["1", "2", "--collect", "positions.jsonl"], "have collected no positions"),
    ] {
        let output = eval(directory, &[&["--merge"], places].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && told.contains(message), "{places:?}: {told}");
    }
    let few = [".", "--games", "1", "--search", "random,1ply", "--part", "2/2", "--out", "3"];
    let told = complaint(directory, 2, &few);
    assert!(told.contains("has none of them") && !directory.join("3").exists(), "{told}");
}

#[test]
fn several_players_meet_in_the_same_games() {
    let directory = careful_model();
    let arguments = ["model.safetensors", "--search", "random,1ply,2ply", "--games", "20", "--out", "games"];
    let text = good(directory.path(), &arguments);
    assert!(text.contains("A      ") && text.contains("C − B  "), "{text}");
    assert!(text.contains(" is better than A, by "), "a search beats random play: {text}");
    let object: Value =
        serde_json::from_str(&good(directory.path(), &[&arguments[..], &["--json"]].concat())).expect("JSON");
    assert_eq!(object["players"].as_array().map(Vec::len), Some(3));
    let differences = object["differences"].as_array().expect("differences");
    assert_eq!(differences.len(), 3);
    for (difference, players) in differences.iter().zip([[0, 1], [0, 2]]) {
        let (found, significant) = (&difference["players"], &difference["significant"]);
        assert_eq!((found, significant), (&serde_json::json!(players), &true.into()), "{object}");
    }
    for file in ["A", "B", "C"] {
        let text = fs::read_to_string(directory.path().join(format!("games/{file}.jsonl"))).expect("games");
        let games: Vec<Value> =
            text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(games.len(), 20);
        for game in games {
            let board: afterstate_game::State<4> =
                game["board"].as_str().expect("a board").parse().expect("a board");
            assert!(board.is_terminal(), "{game}");
            let firsts = game["firsts"].as_object().expect("tiles");
            assert!(firsts[&game["tile"].to_string()].as_u64() <= game["moves"].as_u64(), "{game}");
            assert_eq!(firsts.keys().filter(|tile| tile.as_str() == "4").count(), 1, "{game}");
        }
    }
    // Two of the same tie.
    let text = good(directory.path(), &["--compare", ".", ".", "--games", "10"]);
    assert!(text.contains("A and B tie in all of 10 games"), "{text}");
    let alone = good(directory.path(), &[".", "--games", "20", "--json"]);
    let alone: Value = serde_json::from_str(&alone).expect("JSON");
    assert_eq!(alone["score"]["mean"], object["players"][1]["score"]["mean"], "with courses or without");
}
