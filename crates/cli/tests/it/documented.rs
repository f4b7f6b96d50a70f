//! Every command in the README, the guides, the reference and the technique pages: its block runs in a shell whose
//! programs only record their arguments, and each `afterstate` call is then tried with a small budget. The tutorials
//! run unchanged (`tutorials.rs`).

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_afterstate");

/// Small tuples, one of which can be folded into another.
const TUPLES: &str = r#"network.tuples=["0123", "4567", "012"]"#;

/// Commands whose arguments are parsed but which do not run: words that identify them, and why.
const PARSED: &[(&[&str], &str)] = &[
    (&["bench"], "measures for minutes"),
    (&["serve"], "runs until it is stopped; tutorials.rs starts it"),
    (&["play"], "needs a terminal; tutorials.rs sees it ask for one"),
    (&["dcnn"], "trains for an hour; dcnn.rs has small networks"),
    (&["eval", "runs/dcnn"], "a convolutional network, which dcnn.rs trains"),
    (&["eval", "runs/4x6-taught"], "likewise"),
    (&["advise", "runs/dcnn"], "likewise"),
    (&["endgame", "build"], "solves for two minutes; endgame.rs has small tables"),
    (&["endgame", "probe"], "needs these tables"),
    (&["endgame", "info"], "needs these tables"),
    (&["endgame", "verify"], "needs these tables"),
    (&["--endgame"], "needs these tables"),
    (&["--positions"], "needs positions that a strong player reaches"),
    (&["--collect"], "takes a game of a strong player; eval.rs collects"),
    (&["solve"], "solves 3×3, for half a minute; solve.rs has 2×2"),
    (&["3x3.solution"], "needs that solution"),
    (&["--exact=3x3.solution"], "needs that solution"),
    (&["model", "compact"], "expects a network of gigabytes; model.rs has small ones"),
    (&["small.safetensors"], "is made by `model compact`"),
    (&["--merge"], "needs the parts of an evaluation; eval.rs merges"),
    (&["import"], "needs a file of another program; model.rs has such files"),
    (&["4x6.safetensors"], "is made by `model import`"),
    (&["--resume"], "needs the run of the command before; tutorials.rs resumes one"),
    (&["mine.toml"], "is the reader's own"),
    (&["rates.toml"], "is written in tutorials.rs"),
    (&["verify"], "needs records; tutorials.rs makes and verifies them"),
    (&["reproduce", "--share"], "trains networks of gigabytes; reproduce.rs has small ones"),
    (&["runs/reproduce"], "needs a reproduced table; report.rs has one"),
];

/// Programs that blocks call and this test does not run: here they do nothing.
const OTHERS: &[(&str, &str)] = &[
    ("apt-get", "installs"),
    ("pip", "installs; scripts/test-python.sh does it"),
    ("python", "runs in scripts/test-python.sh"),
    ("curl", "needs a server; scripts/api-test.sh asks one"),
    ("parallel", "GNU parallel, which hands the command to other machines"),
    ("tail", "reads the log of a run that is not made here"),
];

/// The `sh` blocks of a page.
fn blocks(page: &str) -> Vec<&str> {
    page.split("\n```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n")).collect()
}

/// The opening lines of blocks without a language: a block of commands that is not tagged would not be tested.
fn untagged(page: &str) -> Vec<&str> {
    let pieces = page.split("\n```").skip(1).step_by(2);
    pieces.filter(|block| block.starts_with('\n')).filter_map(|block| block.lines().nth(1)).collect()
}

