//! `afterstate train`, as a user sees it: runs, signals, resuming, rejections.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::Value;

/// A small network that learns for a second or so, on one thread, with many checkpoints.
const SMALL: &str = r#"
description = "A small network"
seed = 3
network.tuples = ["0123", "0145"]
learning.lambda = 0.5
learning.order = "delayed"
learning.schedule = [[0.5, 0.1]]
parallel.threads = 1
budget.actions = 3_000_000
evaluation = { every = 1_000_000, games = 20 }
checkpoint.every_seconds = 0.03
log.every_episodes = 100
"#;

/// A directory with the small recipe.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().expect("a directory"));
        fs::write(place.path("small.toml"), SMALL).expect("a recipe");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        command.current_dir(self.0.path()).arg("train").args(arguments).stdin(Stdio::null());
        command
    }

    fn train(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary runs")
    }

    /// The standard output of a command that must succeed.
    fn good(&self, arguments: &[&str]) -> String {
        let output = self.train(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// The error message of a command that must fail.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.train(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).expect("text")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.good(arguments)).expect("JSON")
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let text = String::from_utf8(self.bytes(name)).expect("text");
        // After the header.
        text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// Starts a command and waits until training begins.
fn start(mut command: Command) -> Child {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("a pipe");
    let mut reader = BufReader::new(stderr);
    reader.read_line(&mut line).expect("a line");
    assert!(line.contains("in interrupted"), "{line}");
    // The rest is read too, so that the child never blocks.
    std::thread::spawn(move || reader.lines().for_each(drop));
    child
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

/// The part of a log that does not depend on time.
fn timeless(lines: Vec<Value>) -> Vec<Value> {
    let strip = |mut line: Value| {
        let object = line.as_object_mut().expect("an object");
        object.remove("seconds");
        object.remove("moves_per_second");
        object.remove("check");
        line
    };
    lines.into_iter().map(strip).collect()
}

#[test]
fn a_run_leaves_its_files_and_says_what_is_next() {
    let place = Place::new();
    let text = place.good(&["small.toml"]);
    assert!(
        text.contains("3,000,000 actions") && text.contains("next: afterstate eval runs/small"),
        "{text}"
    );
    assert!(String::from_utf8(place.bytes("runs/small/curve.svg")).expect("text").contains("<svg"));
    let log = place.lines("runs/small/log.jsonl");
    assert!(log.len() > 10);
    for line in &log {
        for key in ["actions", "episodes", "seconds", "moves_per_second", "mean_score"] {
            assert!(line[key].is_number(), "{key} in {line}");
        }
    }
    assert_eq!(log.last().expect("a line")["actions"], 3_000_000);
    assert!(log.is_sorted_by_key(|line| line["actions"].as_u64()));
    let evaluations = place.lines("runs/small/eval.jsonl");
    assert!((3..=4).contains(&evaluations.len()), "{evaluations:?}");
    assert_eq!(evaluations.last().expect("a line")["actions"], 3_000_000);

    let complaint = place.refused(&["small.toml"]);
    assert!(complaint.contains("already holds a run") && complaint.contains("--resume"), "{complaint}");
    let outcome = place.json(&["runs/small", "--resume", "--json"]);
    assert_eq!((&outcome["finished"], &outcome["actions"]), (&true.into(), &3_000_000.into()));
}

#[test]
fn interrupted_or_not_the_model_and_the_log_are_the_same() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "whole", "--set", "checkpoint.every_seconds=600"]);
    let mut stops = 0;
    for signal in ["-TERM", "-INT", "-HUP"].into_iter().cycle() {
        let mut child = start(place.command(&["small.toml", "--out", "interrupted", "--resume"]));
        sleep(Duration::from_millis(120));
        if child.try_wait().expect("a status").is_none() {
            send(signal, &child);
        }
        assert_eq!(child.wait().expect("a status").code(), Some(0), "a stop that saves is a success");
        if place.lines("interrupted/log.jsonl").last().is_some_and(|line| line["budget_share"] == 1.0) {
            break;
        }
        stops += 1;
    }
    assert!(stops >= 2, "the run was too short to be interrupted: {stops}");
    let model = "model.safetensors";
    assert!(place.bytes(&format!("whole/{model}")) == place.bytes(&format!("interrupted/{model}")));
    let log = |run: &str| timeless(place.lines(&format!("{run}/log.jsonl")));
    assert_eq!(log("whole"), log("interrupted"));
}

