//! Faults that users met, each with the correct behaviour.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::Value;

/// A run of a second on 4×4, and how one on 3×3 differs.
const FOUR: &str = "network.tuples = ['0123', '0145']\nlearning = { step_size = 'fixed', alpha = 0.1 }\n\
    budget.actions = 30_000\nevaluation = { every = 20_000, games = 5 }\nparallel.threads = 1\n";

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().expect("a directory"));
        fs::write(place.0.path().join("four.toml"), FOUR).expect("a recipe");
        fs::write(place.0.path().join("three.toml"), format!("game.side = 3\n{FOUR}").replace("45", "34"))
            .expect("a recipe");
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        command
            .current_dir(self.path())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs")
    }

    fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.good(arguments)).expect("JSON")
    }

    /// The message of a command that must be rejected as a user error.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

/// Fault 2.
#[test]
fn another_recipe_is_not_resumed() {
    let place = Place::new();
    place.good(&["train", "four.toml", "--out", "run"]);
    fs::write(place.path().join("four.toml"), FOUR.replace("alpha = 0.1", "alpha = 0.2")).expect("a recipe");
    let told = place.refused(&["train", "four.toml", "--out", "run", "--resume"]);
    for part in ["`learning.alpha`", "the run has 0.1", "the recipe 0.2", "afterstate train DIR --resume"] {
        assert!(told.contains(part), "{part} in {told}");
    }
    let told = place.refused(&["train", "reference/4x6-td", "--out", "run", "--resume", "--threads", "1"]);
    assert!(told.contains("`network.tuples`"), "{told}");
    // The run itself can be resumed, and a changed budget takes effect.
    place.good(&["train", "run", "--resume"]);
    fs::write(place.path().join("four.toml"), FOUR.replace("30_000", "60_000")).expect("a recipe");
    assert_eq!(place.json(&["train", "four.toml", "--out", "run", "--resume", "--json"])["actions"], 60_000);
}

/// Fault 3.
#[test]
fn rows_of_tables_have_directories_of_their_own() {
    let place = Place::new();
    for table in ["rates", "others"] {
        let rows =
            "[[row]]\nname = 'fast'\nlearning.alpha = 0.5\n[[row]]\nname = 'slow'\nlearning.alpha = 0.01\n";
        fs::write(place.path().join(format!("{table}.toml")), format!("{FOUR}{rows}")).expect("a table");
        place.good(&["train", &format!("{table}/fast")]);
        assert!(place.path().join(format!("runs/{table}/fast/model.safetensors")).exists());
    }
}

/// Fault 4.
#[test]
fn boards_of_different_sizes_are_not_compared() {
    let place = Place::new();
    place.good(&["train", "four.toml"]);
    place.good(&["train", "three.toml"]);
    let told = place.refused(&["eval", "--compare", "runs/three", "runs/four", "--games", "2"]);
    assert!(told.contains("4×4") && told.contains("3×3"), "{told}");
    let told = place.refused(&["report", "runs/three", "runs/four"]);
    assert!(told.contains("4×4") && told.contains("3×3"), "{told}");
    assert!(!place.path().join("report.html").exists());
}

/// Fault 5.
#[test]
fn a_server_without_its_model_does_not_start() {
    let place = Place::new();
    assert!(place.refused(&["serve", "nosuch", "--port", "0"]).contains("nosuch: cannot be read"));
    fs::write(place.path().join("text"), "no model").expect("a file");
    assert!(place.refused(&["serve", "text", "--port", "0"]).contains("is not a network"));
}