/// A directory in which blocks run, with programs that record their arguments in `calls`.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(root: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let stage = Self { folder };
        let (bin, built) = (stage.path().join("bin"), stage.path().join("target/release"));
        for made in [&bin, &built, &stage.path().join("gpu/target/release"), &stage.path().join("scripts")] {
            fs::create_dir_all(made).expect("a directory");
        }
        // Arguments end in a unit separator, calls in a record separator.
        let note = "printf '%s\\037' \"${0##*/}\" \"$@\" >> \"$CALLS\"; printf '\\036' >> \"$CALLS\"\n";
        for place in [bin.join("afterstate"), built.join("afterstate"), bin.join("cargo")] {
            stage.script(&place, note);
        }
        stage.script(&bin.join("mpirun"), "shift 2; exec \"$@\"\n");
        for (name, _) in OTHERS {
            stage.script(&bin.join(name), "exit 0\n");
        }
        for entry in fs::read_dir(root.join("scripts")).expect("scripts") {
            let name = entry.expect("an entry").file_name();
            stage.script(&stage.path().join("scripts").join(name), "exit 0\n");
        }
        for linked in ["examples", "models"] {
            symlink(root.join(linked), stage.path().join(linked)).expect("a link");
        }
        // Fourteen moves to the left.
        fs::write(stage.path().join("game.txt"), "afterstate game 1 42 4\nllllllllllllll\n").expect("a game");
        stage
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn script(&self, place: &Path, body: &str) {
        fs::write(place, format!("#!/bin/sh\n{body}")).expect("a script");
        fs::set_permissions(place, fs::Permissions::from_mode(0o755)).expect("an executable script");
    }

    /// The recorded calls of a block.
    fn calls(&self, block: &str) -> Result<Vec<Vec<String>>, String> {
        let calls = self.path().join("calls");
        fs::write(&calls, "").expect("a file");
        let path =
            format!("{}:{}", self.path().join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("sh")
            .current_dir(self.path())
            .args(["-euc", block])
            .env("PATH", path)
            .env("CALLS", &calls)
            // The variables that Slurm sets, and that an earlier block of the page defines.
            .envs([("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_CPUS_PER_TASK", "24")])
            .env("replicas", "cargo run --release -p afterstate-lab --example replicas --")
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let noted = fs::read_to_string(calls).expect("the calls");
        let words = |call: &str| call.split_terminator('\u{1f}').map(str::to_owned).collect();
        Ok(noted.split_terminator('\u{1e}').map(words).collect())
    }

    /// Runs the program.
    fn run(&self, words: &[String]) -> Result<(), String> {
        let output = Command::new(PROGRAM)
            .current_dir(self.path())
            .args(words)
            .env("XDG_DATA_HOME", self.path().join("data"))
            .stdin(fs::File::open(self.path().join("game.txt")).expect("a game"))
            .output()
            .expect("the program");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(told)
    }

    /// Provides the small network for every run and file that a command reads and no command made.
    fn provide(&self, words: &[String]) {
        for (i, word) in words.iter().enumerate() {
            let name = word.strip_prefix("network.from=").unwrap_or(word);
            let made = i > 0 && ["--out", "-o"].contains(&words[i - 1].as_str());
            if made || !(name.starts_with("runs/") || name == "folded.safetensors") {
                continue;
            }
            let place = self.path().join(name);
            if !place.exists() {
                fs::create_dir_all(place.parent().expect("a folder")).expect("a directory");
                symlink(
                    if name.ends_with(".safetensors") {
                        network().join("model.safetensors")
                    } else {
                        network()
                    },
                    place,
                )
                .expect("a link");
            }
        }
    }
}

/// A run with a small network on 4×4, trained once.
fn network() -> PathBuf {
    static NETWORK: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, run) = NETWORK.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a directory");
        let run = folder.path().join("run");
        let status = Command::new(PROGRAM)
            .args(["train", "quick", "--set", "budget.actions=30000", "--set", "evaluation.every=0"])
            .args(["--set", TUPLES, "--out"])
            .arg(&run)
            .output()
            .expect("the program");
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        (folder, run)
    });
    run.clone()
}

/// Whether only the arguments of a command are parsed.
fn only_parsed(words: &[String]) -> bool {
    let has = |told: &&str| {
        words.iter().any(|word| if told.contains('/') { word.starts_with(*told) } else { word == *told })
    };
    PARSED.iter().any(|(told, _)| told.iter().all(&has))
}

/// The command with small budgets.
fn small(words: &[String]) -> Vec<String> {
    let placeholder = |word: &String| match word.as_str() {
        "MODEL" => "runs/quick".to_owned(),
        "BOARD" => "0123/1235/0135/0001".to_owned(),
        _ => word.clone(),
    };
    let mut words: Vec<String> = words.iter().map(placeholder).collect();
    for i in 1..words.len() {
        if words[i - 1] == "--games" {
            words[i] = "2".into();
        }
    }
    let has = |name: &str| words.iter().any(|word| word == name);
    let mut more: Vec<&str> = Vec::new();
    if only_parsed(&words) {
        more = vec!["--help"];
    } else if words[0] == "train" {
        let shown = ["--list", "--keys", "--dry-run"].iter().any(|option| has(option));
        if words.iter().any(|word| word.starts_with("network.from=")) {
            more.extend(["--set", TUPLES]);
        }
        more.extend((!shown).then_some("--dry-run"));
    } else if ["eval", "record"].contains(&words[0].as_str()) {
        more.extend((!has("--games")).then_some(["--games", "2"]).into_iter().flatten());
        // The built-in model would play games of 15,000 moves.
        let named =
            words.get(1).is_some_and(|word| !word.starts_with('-')) || has("--model") || has("--compare");
        if !named && words[0] == "eval" {
            words.insert(1, "runs/quick".into());
        } else if !named {
            more.extend(["--model", "runs/quick"]);
        }
    }
    words.extend(more.into_iter().map(str::to_owned));
    words
}