#[test]
fn a_run_killed_at_any_instant_resumes() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "whole", "--set", "evaluation.every=0"]);
    let arguments = ["small.toml", "--out", "interrupted", "--set", "evaluation.every=0", "--resume"];
    for i in 0..10 {
        let mut child = place.command(&arguments).stderr(Stdio::null()).spawn().expect("the binary runs");
        sleep(Duration::from_millis(i * 17));
        child.kill().expect("a kill");
        child.wait().expect("a status");
    }
    place.good(&arguments);
    assert!(place.bytes("whole/model.safetensors") == place.bytes("interrupted/model.safetensors"));
}

#[test]
fn a_finished_run_need_not_keep_its_checkpoint() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "kept"]);
    let arguments = ["small.toml", "--out", "interrupted", "--set", "checkpoint.keep=false", "--resume"];
    let mut child = start(place.command(&arguments));
    sleep(Duration::from_millis(120));
    send("-INT", &child);
    assert_eq!(child.wait().expect("a status").code(), Some(0));
    assert!(
        place.path("interrupted/checkpoint/state.safetensors").exists(),
        "an interrupted run goes on from there"
    );
    place.good(&arguments);
    assert!(!place.path("interrupted/checkpoint/state.safetensors").exists());
    let model = place.bytes("interrupted/model.safetensors");
    assert!(model == place.bytes("kept/model.safetensors"));

    // It is not started again, and its result is still reported.
    let changed = |name: &str| fs::metadata(place.path(name)).and_then(|it| it.modified()).expect("a time");
    let before = changed("interrupted/model.safetensors");
    let outcome = place.json(&["interrupted", "--resume", "--json"]);
    assert_eq!((&outcome["finished"], &outcome["actions"]), (&true.into(), &3_000_000.into()));
    assert!(outcome["evaluation"]["score"]["mean"].is_number(), "{outcome}");
    let complaint = place.refused(&["interrupted", "--resume", "--set", "budget.actions=4000000"]);
    assert!(complaint.contains("is finished") && complaint.contains("network.from"), "{complaint}");
    assert_eq!(changed("interrupted/model.safetensors"), before);

    // Killed between the two files that end a run, it is still finished.
    fs::write(place.path("interrupted/checkpoint/state.safetensors"), "").expect("a file");
    place.good(&["interrupted", "--resume"]);
    assert!(!place.path("interrupted/checkpoint/state.safetensors").exists());
    fs::write(place.path("interrupted/checkpoint/finished.json"), "{").expect("a file");
    let complaint = place.refused(&["interrupted", "--resume"]);
    assert!(complaint.contains("finished.json"), "{complaint}");
}

/// A limit on file sizes simulates a full disk: writing fails in the middle of a checkpoint.
#[cfg(unix)]
#[test]
fn without_room_for_a_checkpoint_the_old_one_stays() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "run", "--set", "budget.actions=200000"]);
    let before = place.bytes("run/checkpoint/state.safetensors");
    let limited = "trap '' XFSZ; ulimit -f 100; exec \"$0\" train run --resume --set budget.actions=600000";
    let output = Command::new("sh")
        .current_dir(place.0.path())
        .args(["-c", limited, env!("CARGO_BIN_EXE_afterstate")])
        .output()
        .expect("the binary runs");
    let complaint = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    for part in ["warning: ", "training continues", "error: ", "fresh.safetensors: cannot be written"] {
        assert!(complaint.contains(part), "{part} in {complaint}");
    }
    assert!(before == place.bytes("run/checkpoint/state.safetensors"));
    let names = fs::read_dir(place.path("run/checkpoint")).expect("a directory").flatten();
    let names: Vec<_> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let right = ["lock", "state.safetensors", "previous.safetensors"];
    assert!(names.iter().all(|name| right.contains(&name.as_str())), "no temporaries: {names:?}");

    place.good(&["run", "--resume", "--set", "budget.actions=600000"]);
    place.good(&["small.toml", "--out", "whole", "--set", "budget.actions=600000"]);
    let log = |run: &str| place.lines(&format!("{run}/log.jsonl")).last().expect("a line")["actions"].clone();
    assert_eq!(log("run"), log("whole"));
}