/// Fault 6, and a need of researchers: `.w` files wherever a model is accepted, with E and A.
#[test]
fn files_of_other_programs_are_models() {
    let place = Place::new();
    let tc = "network.tuples = ['0123', '0145']\nbudget.actions = 30_000\nevaluation.every = 0\nparallel.threads = 1\n";
    fs::write(place.path().join("tc.toml"), tc).expect("a recipe");
    place.good(&["train", "tc.toml"]);
    // The checkpoint holds V, E and A, as an imported file does.
    let checkpoint = "runs/tc/checkpoint/state.safetensors";
    let told = place.good(&["model", "export", checkpoint, "-o", "tc.w"]);
    assert!(told.contains("with the learning state of TC"), "{told}");
    let mean = |model: &str| place.json(&["eval", model, "--games", "20", "--json"])["score"]["mean"].clone();
    assert_eq!(mean("tc.w"), mean("runs/tc"));
    assert_eq!(place.json(&["model", "info", "tc.w", "--json"])["weights"], 131_072);
    // Training from a file with E and A continues with its rates.
    let from = |file: &str, out: &str| {
        let set = format!("network.from={file}");
        place.good(&["train", "tc.toml", "--set", &set, "--set", "budget.actions=3000", "--out", out]);
        place.json(&["model", "info", out, "--json"])["tables"].clone()
    };
    assert!(from("tc.w", "a") == from(checkpoint, "b"), "the same first weights, E and A");
    assert!(from("tc.w", "c") != from("runs/tc", "d"), "without E and A rates begin at 1");
    fs::write(place.path().join("bad.w"), [0, 1, 0, 0, 0, 4, 9, 9]).expect("a file");
    place.refused(&["train", "tc.toml", "--set", "network.from=bad.w", "--out", "refused"]);
    place.refused(&["train", "tc.toml", "--set", "network.from=nosuch", "--out", "refused"]);
    assert!(!place.path().join("refused").exists(), "what is refused leaves nothing behind");
}

/// Fault 7.
#[test]
fn targets_are_checked_before_the_work() {
    let place = Place::new();
    place.good(&["train", "four.toml"]);
    for arguments in [
        &["solve", "--board", "2x2", "-o", "none/x"][..],
        &["report", "runs/four", "-o", "none/x"],
        &["report", "nosuch", "-o", "none/x"],
        &["model", "fold", "runs/four", "-o", "none/x"],
        &["model", "average", "runs/four", "runs/four", "-o", "none/x"],
        &["model", "expand", "built-in", "-o", "none/x"],
        &["model", "export", "runs/four", "-o", "none/x.w"],
        &["model", "compact", "runs/four", "-o", "none/x"],
        &["eval", "runs/four", "--games", "1e9", "--out", "none/x.jsonl"],
        &["eval", "runs/four", "--games", "1e9", "--collect", "none/x.jsonl"],
        &["eval", "--merge", "nosuch", "--collect", "none/x.jsonl"],
    ] {
        let told = place.refused(arguments);
        assert!(told.contains("none/x") && told.contains("cannot be written"), "{arguments:?}: {told}");
    }
    assert!(!place.path().join("none").exists());
    // The directory of an output file must exist; an output directory is created, including its parents.
    for arguments in [
        &["record", "--model", "runs/four", "--games", "1e9", "--out", "four.toml"][..],
        &["eval", "--compare", "runs/four", "built-in", "--games", "1e9", "--out", "four.toml"],
        &["train", "four.toml", "--out", "four.toml"],
    ] {
        let told = place.refused(arguments);
        assert!(told.contains("four.toml"), "{arguments:?}: {told}");
    }
    fs::create_dir_all(place.path().join("games/B.jsonl")).expect("a directory");
    let told =
        place.refused(&["eval", "--compare", "runs/four", "built-in", "--games", "1e9", "--out", "games"]);
    assert!(told.contains("B.jsonl"), "{told}");
    for arguments in [
        &["record", "--model", "runs/four", "--search", "1ply", "--games", "1", "--out", "new/a/b"][..],
        &["eval", "--compare", "runs/four", "runs/four", "--games", "1", "--out", "new/c/d"],
        &["train", "four.toml", "--out", "new/e/f"],
    ] {
        place.good(arguments);
        assert!(place.path().join(arguments.last().expect("a directory")).is_dir(), "{arguments:?}");
    }
}

