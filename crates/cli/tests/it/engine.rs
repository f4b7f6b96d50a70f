//! `afterstate engine`, as another program drives it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// An engine with a small network that values only merges.
struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _directory: tempfile::TempDir,
}

impl Engine {
    fn start() -> Self {
        use afterstate_network::{Network, NetworkSpec, Tuples};
        let directory = tempfile::tempdir().expect("a directory");
        let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
        let model = directory.path().join("model.safetensors");
        Network::new(spec).expect("a small network").save(&model, &[].into()).expect("a written model");
        let mut child = Command::new(env!("CARGO_BIN_EXE_afterstate"))
            .current_dir(directory.path())
            .args(["engine", "--model", "model.safetensors"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Engine { child, input, output: BufReader::new(output), _directory: directory }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("it listens");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// The lines up to one with this prefix.
    fn until(&mut self, begin: &str) -> Vec<String> {
        let mut lines = vec![self.line()];
        while !lines.last().expect("a line").starts_with(begin) {
            let line = self.line();
            assert!(!line.is_empty(), "the engine ended after {lines:?}");
            lines.push(line);
        }
        lines
    }

    fn quit(mut self) {
        self.say("quit");
        assert_eq!(self.child.wait().expect("an end").code(), Some(0));
    }
}

#[test]
fn a_conversation() {
    let mut engine = Engine::start();
    engine.say("u2i");
    let lines = engine.until("u2iok");
    assert!(lines[0].starts_with("id name afterstate ") && lines[1].contains("side 4"), "{lines:?}");
    engine.say("isready");
    assert_eq!(engine.line(), "readyok");
    engine.say("position 1123/0000/0000/0000");
    engine.say("go ply 3");
    let lines = engine.until("bestmove");
    assert_eq!(lines.len(), 4, "a line for each depth: {lines:?}");
    assert!(
        lines[0].starts_with("info ply 1 ") && lines[0].ends_with("up illegal right 4.0 down 0.0 left 4.0")
    );
    assert!(lines[2].starts_with("info ply 3 ") && lines[3].starts_with("bestmove "), "{lines:?}");
    engine.say("position 2 4 2 4  4 2 4 2  2 4 2 4  4 2 4 2");
    engine.say("go movetime 5");
    assert_eq!(engine.until("bestmove").pop().as_deref(), Some("bestmove none"));
    engine.quit();
}

#[test]
fn mistakes_are_told_and_the_session_goes_on() {
    let mut engine = Engine::start();
    for (line, part) in [
        ("go", "no position"),
        ("position 00x0/0000/0000/0000", "row 1, column 3"),
        ("position 010/000/100", "the board is 3×3"),
        ("setoption name depth value 3", "no option `depth`"),
        ("setoption name search value deep", "`deep` is not a search"),
        ("setoption name model value nothing", "nothing: cannot be read"),
        ("checkmate", "`checkmate` is not a command"),
    ] {
        engine.say(line);
        let answer = engine.line();
        assert!(answer.starts_with("error ") && answer.contains(part), "{line}: {answer}");
    }
    engine.say("isready");
    assert_eq!(engine.line(), "readyok");
    engine.quit();
}

#[test]
fn endgame_tables_are_an_option() {
    let mut engine = Engine::start();
    let place = engine._directory.path().to_owned();
    std::fs::create_dir(place.join("empty")).expect("a directory");
    std::fs::create_dir(place.join("tables")).expect("a directory");
    let walls = ["--walls", "FFFF/FFFF/F.../....", "--target", "32", "-o", "tables/ten.endgame"];
    let mut solve = Command::new(env!("CARGO_BIN_EXE_afterstate"));
    let output = solve.current_dir(&place).args(["endgame", "solve"]).args(walls).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let option = |engine: &mut Engine| {
        engine.say("u2i");
        let lines = engine.until("u2iok");
        lines.into_iter().find(|line| line.starts_with("option name endgame ")).expect("the option")
    };
    assert!(option(&mut engine).ends_with("default none"));
    for directory in ["nosuch", "empty"] {
        engine.say(&format!("setoption name endgame value {directory}"));
        let answer = engine.line();
        assert!(answer.starts_with(&format!("error {directory} holds no endgame table")), "{answer}");
    }
    assert!(option(&mut engine).ends_with("default none"), "nothing has changed");
    engine.say("setoption name endgame value tables");
    assert!(option(&mut engine).ends_with("default tables"));
    engine.say("position fedc/ba98/7044/0003");
    engine.say("go ply 2");
    assert!(engine.until("bestmove").last().is_some_and(|line| line.starts_with("bestmove ")));
    engine.say("setoption name model value model.safetensors");
    assert!(option(&mut engine).ends_with("default tables"), "the tables stay with another model");
    engine.say("setoption name endgame value none");
    assert!(option(&mut engine).ends_with("default none"));
    engine.quit();
}

#[test]
fn a_batch_is_answered_in_order() {
    let mut engine = Engine::start();
    engine.say("batch 3 ply 1\n1100/0000/0000/0000\nnonsense\n0011/0000/0000/0001");
    let lines: Vec<_> = (0..3).map(|_| engine.line()).collect();
    assert!(lines[0] == "bestmove right value 4.0" && lines[2] == "bestmove up value 4.0", "{lines:?}");
    assert!(lines[1].starts_with("error "), "{lines:?}");
    engine.quit();
}

#[test]
fn a_search_stops_when_told() {
    let mut engine = Engine::start();
    engine.say("position 0000/0010/0100/0000");
    engine.say("go infinite");
    assert!(engine.line().starts_with("info ply 1 "));
    engine.say("stop");
    let lines = engine.until("bestmove");
    assert!(lines.last().is_some_and(|line| !line.contains("none")), "{lines:?}");
    // The flag has been reset: the next search reaches its depth.
    engine.say("go ply 2");
    let lines = engine.until("bestmove");
    assert!(lines[lines.len() - 2].starts_with("info ply 2 "), "{lines:?}");
    engine.quit();
}

#[test]
fn the_transcript_of_the_documentation_is_true() {
    let page = include_str!("../../../../docs/engine.md");
    let transcript =
        page.split("```text\n").nth(1).expect("a transcript").split("```").next().expect("its end");
    let mut child = Command::new(env!("CARGO_BIN_EXE_afterstate"))
        .args(["engine"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut input = child.stdin.take().expect("a pipe");
    for line in transcript.lines().filter_map(|line| line.strip_prefix("> ")) {
        writeln!(input, "{line}").expect("it listens");
    }
    drop(input);
    let output = child.wait_with_output().expect("an end");
    let timeless = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        // Neither the time nor the number of boards is guaranteed.
        let varies = |i: usize| i > 0 && ["time", "evaluated"].contains(&words[i - 1]);
        words
            .iter()
            .enumerate()
            .filter(|(i, _)| !varies(*i))
            .map(|(_, word)| *word)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let found: Vec<_> = String::from_utf8(output.stdout).expect("text").lines().map(timeless).collect();
    let shown: Vec<_> = transcript.lines().filter(|line| !line.starts_with("> ")).map(timeless).collect();
    assert_eq!(found, shown);
}

#[test]
fn input_that_is_none_is_said_and_one_that_fails_ends_the_session() {
    let mut engine = Engine::start();
    engine.say(&"a".repeat(100_000));
    assert_eq!(engine.line(), "error a line has at most 65536 bytes");
    engine.say(&"b".repeat(60_000));
    let told = engine.line();
    assert!(
        told.starts_with("error `bbb") && told.contains("…` is not a command") && told.len() < 200,
        "{told}"
    );
    engine.say("isready");
    assert_eq!(engine.line(), "readyok");
    engine.quit();

    let run = |input: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afterstate"));
        command.arg("engine").stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the binary runs")
    };
    let mut child = run(Stdio::piped());
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"\xff\xfe\nisready\n").expect("it listens");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "error the line is not UTF-8\nreadyok\n");
    let directory = std::fs::File::open(std::env::temp_dir()).expect("a directory");
    let output = run(directory.into()).wait_with_output().expect("an end");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && told.contains("the standard input cannot be read"), "{told}");
}
