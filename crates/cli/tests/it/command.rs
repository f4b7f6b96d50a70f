//! The binary: its output, streams and exit codes.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Output, Stdio},
};

fn afterstate(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    command.args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}

/// The standard output of a command that must succeed.
fn good(arguments: &[&str]) -> String {
    let output = afterstate(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The one-line error message of a command that must fail.
fn refused(arguments: &[&str]) -> String {
    let output = afterstate(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    let text = String::from_utf8(output.stderr).expect("text");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("error: ") && text.contains("; hint: "), "{text}");
    text
}

#[test]
fn perft_prints_plain_digits() {
    assert_eq!(good(&["perft", "0000/0010/0100/0000", "4"]), "106965632\n");
    assert_eq!(good(&["perft", "gg00/0000/0000/0010", "2"]), "10396\n");
    assert_eq!(good(&["perft", "0 0 0 0 2 0 0 0 2", "3"]), good(&["perft", "000/010/001", "3"]));
    assert_eq!(good(&["perft", "01/10", "0"]), "1\n");
}

#[test]
fn perft_as_json() {
    let text = good(&["perft", "0000001001000000", "2", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(object, serde_json::json!({ "board": "0000/0010/0100/0000", "depth": 2, "count": 11568 }));
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let cases: [(&[&str], &[&str]); 8] = [
        (&["perft", "00x0/0010/0100/0000", "2"], &["`x`", "row 1, column 3"]),
        (&["perft", "0000/0010/0100/000", "2"], &["row 4", "`000`"]),
        (&["perft", "0000/0010/0100/0000", "two"], &["'two'", "DEPTH"]),
        (&["perft", "0000/0010/0100/0000"], &["DEPTH", "afterstate perft"]),
        (&["perf"], &["'perf'", "perft"]),
        (&["bench", "--jsn"], &["'--jsn'", "--json"]),
        (&["completions", "c-shell"], &["c-shell", "bash", "zsh", "fish"]),
        (&["play", "--board", "5x5"], &["5x5", "4x4", "3x3", "2x2"]),
    ];
    for (arguments, parts) in cases {
        let complaint = refused(arguments);
        assert!(parts.iter().all(|part| complaint.contains(part)), "{arguments:?}: {complaint}");
    }
}

#[test]
fn playing_needs_a_terminal() {
    assert!(refused(&["play", "--game", "7"]).contains("needs a terminal"));
}

#[test]
fn help_lists_every_command_and_explains_each() {
    let overview = good(&["--help"]);
    for command in ["serve", "perft", "bench", "play", "completions"] {
        assert!(overview.contains(&format!("\n  {command} ")), "{overview}");
        let help = good(&[command, "--help"]);
        assert!(help.contains("Usage:") && help.contains("Examples:"), "{help}");
    }
    assert!(good(&["--version"]).starts_with("afterstate "));
}

#[test]
fn every_shell_gets_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(good(&["completions", shell]).contains("perft"), "{shell}");
    }
}

#[test]
fn names_of_recipes_and_models_are_completed() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(good(&["completions", shell]).contains("afterstate completions --names"), "{shell}");
    }
    let recipes = good(&["completions", "--names", "train"]);
    assert!(
        recipes.lines().any(|name| name == "quick") && recipes.contains("jaskowski-2016/table-2/"),
        "{recipes}"
    );
    assert!(good(&["completions", "--names", "eval"]).lines().any(|name| name == "built-in"));
}

#[test]
fn names_of_runs_are_completed() {
    let folder = tempfile::tempdir().expect("a directory");
    let recipe =
        "network.tuples = '2x4'\nbudget.actions = 1000\nparallel.threads = 1\nevaluation.every = 0\n";
    std::fs::write(folder.path().join("tiny.toml"), recipe).expect("a recipe");
    let afterstate = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        let output = command.current_dir(&folder).args(arguments).output().expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let runs = |command: &str| {
        let names = afterstate(&["completions", "--names", command]);
        names.lines().filter(|name| name.starts_with("runs")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(runs("eval").is_empty());
    for out in ["runs/b/seed-2", "runs/a"] {
        afterstate(&["train", "tiny.toml", "--out", out]);
    }
    std::fs::create_dir_all(folder.path().join("runs/nothing")).expect("a directory");
    for command in ["train", "eval", "play", "report"] {
        assert_eq!(runs(command), ["runs/a", "runs/b/seed-2"], "{command}");
    }
}

/// The script as bash runs it.
#[test]
fn bash_completes_the_name_of_a_recipe() {
    let script = good(&["completions", "bash"]);
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("script"), script).expect("a file");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_afterstate")).parent().expect("a directory");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let ask = ". ./script; COMP_WORDS=(afterstate train qui); COMP_CWORD=2; _afterstate_with_names afterstate qui train; \
               echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").current_dir(&folder).env("PATH", path).args(["-c", ask]).output();
    let Ok(output) = output else { return };
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.split_whitespace().any(|word| word == "quick"), "{output:?}");
}