#[test]
fn a_dry_run_shows_recipe_weights_and_memory() {
    let place = Place::new();
    let plan = place.json(&["small.toml", "--dry-run", "--json"]);
    assert_eq!(plan["weights"], 131_072);
    let (bytes, model) =
        (plan["bytes"].as_u64().expect("bytes"), plan["model_bytes"].as_u64().expect("bytes"));
    assert!(model >= 4 * 131_072 && bytes == 3 * model, "V, E and A of four bytes each: {plan}");
    let fixed = ["small.toml", "--dry-run", "--json", "--set", "learning.step_size=fixed"];
    assert_eq!(place.json(&fixed)["bytes"], model);
    let text = place.good(&["reference/4x6-tc", "--dry-run", "--seed", "7", "--threads", "3"]);
    for part in
        ["seed = 7", "threads = 3", "67,108,864", "768.0 MiB of memory (256.0 MiB without learning state)"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!place.path("runs").exists());
}

#[test]
fn shipped_recipes_are_listed() {
    let place = Place::new();
    let text = place.good(&["--list"]);
    let names: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["quick", "reference/4x6-td", "jaskowski-2016/table-1/td-0.5-alpha-0.1"] {
        assert!(names.contains(&name), "{text}");
    }
    let list = place.json(&["--list", "--json"]);
    let listed = list.as_array().expect("a list").iter().filter_map(|entry| entry["name"].as_str());
    assert!(listed.clone().count() > 50 && listed.clone().all(|name| names.contains(&name)), "{list}");
    let part = place.good(&["--list", "guei-2021/table-6"]);
    assert!(part.contains("Table VI") && part.contains("370,907"), "{part}");
    assert_eq!(part.matches("guei-2021/table-6/p-tc-").count(), 6);
    assert!(!part.contains("quick") && !part.contains("table-5"), "{part}");
    assert!(place.refused(&["--list", "guei-2020"]).contains("`guei-2020`"));
}

#[test]
fn bad_requests_are_refused_with_a_reason() {
    let place = Place::new();
    let eights = "network.tuples=[\"01234567\",\"89abcdef\",\"02468ace\",\"13579bdf\",\"048c159d\"]";
    let huge = ["small.toml", "--set", eights, "--set", "network.tile_values=16"];
    let cases: [(&[&str], &[&str]); 9] = [
        (&["small.toml", "--set", "checkpoint.every_seconds=2e19"], &["checkpoint.every_seconds", "10^9"]),
        (&["small.toml", "--threads", "1000000"], &["1000000", "1024"]),
        (&["quik"], &["`quik`", "`quick`", "--list"]),
        (&["small.toml", "--set", "network.tuples=4x7"], &["`network.tuples`", "`4x7`", "did you mean"]),
        (&["small.toml", "--set", "network.tuples=[\"01x\"]"], &["`network.tuples`", "`x`"]),
        (&["small.toml", "--set", "learning.lamda=1"], &["learning.lambda"]),
        (&["small.toml", "--set", "name=../other"], &["../other", "--out"]),
        (&[], &["RECIPE"]),
        (&["small.toml", "--out", "small.toml"], &["small.toml", "--out"]),
    ];
    for (arguments, parts) in cases {
        let complaint = place.refused(arguments);
        assert!(parts.iter().all(|part| complaint.contains(part)), "{arguments:?}: {complaint}");
    }
    let dry = place.train(&[&huge[..], &["--dry-run", "--json"]].concat());
    if serde_json::from_slice::<Value>(&dry.stdout).expect("JSON")["fits"] == false {
        assert_eq!(dry.status.code(), Some(2), "{dry:?}");
        let complaint = place.refused(&huge);
        assert!(complaint.contains("training needs 24") && complaint.contains("available"), "{complaint}");
    }
    assert!(!Path::new(&place.path("runs")).exists(), "what is refused leaves nothing behind");
}

#[test]
fn a_resumed_run_learns_what_it_learned() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "run", "--set", "budget.episodes=200"]);
    for (change, key) in
        [("seed=4", "seed"), ("learning.lambda=0.9", "learning"), ("parallel.threads=2", "threads")]
    {
        let complaint = place.refused(&["run", "--resume", "--set", change]);
        assert!(complaint.contains(key) && complaint.contains("cannot be changed"), "{complaint}");
    }
    let complaint = place.refused(&["run", "--resume", "--set", "budget.episodes=300"]);
    assert!(complaint.contains("all 200 games"), "{complaint}");

    let damage = |name: &str| {
        let path = place.path(name);
        let mut bytes = fs::read(&path).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).expect("a written file");
    };
    damage("run/checkpoint/state.safetensors");
    if place.path("run/checkpoint/previous.safetensors").exists() {
        damage("run/checkpoint/previous.safetensors");
    }
    assert!(place.refused(&["run", "--resume"]).contains("checksum"));
}

