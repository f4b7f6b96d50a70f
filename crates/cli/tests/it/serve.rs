//! The server as a process: it trains by a child, answers with the trained model, and ends on request.

#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use afterstate_network::{Network, NetworkSpec, Tuples};
use serde_json::{Value, json};

#[path = "../browser/solution.rs"]
mod solution;

struct Serve {
    child: Child,
    /// Kept open: a server without a reader ends.
    output: BufReader<ChildStdout>,
    address: String,
    token: String,
}

impl Serve {
    fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    fn start_with(folder: &Path, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_afterstate"))
            .args(["serve", "--port", "0"])
            .args(options)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("its output"));
        output.read_line(&mut line).expect("a line");
        let (address, token) = line.trim().split_once("/#token/").expect("an address with a token");
        let address = address.trim_start_matches("http://").to_owned();
        Serve { child, output, address, token: token.to_owned() }
    }

    fn ask(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
        ask(&self.address, method, path, token, body)
    }

    /// SIGTERM, and the exit code.
    fn end(mut self) -> Option<i32> {
        Command::new("kill").arg(self.child.id().to_string()).status().expect("kill");
        self.child.wait().expect("an end").code()
    }
}

/// A request to an address: the status and the response.
fn ask(address: &str, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let length = body.len();
    write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Afterstate-Token: {token}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).unwrap_or_default())
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
    let session = server.ask("GET", "/api/session", &server.token, "").1;
    assert!(start.elapsed() < Duration::from_secs(2), "the first answer took {:?}", start.elapsed());
    assert!(session["training"] == true && session["version"] == env!("CARGO_PKG_VERSION"));
    let token = &server.token;

    let question = json!({ "recipe": "terauchi-2025/table-4/mnt4", "name": "mini", "seconds": 60 });
    let (status, answer) = server.ask("POST", "/api/runs", token, &question.to_string());
    assert_eq!((status, &answer["name"]), (201, &json!("mini")), "{answer}");
    assert_eq!(server.ask("GET", "/api/runs", "", "").1["runs"][0]["state"], "running");
    let (status, answer) = server.ask("POST", "/api/runs/mini/stop", token, "");
    assert_eq!((status, &answer["state"]), (200, &json!("stopped")), "{answer}");
    let (status, answer) = server.ask("POST", "/api/v1/runs/mini/resume", token, "");
    assert_eq!(status, 201, "{answer}");
    assert_eq!(server.ask("GET", "/api/v1/runs/mini", "", "").1["state"], "running");
    assert_eq!(server.ask("DELETE", "/api/v1/runs/mini", token, "").0, 409, "not while it is being trained");
    assert_eq!(server.ask("POST", "/api/v1/runs/mini/stop", token, "").0, 200);
    let advice = server.ask("GET", "/api/advise?board=012/000/001&model=mini", "", "");
    assert_eq!((advice.0, &advice.1["model"]), (200, &json!("mini")), "{}", advice.1);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn the_end_of_the_server_saves_its_training() {
    let folder = tempfile::tempdir().expect("a directory");
    let server = Serve::start(folder.path());
    let question = json!({ "recipe": "terauchi-2025/table-4/mnt4", "name": "a/b", "seconds": 60 });
    let (status, _) = server.ask("POST", "/api/runs", &server.token, &question.to_string());
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

#[test]
fn a_phone_is_told_where_to_look() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut server = Serve::start_with(folder.path(), &["--listen", "0.0.0.0"]);
    let mut line = String::new();
    server.output.read_line(&mut line).expect("a line");
    let Some(address) = line.trim().strip_prefix("on a phone in the same network: http://") else {
        assert!(line.starts_with("model: "), "without a network: {line}");
        return;
    };
    let address = address.trim_end_matches('/');
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("a question");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the page");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<title>Afterstate</title>"), "{answer}");
    assert!(!answer.contains(&server.token), "the token is in the terminal only");
}

