//! Every command in `docs/tutorials` runs, with small budgets.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_afterstate");

/// The commands of a page: the lines of its `sh` blocks, without comments and with continued lines joined.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let blocks = page.split("\n```").collect::<Vec<_>>();
    // Every second piece is inside a fence.
    for block in blocks.iter().skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n")) {
        let joined = block.replace("\\\n", " ");
        commands
            .extend(joined.lines().map(|line| line.split("  #").next().unwrap_or(line).trim().to_owned()));
    }
    commands.retain(|command| !command.is_empty() && !command.starts_with('#'));
    commands
}

/// The same command with tiny budgets.
fn small(command: &str) -> String {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    for i in 1..words.len() {
        match words[i - 1].as_str() {
            "--games" => words[i] = "3".into(),
            "--seeds" => words[i] = "2".into(),
            "--share" => words[i] = "0.000001".into(),
            _ => {}
        }
    }
    let is = |word: &str| words.iter().any(|other| other == word);
    let trains = is("train") && !["--list", "--keys", "--dry-run"].iter().any(|option| is(option));
    let pipe = words.iter().position(|word| word == "|" || word == ">").unwrap_or(words.len());
    let mut more = Vec::new();
    if trains {
        more = ["budget.actions=30000", "evaluation.every=20000", "evaluation.games=3", "network.tuples=2x4"]
            .iter()
            .flat_map(|change| ["--set".to_owned(), change.to_string()])
            .collect();
    }
    // 3×3 takes half a minute, 2×2 a moment.
    if is("solve") && !is("--policy") && !is("--board") {
        more = vec!["--board".into(), "2x2".into()];
    }
    words.splice(pipe..pipe, more);
    words.join(" ")
}

/// Runs a command in a directory where `afterstate` is the program, and returns its standard error.
fn run(directory: &Path, command: &str) -> (Option<i32>, String) {
    let path = format!("{}:{}", directory.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .current_dir(directory)
        .args(["-c", command])
        .env("PATH", path)
        .env("XDG_DATA_HOME", directory.join("data"))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Starts a server, waits for its address, and ends it.
fn serve(directory: &Path, command: &str) {
    let words: Vec<_> = command.split_whitespace().skip(1).filter(|word| *word != "serve").collect();
    let mut child = Command::new(PROGRAM)
        .current_dir(directory)
        .args(["serve", "--port", "0"])
        .args(words)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    child.kill().expect("a kill");
    child.wait().expect("an end");
    assert!(line.starts_with("http://"), "{command}: {line}");
}

fn check(directory: &Path, page: &str, command: &str) {
    let words: Vec<_> = command.split_whitespace().collect();
    match words[..] {
        ["afterstate"] | ["afterstate", "serve", ..] => serve(directory, command),
        // A game needs a terminal: reaching this error shows that the arguments are valid.
        ["afterstate", "play", ..] if !words.contains(&"--scores") => {
            let (_, told) = run(directory, command);
            assert!(told.contains("needs a terminal"), "{page}: {command}: {told}");
        }
        _ => {
            let (code, told) = run(directory, &small(command));
            assert_eq!(code, Some(0), "{page}: {command}: {told}");
        }
    }
}

#[test]
fn every_command_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<PathBuf> = fs::read_dir(root.join("docs/tutorials"))
        .expect("tutorials")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() >= 4, "{pages:?}");
    for path in pages {
        let page = fs::read_to_string(&path).expect("a page");
        let commands = commands(&page);
        assert!(!commands.is_empty(), "{} shows no command", path.display());
        let directory = tempfile::tempdir().expect("a directory");
        let bin = directory.path().join("bin");
        fs::create_dir(&bin).expect("a directory");
        #[cfg(unix)]
        std::os::unix::fs::symlink(PROGRAM, bin.join("afterstate")).expect("a link");
        std::os::unix::fs::symlink(root.join("examples"), directory.path().join("examples")).expect("a link");
        for command in commands {
            check(directory.path(), &path.display().to_string(), &command);
        }
    }
}

#[test]
fn budgets_become_small() {
    assert_eq!(
        small("afterstate train quick --out a"),
        "afterstate train quick --out a --set budget.actions=30000 --set evaluation.every=20000 \
         --set evaluation.games=3 --set network.tuples=2x4"
    );
    assert_eq!(small("afterstate eval a --games 1000 > b"), "afterstate eval a --games 3 > b");
    let page = "text\n```sh\na b \\\n  c  # why\n\n# no\nd\n```\nmore\n```toml\nx = 1\n```\n";
    assert_eq!(commands(page), ["a b    c", "d"]);
}