#[test]
fn a_damaged_checkpoint_falls_back_to_the_one_before() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "whole", "--set", "budget.actions=1e6"]);
    place.good(&["small.toml", "--out", "run", "--set", "budget.actions=1e6"]);
    assert!(place.path("run/checkpoint/previous.safetensors").exists());
    let path = place.path("run/checkpoint/state.safetensors");
    let bytes = fs::read(&path).expect("a file");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("a file cut short");
    let output = place.train(&["run", "--resume"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("goes on from the checkpoint before"), "{told}");
    assert!(place.bytes("run/model.safetensors") == place.bytes("whole/model.safetensors"));
}

#[test]
fn a_checkpoint_knows_its_recipe() {
    let place = Place::new();
    // A schedule follows the budget, which changes here.
    let steady = ["--set", "learning.schedule=[]", "--set"];
    place.good(&[&["small.toml", "--out", "whole"], &steady[..], &["budget.actions=6e5"]].concat());
    place.good(&[&["small.toml", "--out", "run"], &steady[..], &["budget.actions=3e5"]].concat());
    let recipe = place.path("run/recipe.toml");
    let text = fs::read_to_string(&recipe).expect("a recipe");

    fs::write(&recipe, text.replace("lambda = 0.5", "lambda = 0.6")).expect("a file");
    let told = place.refused(&["run", "--resume", "--set", "budget.actions=6e5"]);
    assert!(told.contains("another `learning.lambda`") && told.contains("recipe.toml"), "{told}");

    fs::remove_file(&recipe).expect("a file");
    let told = place.refused(&["small.toml", "--out", "run"]);
    assert!(told.contains("already holds a run"), "{told}");
    let told = place.refused(&["small.toml", "--out", "run", "--resume", "--seed", "4"]);
    assert!(told.contains("seed"), "{told}");
    place.good(&["run", "--resume", "--set", "budget.actions=6e5"]);
    assert!(recipe.exists());
    assert!(place.bytes("run/model.safetensors") == place.bytes("whole/model.safetensors"));
}

#[test]
fn a_damaged_log_does_not_keep_a_run_from_going_on() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "run", "--set", "budget.actions=3e5"]);
    let log = place.path("run/log.jsonl");
    let text = fs::read_to_string(&log).expect("a log");
    fs::write(&log, text.replacen("actions", "act\u{0}ons", 2)).expect("a file");
    fs::write(place.path("run/eval.jsonl"), "my notes").expect("a file");
    let output = place.train(&["run", "--resume", "--set", "budget.actions=6e5"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("log.jsonl.damaged"), "{told}");
    assert_eq!(fs::read_to_string(place.path("run/eval.jsonl.damaged")).expect("a file"), "my notes");
    assert_eq!(place.lines("run/log.jsonl").last().expect("a line")["actions"], 600_000);
}

#[cfg(unix)]
#[test]
fn timeout_stops_and_saves_every_time() {
    let place = Place::new();
    let children: Vec<_> = (0..20)
        .map(|i| {
            let mut command = Command::new("timeout");
            command.args(["5", env!("CARGO_BIN_EXE_afterstate"), "train", "small.toml"]);
            command.args(["--set", "budget.actions=1e12", "--set", "checkpoint.every_seconds=600"]);
            command.args(["--set", "evaluation.every=0", "--out", &format!("run-{i}")]);
            command.current_dir(place.0.path()).stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().expect("timeout runs")
        })
        .collect();
    for (i, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().expect("a status");
        assert_eq!(output.status.code(), Some(124), "{output:?}");
        assert!(place.path(&format!("run-{i}/checkpoint/state.safetensors")).exists(), "run {i}: {output:?}");
    }
}