/// Checks that an example or a test passed to `cargo` exists.
fn cargo(root: &Path, words: &[String]) -> Result<(), String> {
    let after = |option: &str| words.iter().position(|word| word == option).and_then(|at| words.get(at + 1));
    let mut named = Vec::new();
    if let (Some(package), Some(example)) = (after("-p"), after("--example")) {
        let package = package.strip_prefix("afterstate-").ok_or("not our package")?;
        let examples = root.join("crates").join(package).join("examples");
        let folder = examples.join(example);
        named.push(if folder.is_dir() { folder } else { examples.join(format!("{example}.rs")) });
    }
    named.extend(after("--manifest-path").map(|path| root.join(path)));
    match named.into_iter().find(|path| !path.exists()) {
        Some(path) => Err(format!("there is no {}", path.display())),
        None => Ok(()),
    }
}

/// A command is right even where there is too little memory or room on the disk for its training.
fn forgive_a_small_machine(told: String) -> Result<(), String> {
    let is_small = told.contains(" that is free;") || told.contains(" available;");
    if is_small { Ok(()) } else { Err(told) }
}

fn check(pages: &[PathBuf], at_least: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let mut wrong = BTreeSet::new();
    let mut tried = 0;
    for name in pages {
        let page = fs::read_to_string(root.join(name)).expect("a page");
        for line in untagged(&page) {
            wrong.insert(format!("{}: a block without a language: {line}", name.display()));
        }
        let stage = Stage::new(&root);
        for block in blocks(&page) {
            let calls = stage.calls(block).unwrap_or_else(|told| {
                wrong.insert(format!("{}: {told}\n{block}", name.display()));
                Vec::new()
            });
            for call in calls {
                let outcome = if call[0] == "cargo" {
                    cargo(&root, &call)
                } else {
                    let words = if call.len() == 1 { vec!["serve".to_owned()] } else { call[1..].to_vec() };
                    let words = small(&words);
                    stage.provide(&words);
                    stage.run(&words)
                };
                tried += 1;
                if let Err(told) = outcome.or_else(forgive_a_small_machine) {
                    wrong.insert(format!("{}: {}: {told}", name.display(), call.join(" ")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
    assert!(tried >= at_least, "only {tried} commands");
}

/// The pages of a folder, by their path from the root of the repository.
fn pages(folder: &str) -> Vec<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut pages: Vec<_> = fs::read_dir(place)
        .expect("a folder")
        .map(|entry| Path::new(folder).join(entry.expect("an entry").file_name()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn commands_of_the_readme_are_right() {
    check(&["README.md".into(), "models/README.md".into()], 15);
}

#[test]
fn commands_of_guides_and_reference_are_right() {
    check(&pages("docs"), 70);
}

#[test]
fn commands_of_techniques_are_right() {
    check(&pages("docs/techniques"), 60);
}

#[test]
fn a_wrong_command_is_seen() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let stage = Stage::new(&root);
    let calls = stage
        .calls("for n in 1 2; do\n    afterstate eval a --games $n  # why\ndone; scripts/seeds.py b")
        .expect("calls");
    assert_eq!(
        calls,
        [["afterstate", "eval", "a", "--games", "1"], ["afterstate", "eval", "a", "--games", "2"]]
    );
    assert!(stage.calls("scripts/none.sh").is_err());
    assert!(stage.calls("afterstate eval $unknown").is_err());
    let tried =
        |words: &[&str]| stage.run(&small(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()));
    assert!(tried(&["bench", "--only", "search"]).is_ok());
    assert!(tried(&["bench", "--only", "everything"]).unwrap_err().contains("everything"));
    assert!(tried(&["train", "quick", "--set", "learning.lambda=2"]).unwrap_err().contains("lambda"));
    assert!(cargo(&root, &["-p", "afterstate-lab", "--example", "none"].map(str::to_owned)).is_err());
    assert_eq!(untagged("a\n```\nb\n```\nc\n```sh\nd\n```\n"), ["b"]);
}