#[test]
fn every_command_has_a_manual_page() {
    for (arguments, title) in
        [(vec!["manual"], "afterstate"), (vec!["manual", "endgame", "build"], "afterstate-endgame-build")]
    {
        let page = good(&arguments);
        assert!(page.contains(&format!(".TH {title} 1")) && page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(refused(&["manual", "nosuch"]).contains("no command `nosuch`"));
}

/// The behaviour of the whole program in one number. A commit that changes it says so and why.
#[test]
fn the_signature_is_the_stated_one() {
    assert_eq!(good(&["bench", "--signature"]), "signature: 3640825226\n");
}

#[test]
fn speeds_can_be_asked_for_one_by_one() {
    let text = good(&["bench", "--only", "games", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let keys: Vec<_> = object.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["random_games_per_second", "random_moves_per_second", "signature"]);
    assert_eq!(object["signature"], 3640825226_u64);
    let complaint = refused(&["bench", "--only", "dreams"]);
    assert!(
        ["slides", "games", "training", "play"].iter().all(|kind| complaint.contains(kind)),
        "{complaint}"
    );
    refused(&["bench", "--only", "games", "--signature"]);
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::create("/dev/full").expect("the device that is always full");
    let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    let output = command.args(["perft", "01/10", "1"]).stdout(full).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("; hint: "), "{output:?}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    // More text than fits into a pipe, so that writing hits the closed pipe.
    let mut child = Command::new(env!("CARGO_BIN_EXE_afterstate"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut first = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::with_capacity(16, stdout).read_line(&mut first).expect("a line");
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Seven trainings that together cover every kind of target, step size, table and start.
const TRAININGS: [&str; 7] = [
    "",
    "learning = { lambda = 0.5, order = 'delayed' }",
    "learning = { lambda = 0.5, order = 'backward', step_size = 'fixed' }",
    "learning = { target = 'n-step', n = 3, step_size = 'otd+tc' }",
    "learning.step_size = 'autostep'\nnetwork.values = 'actions'",
    "network = { tuples = ['012345', '012456'], tile_values = 11, stages = '256', promotion = true }\nstart.kind = 'carousel'",
    "network = { tuples = ['01234', '0145'], tile_values = 18, ranges = '1-6 5-17' }\nstart.kind = 'restart'",
];

#[test]
fn all_instruction_sets_give_the_same() {
    let folder = tempfile::tempdir().expect("a directory");
    let run = |isa: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        let output = command.env("AFTERSTATE_ISA", isa).current_dir(&folder).args(arguments).output();
        output.expect("the binary runs")
    };
    let refusal = run("mmx", &["bench", "--signature"]);
    let told = String::from_utf8_lossy(&refusal.stderr).into_owned();
    assert!(refusal.status.code() == Some(2) && told.contains("AFTERSTATE_ISA=mmx"), "{told}");

    for (i, training) in TRAININGS.iter().enumerate() {
        let tuples = if training.contains("tuples") { "" } else { "network.tuples = ['0123', '0145']\n" };
        let text = format!("{tuples}parallel.threads = 1\nbudget.actions = 60_000\nevaluation.every = 0\n");
        std::fs::write(folder.path().join(format!("{i}.toml")), text + training).expect("a recipe");
    }
    let all = |isa: &str| {
        let good = |arguments: &[&str]| {
            let output = run(isa, arguments);
            assert!(output.status.success(), "{isa} {arguments:?}: {output:?}");
            String::from_utf8(output.stdout).expect("text")
        };
        let mut results = vec![good(&["bench", "--signature"])];
        let advice = good(&["advise", "0012/0134/2467/789a", "--search", "3ply", "--threads", "1", "--json"]);
        let mut advice: serde_json::Value = serde_json::from_str(&advice).expect("JSON");
        advice.as_object_mut().expect("an object").remove("seconds");
        results.push(advice.to_string());
        for i in 0..TRAININGS.len() {
            let out = format!("{isa}-{i}");
            good(&["train", &format!("{i}.toml"), "--out", &out]);
            let model = std::fs::read(folder.path().join(out).join("model.safetensors")).expect("a model");
            results.push(format!("{:x}", xxhash_rust::xxh3::xxh3_64(&model)));
        }
        results
    };
    let names: Vec<_> = afterstate_network::Level::available().iter().map(|level| level.name()).collect();
    let portable = all("portable");
    for isa in names.into_iter().filter(|name| *name != "portable") {
        assert_eq!(all(isa), portable, "{isa}");
    }
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_program_without_mpi_that_mpirun_starts_says_so() {
    for (name, ranks) in [("OMPI_COMM_WORLD_SIZE", "4"), ("PMI_SIZE", "2"), ("SLURM_STEP_NUM_TASKS", "3")] {
        let started = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
            command.args(["bench", "--signature"]);
            // Slurm sets the number in every step of a job, whatever starts it.
            if name.starts_with("SLURM") {
                command.env("PMIX_RANK", "0");
            }
            command
        };
        let output = started().env(name, ranks).output().expect("the binary runs");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(
            told.contains(&format!("{ranks} of these processes")) && told.contains("--part K/N"),
            "{told}"
        );
        // A single process is not a job.
        assert!(started().env(name, "1").output().expect("it runs").status.success());
    }
}