#[cfg(unix)]
#[test]
fn only_a_second_ctrl_c_is_a_second_wish() {
    let place = Place::new();
    // An evaluation during which the process is stopped for a while.
    let arguments = ["small.toml", "--out", "interrupted", "--set", "budget.actions=1e12"];
    for (second, code) in [("-TERM", 0), ("-HUP", 0), ("-INT", 0)] {
        fs::remove_dir_all(place.path("interrupted")).ok();
        let mut child = start(place.command(&arguments));
        sleep(Duration::from_millis(100));
        send("-STOP", &child);
        send("-TERM", &child);
        send(second, &child);
        send(second, &child);
        send("-CONT", &child);
        assert_eq!(child.wait().expect("a status").code(), Some(code), "{second}");
        assert!(place.path("interrupted/checkpoint/state.safetensors").exists());
    }
}

/// A run whose output nobody reads waits when it reports its result: time for a second Ctrl-C.
#[cfg(unix)]
#[test]
fn a_second_ctrl_c_a_second_later_ends_at_once() {
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::io::Write;
    let place = Place::new();
    let (_reader, mut full) = std::io::pipe().expect("a pipe");
    fcntl_setfl(&full, OFlags::NONBLOCK).expect("a flag");
    while full.write(b"x").is_ok() {}
    fcntl_setfl(&full, OFlags::empty()).expect("a flag");
    let mut command = place.command(&["small.toml", "--out", "run", "--set", "budget.actions=1e12"]);
    let mut child = command.stdout(full).stderr(Stdio::null()).spawn().expect("the binary runs");
    let checkpoint = place.path("run/checkpoint/state.safetensors");
    while !checkpoint.exists() {
        sleep(Duration::from_millis(20));
    }
    send("-INT", &child);
    sleep(Duration::from_millis(300));
    send("-INT", &child);
    sleep(Duration::from_millis(1200));
    assert_eq!(child.try_wait().expect("a status"), None, "a second one within a second is the same wish");
    send("-TERM", &child);
    sleep(Duration::from_millis(200));
    assert_eq!(child.try_wait().expect("a status"), None, "SIGTERM never ends it at once");
    send("-INT", &child);
    assert_eq!(child.wait().expect("a status").code(), Some(130));
    let outcome = place.json(&["run", "--resume", "--json", "--set", "budget.actions=1"]);
    assert_eq!(outcome["finished"], true, "what was saved is whole: {outcome}");
}

#[test]
fn progress_of_a_resumed_run_begins_where_it_was() {
    let place = Place::new();
    place.good(&["small.toml", "--out", "run", "--set", "budget.actions=1e6"]);
    let output = place.train(&["run", "--resume", "--set", "budget.actions=2e6"]);
    let told = String::from_utf8(output.stderr).expect("text");
    let shares = told.lines().filter_map(|line| line.trim().split_once('%')?.0.parse::<f64>().ok());
    let first = shares.into_iter().next().expect("a line with the share");
    assert!(first >= 50.0, "{told}");
}

#[test]
fn a_dry_run_refuses_what_cannot_run() {
    let place = Place::new();
    let late = "network = { tuples = '2x4', stages = '256' }\nbudget.actions = 10\n\
                start = { kind = 'carousel', positions = 'nowhere.jsonl' }";
    fs::write(place.path("late.toml"), late).expect("a recipe");
    let told = place.refused(&["late.toml", "--dry-run"]);
    assert!(told.contains("nowhere.jsonl"), "{told}");
    // Some terabytes of memory.
    let large = ["small.toml", "--dry-run", "--set", "network.tuples=['01234567', '89abcdef', '048c159d']"];
    let output = place.train(&[&large[..], &["--set", "network.stages='2^4'"]].concat());
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.code() == Some(2) && told.contains("memory, more than the"), "{told}");
    assert!(
        String::from_utf8(output.stdout).expect("text").contains("# weights: "),
        "the plan is shown all the same"
    );
    let json = place.train(&[&large[..], &["--set", "network.stages='2^4'", "--json"]].concat());
    let object: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((json.status.code(), &object["fits"]), (Some(2), &false.into()));
    assert_eq!(fs::read_dir(place.0.path()).expect("a directory").count(), 2, "nothing is left behind");
}

