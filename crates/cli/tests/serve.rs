//! The server as a process: it trains by a child, answers with what has been learned, and ends when it is told to.

#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

struct Serve {
    child: Child,
    /// Kept open: a server that nobody reads ends.
    _output: BufReader<ChildStdout>,
    address: String,
}

impl Serve {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_afterstate"))
            .args(["serve", "--port", "0"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        output.read_line(&mut line).expect("a line");
        let address = line.trim().trim_start_matches("http://").to_owned();
        Serve { child, _output: output, address }
    }

    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Afterstate-Token: {token}\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    /// SIGTERM, and the exit code.
    fn end(mut self) -> Option<i32> {
        Command::new("kill").arg(self.child.id().to_string()).status().expect("kill");
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn a_training_by_the_server_makes_a_model_that_answers() {
    let folder = tempfile::tempdir().expect("a directory");
    let start = Instant::now();
    let server = Serve::start(folder.path());
    let session = server.ask("GET", "/api/session", "", "").1;
    assert!(start.elapsed() < Duration::from_secs(2), "the first answer took {:?}", start.elapsed());
    assert!(session["training"] == true && session["version"] == env!("CARGO_PKG_VERSION"));
    let token = session["token"].as_str().expect("a token");

    let question = json!({ "recipe": "terauchi-2025/table-4/mnt4", "name": "mini", "seconds": 60 });
    let (status, answer) = server.ask("POST", "/api/runs", token, &question.to_string());
    assert_eq!((status, &answer["name"]), (201, &json!("mini")), "{answer}");
    assert_eq!(server.ask("GET", "/api/runs", "", "").1["runs"][0]["state"], "running");
    let (status, answer) = server.ask("POST", "/api/runs/mini/stop", token, "");
    assert_eq!((status, &answer["state"]), (200, &json!("stopped")), "{answer}");
    let advice = server.ask("GET", "/api/advise?board=012/000/001&model=mini", "", "");
    assert_eq!((advice.0, &advice.1["model"]), (200, &json!("mini")), "{}", advice.1);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn the_end_of_the_server_saves_its_training() {
    let folder = tempfile::tempdir().expect("a directory");
    let server = Serve::start(folder.path());
    let session = server.ask("GET", "/api/session", "", "").1;
    let question = json!({ "recipe": "terauchi-2025/table-4/mnt4", "name": "a/b", "seconds": 60 });
    let (status, _) =
        server.ask("POST", "/api/runs", session["token"].as_str().expect("a token"), &question.to_string());
    assert_eq!(status, 201);
    assert_eq!(server.end(), Some(0));
    assert!(folder.path().join("runs/a/b/checkpoint/state.safetensors").exists());
}

#[test]
fn a_port_that_is_taken_is_named() {
    let folder = tempfile::tempdir().expect("a directory");
    let server = Serve::start(folder.path());
    let port = server.address.rsplit(':').next().expect("a port");
    let output = Command::new(env!("CARGO_BIN_EXE_afterstate")).args(["serve", "--port", port]).output();
    let output = output.expect("the program");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(&format!("port {port} is taken")) && text.contains("--port"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}
