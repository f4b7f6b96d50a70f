//! A server on a free port, with some models and a run, and a minimal client.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    thread::JoinHandle,
    time::Duration,
};

use afterstate_lab::recipe::Recipe;
use afterstate_network::{Network, NetworkSpec, Tuples};
use afterstate_server::{Options, Server};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A server that ends with the test.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
    token: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// An error, which must say what is wrong and what would be right.
    pub(crate) fn error(&self) -> String {
        let json = self.json();
        let (error, hint) = (json["error"].as_str(), json["hint"].as_str());
        assert!((400..500).contains(&self.status), "{self:?}");
        assert!(error.is_some_and(|e| !e.is_empty()) && hint.is_some_and(|h| !h.is_empty()), "{self:?}");
        error.unwrap_or_default().to_owned()
    }
}

/// A network with some weights.
fn save_network(path: &Path, side: usize, tuple: &str) {
    let tuples = Tuples::new(vec![tuple.parse().expect("a tuple")]).expect("tuples");
    let network = Network::new(NetworkSpec { side, tuples, ..NetworkSpec::default() }).expect("a network");
    let weights = (0..network.spec().table_len(0)).map(|i| (i * 2_654_435_761 % 1000) as f32 / 10.0);
    network.set_table(0, weights);
    network.save(path, &BTreeMap::new()).expect("a file");
}

/// A finished run, with a model, a log and an evaluation.
fn write_run(directory: &Path) {
    fs::create_dir_all(directory.join("checkpoint")).expect("a directory");
    save_network(&directory.join("model.safetensors"), 4, "0123");
    let recipe = Recipe::load("quick", &[]).and_then(|recipe| recipe.to_toml()).expect("a recipe");
    fs::write(directory.join("recipe.toml"), recipe).expect("a file");
    let line = |actions: u64, share: f64| {
        format!(
            r#"{{"actions":{actions},"episodes":3,"seconds":1.5,"budget_share":{share},"moves_per_second":2e6,"mean_score":1234.5,"max_score":5000,"tiles":{{"2048":0.5}},"beta":0.1}}"#
        ) + "\n"
    };
    fs::write(directory.join("log.jsonl"), line(10, 0.5) + &line(20, 1.0)).expect("a file");
    let evaluation = r#"{"actions":20,"episodes":6,"model":"x","search":"1ply","games":2,"seed":1,"score":{"mean":100.0,"ci95":1.0,"sd":1.0,"median":100.0,"min":90,"max":110},"tiles":{"2048":0.0},"moves":50,"seconds":0.1,"moves_per_second":500.0}"#;
    fs::write(directory.join("eval.jsonl"), evaluation.to_owned() + "\n").expect("a file");
}

impl Running {
    /// With the models `tiny` (a run, 4×4) and `three` (a file, 3×3).
    pub(crate) fn new() -> Self {
        Running::with(|_| ())
    }

    /// The same with other options.
    pub(crate) fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let (runs, models) = (folder.path().join("runs"), folder.path().join("models"));
        fs::create_dir_all(&models).expect("a directory");
        write_run(&runs.join("tiny"));
        save_network(&models.join("three.safetensors"), 3, "0123");
        let model = Some(runs.join("tiny"));
        let mut options = Options { port: Some(0), runs, models, model, ..Options::default() };
        change(&mut options);
        let server = Server::bind(&options).expect("a free port");
        let (address, token) = (server.address(), server.token().to_owned());
        let (stop, stopped) = oneshot::channel();
        let run = move || server.run(async { _ = stopped.await }).expect("the server ends well");
        Running { address, folder, token, stop: Some(stop), thread: Some(std::thread::spawn(run)) }
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream
    }

    /// Sends raw bytes; `None` without a response.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        stream.write_all(bytes).ok()?;
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader)?;
        let mut body =
            vec![0; headers.get("content-length").map_or(0, |length| length.parse().expect("a length"))];
        reader.read_exact(&mut body).ok()?;
        Some(Answer { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let json = if method == "POST" && !headers.contains("Content-Type") {
            "Content-Type: application/json\r\n"
        } else {
            ""
        };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{json}Content-Length: {}\r\n",
            body.len()
        );
        let answer = self.raw(format!("{head}{headers}Connection: close\r\n\r\n{body}").as_bytes());
        answer.unwrap_or_else(|| panic!("no answer to {method} {path}"))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, "", "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path, "", &body.to_string())
    }

    /// A POST with the token.
    pub(crate) fn trusted(&self, path: &str, body: &Value) -> Answer {
        let header = format!("X-Afterstate-Token: {}\r\n", self.token());
        self.request("POST", path, &header, &body.to_string())
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Events up to one with this name, each with its data.
    pub(crate) fn events(&self, path: &str, last: &str) -> Vec<(String, Value)> {
        self.listen(
            &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"),
            last,
        )
    }

    /// The same for a request with a body and the token.
    pub(crate) fn post_events(&self, path: &str, body: &Value, last: &str) -> Vec<(String, Value)> {
        let (body, token) = (body.to_string(), &self.token);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n\
             X-Afterstate-Token: {token}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.listen(&(head + &body), last)
    }

    fn listen(&self, request: &str, last: &str) -> Vec<(String, Value)> {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("sent");
        let (mut name, mut events) = (String::new(), Vec::new());
        for line in BufReader::new(stream).lines() {
            let line = line.expect("a line");
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                events.push((name.clone(), serde_json::from_str(data).expect("JSON")));
                if name == last {
                    break;
                }
            }
        }
        events
    }
}

/// The status and the headers.
fn read_head(reader: &mut impl BufRead) -> Option<(u16, BTreeMap<String, String>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let status = line.split(' ').nth(1)?.parse().ok()?;
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(": ") else { return Some((status, headers)) };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
}

impl Running {
    /// Stops the server, and waits for it; its files stay until the test is over.
    pub(crate) fn end(&mut self) {
        self.stop.take();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(
            std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()),
            "the server has panicked"
        );
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