/// nginx as Debian configures it does not forward the client's address: behind it, every request seems to come from
/// this machine. The token does not depend on that.
#[test]
fn behind_a_proxy_the_token_is_still_needed() {
    if Command::new("nginx").arg("-v").stderr(Stdio::null()).status().is_err() {
        eprintln!("skipped: there is no nginx (Debian package nginx-light)");
        return;
    }
    let folder = tempfile::tempdir().expect("a directory");
    let server = Serve::start(folder.path());
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let (place, address) = (folder.path().display(), &server.address);
    let configuration = format!(
        "daemon off; master_process off; pid {place}/nginx.pid; error_log {place}/error.log; events {{}}\n\
         http {{ access_log off; client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/f;\n\
         uwsgi_temp_path {place}/u; scgi_temp_path {place}/s;\n\
         server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{address}; }} }} }}"
    );
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, configuration).expect("a file");
    let mut nginx = Command::new("nginx")
        .arg("-p")
        .arg(folder.path())
        .arg("-c")
        .arg(&file)
        .stderr(Stdio::null())
        .spawn()
        .expect("nginx");
    let proxy = format!("127.0.0.1:{port}");
    let start = Instant::now();
    while TcpStream::connect(&proxy).is_err() {
        assert!(start.elapsed() < Duration::from_secs(10), "nginx does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    let session = ask(&proxy, "GET", "/api/v1/session", "", "").1;
    assert_eq!((&session["trusted"], &session["training"]), (&json!(false), &json!(false)), "{session}");
    assert!(!session.to_string().contains(&server.token));
    let question = json!({ "recipe": "quick" }).to_string();
    assert_eq!(ask(&proxy, "POST", "/api/v1/runs", "", &question).0, 403);
    assert_eq!(ask(&proxy, "POST", "/api/v1/evaluate", "", "{}").0, 403);
    assert_eq!(
        ask(&proxy, "GET", "/api/v1/session", &server.token, "").1["trusted"],
        true,
        "whoever has it may"
    );
    let _ = nginx.kill();
    let _ = nginx.wait();
}

/// Like `cp`: the file stays the same, is truncated and rewritten.
fn copy_over(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).truncate(true).open(path).expect("the file");
    file.write_all(bytes).expect("written");
}

/// The system kills a process whose mapped file is truncated.
#[test]
fn files_that_are_copied_over_do_not_end_the_server() {
    let folder = tempfile::tempdir().expect("a directory");
    let models = folder.path().join("models");
    std::fs::create_dir(&models).expect("a directory");
    let (model, known) = (models.join("small.safetensors"), models.join("3x3.solution"));
    let spec = NetworkSpec { tuples: Tuples::named("2x4").expect("a set"), ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    network.save(&model, &[].into()).expect("a model");
    let first = std::fs::read(&model).expect("the model");
    network.set_table(0, (0..65_536u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as f32));
    network.save(&model, &[].into()).expect("another model");
    let second = std::fs::read(&model).expect("the other model");
    solution::write(&known);

    let server = Serve::start(folder.path());
    let of_model =
        || server.ask("GET", "/api/v1/advise?board=1234/1234/0000/0000&model=small&search=1ply", "", "");
    let question = format!("/api/v1/advise?board={}&search=exact", solution::BOARD);
    let of_solution = || server.ask("GET", &question, "", "");
    let (status, valued) = of_model();
    assert_eq!(status, 200, "{valued}");
    assert_eq!(of_solution().1["values"]["left"], 104.0);

    copy_over(&model, &second[..second.len() / 3]);
    copy_over(&known, b"2048sol1");
    let (status, answer) = of_model();
    assert!(
        status >= 400 && answer["error"].as_str().is_some_and(|error| error.contains("small")),
        "{answer}"
    );
    assert_eq!(of_solution().1["values"]["left"], 104.0, "what was read stays in memory");
    copy_over(&model, &first);
    let (status, answer) = of_model();
    assert_eq!((status, &answer["values"]["up"]), (200, &json!(60.0)), "the new file is in use: {answer}");
    assert_ne!(answer["values"], valued["values"]);
    assert_eq!(server.ask("GET", "/api/v1/session", "", "").0, 200);
    assert_eq!(server.end(), Some(0));
}