/// Fault 8.
#[test]
fn options_without_effect_and_wrong_numbers_are_refused() {
    let place = Place::new();
    for (arguments, part) in [
        (&["solve", "--board", "2x2", "--regret"][..], "`--regret`"),
        (&["solve", "--board", "2x2", "--search", "2ply"], "`--search`"),
        (&["eval", "--goal", "32768", "--games", "1"], "`--goal`"),
        (&["eval", "--search", "random", "--downgrade", "--games", "1"], "random"),
        (&["train", "--list", "--seed", "3"], "--list"),
        (&["train", "four.toml", "--jobs", "2"], "`--jobs`"),
        (&["eval", "--games", "-5"], "at least 1"),
        (&["train", "four.toml", "--seed", "-5"], "at least 0"),
        (&["train", "four.toml", "--dry-run", "--set", "network.from=nosuch"], "nosuch"),
    ] {
        let told = place.refused(arguments);
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
    assert_eq!(place.json(&["eval", "--search", "random", "--games", "1e1", "--json"])["games"], 10);
    let dry = place.json(&["train", "four.toml", "--dry-run", "--json"]);
    assert!(dry["disk_bytes"].as_u64() > Some(0) && dry["available_disk_bytes"].is_number(), "{dry}");
    assert!(!place.path().join("runs").exists());
}

/// Fault 9.
#[test]
fn a_stopped_evaluation_shows_what_it_has() {
    let place = Place::new();
    let arguments = ["eval", "--search", "2ply", "--games", "100000", "--out", "games.jsonl", "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    let child =
        command.current_dir(place.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().expect("the binary runs");
    let kept = || fs::read_to_string(place.path().join("games.jsonl")).unwrap_or_default().lines().count();
    // The header, and the first two games.
    while kept() < 3 {
        sleep(Duration::from_millis(50));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("an end");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("of 100,000") && told.contains("the same command continues"), "{told}");
    if told.contains("the first") {
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(report["games"].as_u64() >= Some(1), "{report}");
    }
}

/// Fault 10.
#[test]
fn figures_are_rounded_once_and_zeros_left_out() {
    let place = Place::new();
    let text = place.good(&["eval", "--search", "random", "--games", "1"]);
    assert!(text.contains(", 1 game, seed") && !text.contains(" 0.0%  "), "{text}");
    let output = place.run(&["train", "four.toml"]);
    let (told, summary) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    let mean = |text: &str| {
        let after = text.rsplit("mean ").next().expect("a mean").to_owned();
        after.split(',').take(2).collect::<Vec<_>>().join(",").split(" ±").next().map(str::to_owned)
    };
    let last = told.lines().rfind(|line| line.contains("evaluation after 30,000")).expect("an evaluation");
    let line = summary.lines().find(|line| line.contains("greedy play")).expect("a summary");
    assert_eq!(mean(last), mean(line), "{last}\n{line}");
    // A model of another version is not reported as damaged.
    let model = fs::read(place.path().join("runs/four/model.safetensors")).expect("a model");
    let cut = &model[..model.len() - 100];
    fs::write(place.path().join("cut.safetensors"), cut).expect("a file");
    assert!(place.refused(&["eval", "cut.safetensors"]).contains("is damaged"));
    fs::write(place.path().join("other.safetensors"), b"\x02\0\0\0\0\0\0\0{}").expect("a file");
    assert!(!place.refused(&["eval", "other.safetensors"]).contains("is damaged"));
}

/// Fault 11.
#[test]
#[cfg(unix)]
fn small_runs_take_little_room() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    let recipe =
        "network.tuples = '4x6'\nbudget.actions = 20_000\nevaluation.every = 0\nparallel.threads = 1\n";
    fs::write(place.path().join("large.toml"), recipe).expect("a recipe");
    place.good(&["train", "large.toml"]);
    let file = |name: &str| fs::metadata(place.path().join("runs/large").join(name)).expect("a file");
    // Tables of 64 million weights, with E and A: 768 MiB.
    assert!(file("checkpoint/state.safetensors").len() < 20 << 20);
    assert!(file("model.safetensors").len() > 256 << 20, "the model is plain");
    assert!(file("model.safetensors").blocks() * 512 < 128 << 20, "but its zeros take no room");
    let shipped = place.json(&["train", "quick", "--dry-run", "--json"]);
    assert!(shipped["recipe"]["budget"]["actions"].is_number(), "{shipped}");
}

/// Fault 12: the bare list measures nothing.
#[test]
fn the_list_of_tables_takes_no_time() {
    let start = std::time::Instant::now();
    let text = Place::new().good(&["reproduce"]);
    assert!(text.contains("jaskowski-2016/table-1") && !text.contains("actions/s"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// The existing file is of another kind than the output.
#[test]
fn no_command_replaces_a_file_of_another_kind() {
    let place = Place::new();
    place.good(&["train", "four.toml", "--out", "run"]);
    let endgame = ["endgame", "solve", "--walls", "FFFF/FFF./..../....", "--target", "16"];
    let commands = [
        &["eval", "run", "--games", "2", "--goal", "256", "--collect", "notes"][..],
        &["report", "run", "-o", "notes"],
        &["solve", "--board", "2x2", "-o", "notes"],
        &[&endgame[..], &["-o", "notes"]].concat(),
        &["model", "export", "run", "-o", "notes"],
        &["model", "fold", "run", "-o", "notes"],
        &["model", "average", "run", "run", "-o", "notes"],
        &["model", "compact", "run", "-o", "notes"],
        &["model", "expand", "built-in", "-o", "notes"],
    ];
    let notes = place.path().join("notes");
    for arguments in commands {
        for content in ["notes", "{}\n"] {
            fs::write(&notes, content).expect("a file");
            let told = place.refused(arguments);
            assert!(told.contains("notes") && told.contains("left as it is"), "{arguments:?}: {told}");
            assert!(told.contains("give another name, or remove it"), "{arguments:?}: {told}");
            assert_eq!(fs::read_to_string(&notes).expect("a file"), content, "{arguments:?}");
        }
    }
    // They replace their own output.
    for (arguments, seed) in [(commands[2], &["--goal", "16"][..]), (commands[4], &[]), (commands[6], &[])] {
        fs::remove_file(&notes).expect("a file");
        place.good(arguments);
        let before = fs::read(&notes).expect("a file");
        place.good(&[arguments, seed].concat());
        assert_eq!(fs::read(&notes).expect("a file") == before, seed.is_empty(), "{arguments:?}");
    }
    // A training does not touch files that belong to no run.
    for name in ["model.safetensors", "best.safetensors", "curve.svg"] {
        let other = place.path().join("other");
        fs::create_dir_all(&other).expect("a directory");
        fs::write(other.join(name), "notes").expect("a file");
        let told = place.refused(&["train", "four.toml", "--out", "other"]);
        assert!(told.contains(name) && told.contains("belongs to no run"), "{told}");
        assert_eq!(fs::read_to_string(other.join(name)).expect("a file"), "notes");
        assert_eq!(fs::read_dir(&other).expect("a directory").count(), 1);
        fs::remove_dir_all(other).expect("removed");
    }
}

#[test]
fn runs_are_removed_by_their_files_and_the_rest_is_kept() {
    let place = Place::new();
    let run = place.path().join("run");
    let train = || place.good(&["train", "four.toml", "--out", "run"]);
    let remove = || {
        let output = place.run(&["runs", "rm", "run"]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    train();
    fs::write(run.join("log.jsonl.damaged"), "a log").expect("a file");
    fs::write(run.join(".model.safetensors.tmp-1-0"), "a model").expect("a file");
    assert_eq!(remove(), "");
    assert!(!run.exists());
    // Whatever an interrupted removal left, the same command continues.
    train();
    fs::remove_file(run.join("model.safetensors")).expect("a file");
    fs::remove_dir_all(run.join("checkpoint")).expect("a directory");
    remove();
    fs::create_dir_all(run.join("checkpoint")).expect("a directory");
    fs::write(run.join("checkpoint/lock"), "").expect("a file");
    remove();
    fs::create_dir(&run).expect("a directory");
    remove();
    assert!(!run.exists());
    // Files of others stay, and are listed.
    train();
    fs::write(run.join("notes"), "notes").expect("a file");
    fs::write(run.join("checkpoint/notes"), "notes").expect("a file");
    let told = remove();
    assert!(told.contains("run/notes is not of the run") && told.contains("run/checkpoint/notes"), "{told}");
    assert_eq!(fs::read_to_string(run.join("checkpoint/notes")).expect("a file"), "notes");
    assert!(!run.join("recipe.toml").exists() && !run.join("model.safetensors").exists());
    assert!(place.refused(&["runs", "rm", "run"]).contains("holds no run"));
}

/// A command with at most so many KiB of address space.
fn with_memory(place: &Place, kibibytes: u32, arguments: &[&str]) -> Output {
    let limited = format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.current_dir(place.path()).args(["-c", &limited, env!("CARGO_BIN_EXE_afterstate")]);
    command.args(arguments).stdin(Stdio::null()).output().expect("bash runs")
}

#[test]
fn endgames_that_do_not_fit_into_memory_are_refused() {
    let place = Place::new();
    let solve = ["endgame", "solve", "--walls", "FFFF/..../..../....", "--target", "2048", "-o", "big"];
    let output = with_memory(&place, 1_000_000, &solve);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("GiB") && told.contains("hint: make room"), "{told}");
    assert!(!place.path().join("big.layers").exists());
}

#[test]
fn a_review_reads_no_more_than_a_game() {
    let place = Place::new();
    let file = fs::File::create(place.path().join("large")).expect("a file");
    file.set_len(1 << 40).expect("a file with a hole");
    let output = with_memory(&place, 6_000_000, &["review", "large"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("it has more than 128.0 MiB"), "{told}");
}

#[test]
fn boards_of_the_standard_input_are_lines_of_bounded_length() {
    let place = Place::new();
    let file = fs::File::create(place.path().join("large")).expect("a file");
    file.set_len(1 << 40).expect("a file with a hole");
    fs::write(place.path().join("bytes"), b"0012/0034/0210/000b\n\xff\xfe\n").expect("a file");
    for (input, code, right) in [
        ("large", 2, "line 1: a line has at most 65536 bytes; hint: write one board"),
        ("bytes", 2, "line 2: the line is not UTF-8; hint: write one board"),
        (".", 1, "the standard input cannot be read: "),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        let input = fs::File::open(place.path().join(input)).expect("an input");
        let output =
            command.args(["advise", "-", "--search", "1ply"]).stdin(input).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(code) && told.contains(right), "{told}");
    }
}

#[test]
fn a_number_of_threads_has_a_limit_in_every_command() {
    let place = Place::new();
    for command in [
        "train quick",
        "eval",
        "advise 0012/0034/0210/000b",
        "review game",
        "record --out records",
        "dcnn train --records records --out dcnn",
        "dcnn eval dcnn --records records",
        "model compact run -o compact",
        "reproduce terauchi-2025/table-4",
        "solve",
        "endgame solve --walls FFFF/FFF./..../.... --target 16 -o table",
        "endgame build",
        "endgame weigh table -o weighed",
        "engine",
    ] {
        let arguments: Vec<_> = command.split(' ').chain(["--threads", "1000000"]).collect();
        let told = place.refused(&arguments);
        assert!(told.contains("'1000000' for '--threads <N>'") && told.contains("1024"), "{command}: {told}");
    }
}

#[test]
fn a_signal_ends_a_search_in_the_middle_of_a_move() {
    let place = Place::new();
    place.good(&["train", "four.toml", "--out", "run"]);
    for (arguments, code) in [
        (&["eval", "run", "--search", "24ply", "--games", "1"][..], 130),
        (&["record", "--model", "run", "--search", "24ply", "--games", "1", "--out", "records"], 0),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        command.current_dir(place.path()).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        sleep(Duration::from_secs(3));
        assert_eq!(child.try_wait().expect("a child"), None, "such a move takes ages");
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let ended = (0..300).any(|_| {
            sleep(Duration::from_millis(100));
            child.try_wait().expect("a child").is_some()
        });
        let _ = child.kill();
        assert!(ended, "{arguments:?}");
        // It ended by itself, with a message.
        assert_eq!(child.wait().expect("it ends").code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_damaged_model_of_a_run_is_made_again_by_the_step_that_made_it() {
    let place = Place::new();
    place.good(&["train", "four.toml", "--out", "runs/first"]);
    let then = format!("{FOUR}network.from = 'runs/first'\n");
    fs::write(place.path().join("then.toml"), then).expect("a recipe");
    let model = place.path().join("runs/first/model.safetensors");
    let whole = fs::read(&model).expect("a model");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&model, damaged).expect("a file");
    let told = place.refused(&["train", "then.toml"]);
    assert!(told.contains("`afterstate train runs/first --resume` writes it again"), "{told}");
    place.good(&["train", "runs/first", "--resume"]);
    assert!(fs::read(&model).expect("a model") == whole);
    place.good(&["train", "then.toml"]);
    // Files that belong to no run must be obtained elsewhere.
    fs::write(place.path().join("cut.safetensors"), &whole[..whole.len() - 9]).expect("a file");
    assert!(place.refused(&["eval", "cut.safetensors", "--games", "1"]).contains("get it again"));
}