#[test]
fn small_runs_take_kilobytes() {
    let place = Place::new();
    let size =
        |run: &str| fs::metadata(place.path(run).join("checkpoint/state.safetensors")).expect("a file").len();
    // 3.5 million weights, of which a game or two visit a few thousand: 40 MiB uncompressed.
    let mini = ["mini", "--threads", "1", "--set", "evaluation.every=0", "--set"];
    place.good(&[&mini[..], &["budget.actions=1000", "--out", "few"]].concat());
    assert!(size("few") < 48_000, "{} bytes after 1,000 actions", size("few"));
    place.good(&[&mini[..], &["budget.actions=100_000", "--out", "more"]].concat());
    let weights = place.bytes("more/model.safetensors");
    let header = u64::from_le_bytes(weights[..8].try_into().expect("eight bytes")) as usize;
    let visited = weights[8 + header..].chunks_exact(4).filter(|weight| *weight != [0; 4]).count() as u64;
    // V, E and A take 12 bytes for each visited weight, plus some to encode which ones they are.
    assert!(size("more") < 8 * visited, "{} bytes for {visited} weights", size("more"));
}

/// The signal that a process gets if its mapped file is truncated while it reads.
#[cfg(target_os = "linux")]
#[test]
fn a_bus_error_has_a_message() {
    let place = Place::new();
    let mut command = place.command(&["small.toml", "--out", "run", "--set", "budget.actions=1e12"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("the binary runs");
    while !place.path("run/checkpoint/state.safetensors").exists() {
        sleep(Duration::from_millis(20));
    }
    send("-BUS", &child);
    let output = child.wait_with_output().expect("a status");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && told.contains("was cut short while it was read"), "{told}");
}

/// A training, one that continues it, and one that begins with positions that the second collects.
const CHAIN: [(&str, &str); 3] = [
    ("first", "network.tuples = ['0123', '0145']\nbudget.actions = 400_000"),
    ("second", "network = { tuples = ['0123', '0145'], from = 'runs/first' }\nbudget.actions = 300_000"),
    (
        "third",
        "network = { tuples = ['0123', '0145'], stages = '256', from = 'runs/second' }\n\
         start = { kind = 'carousel', first_stage = 1, positions = 'runs/second/positions.jsonl' }\n\
         collect = { model = 'runs/second', search = '1ply', games = 200, goal = 512 }\n\
         budget.actions = 200_000",
    ),
];

fn with_chain() -> Place {
    let place = Place::new();
    let common = "parallel.threads = 1\nevaluation.every = 0\ncheckpoint.every_seconds = 0.02\n";
    for (name, text) in CHAIN {
        fs::write(place.path(&format!("{name}.toml")), format!("{common}{text}")).expect("a recipe");
    }
    place
}

#[test]
fn a_chain_that_is_killed_again_and_again_comes_to_the_same() {
    let whole = with_chain();
    let dry = whole.good(&["third.toml", "--dry-run"]);
    assert!(
        dry.contains("# 4 steps: about") && dry.contains("collect  runs/second/positions.jsonl"),
        "{dry}"
    );
    let dry = whole.json(&["third.toml", "--dry-run", "--json"]);
    assert_eq!(dry["chain"]["steps"].as_array().map(Vec::len), Some(4));
    assert!(dry["chain"]["seconds"].is_number() && dry["chain"]["disk"].is_number(), "{dry}");
    assert!(!whole.path("runs").exists(), "a dry run makes nothing");
    whole.good(&["third.toml"]);
    assert!(whole.good(&["third.toml", "--resume"]).contains("trained"), "nothing is left to be done");

    let killed = with_chain();
    for kill in 0..6 {
        let mut command = killed.command(&["third.toml", "--resume"]);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let begun = lines.find(|line| line.as_ref().is_ok_and(|line| line.starts_with("step ")));
        std::thread::spawn(move || lines.for_each(drop));
        sleep(Duration::from_millis(30 * kill));
        let _ = child.kill();
        let status = child.wait().expect("a status");
        if begun.is_none() || status.success() {
            break;
        }
    }
    assert!(killed.path("runs/third/recipe.toml").exists(), "the run can be resumed by its name");
    killed.good(&["runs/third", "--resume"]);
    for file in ["runs/first", "runs/second", "runs/third"].map(|run| format!("{run}/model.safetensors")) {
        assert!(whole.bytes(&file) == killed.bytes(&file), "{file}");
    }
    assert!(!killed.path("runs/third/chain.json").exists());
    assert!(!killed.path("runs/second/positions.jsonl.part").exists());
    let complaint = killed.refused(&["third.toml"]);
    assert!(complaint.contains("already holds a run"), "{complaint}");
}
