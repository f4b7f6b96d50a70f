//! Whatever the request, there is a response, and never a 5xx.

use std::{
    io::{Read, Write},
    thread,
    time::{Duration, Instant},
};

use crate::common::Running;
use afterstate_game::game_rng;
use rand_core::Rng;
use serde_json::json;

/// Texts that tend to break programs.
const ODD: &[&str] = &[
    "",
    "0",
    "-1",
    "null",
    "1e999",
    "NaN",
    "true",
    "[]",
    "{}",
    "\"",
    "\\",
    "/",
    "..",
    "../../etc/passwd",
    "..%2f..%2f",
    "%00",
    "a%00b",
    "%ff",
    "🦀",
    "0000/0000/0000/0000",
    "hhhh/hhhh/hhhh/hhhh",
    "0000/0010/0100/000",
    "zzzz/0000/0000/0000",
    "1 2 3",
    "18446744073709551616",
    "999ply",
    "0ply",
    "1e9s",
    "-5ms",
    "3ply+table=30",
    "3ply+prune=2",
    "exact",
    "random",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "1-1-1",
    "1-1-99999999999",
    "CON",
    "tiny/../tiny",
    "tiny/model",
    ".",
    "C:\\x",
    "afterstate game 1 1 4",
    "0000/0010/0100/000b",
    "left",
];

fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn odd_parameters_and_bodies_never_break_it() {
    let server = Running::new();
    let mut rng = game_rng(1, 1);
    let mut odd = || ODD[rng.next_u64() as usize % ODD.len()];
    let gets = [
        ("/api/advise", &["board", "model", "search"][..]),
        ("/move", &["board", "model", "search"]),
        ("/api/watch", &["board", "stream", "model", "search", "game", "moves", "delay"]),
        ("/api/runs/tiny/events", &["after"]),
    ];
    let posts = [
        ("/api/advise", &["board", "model", "search"][..]),
        ("/api/game", &["side", "game", "seed"]),
        ("/api/move", &["board", "move", "stream"]),
        ("/api/review", &["text", "model", "search"]),
        ("/api/runs", &["recipe", "name", "seconds"]),
        ("/api/evaluate", &["model", "games", "seed"]),
    ];
    for round in 0..400 {
        let (path, keys) = gets[round % gets.len()];
        let query: Vec<_> = keys.iter().map(|key| format!("{key}={}", encode(odd()))).collect();
        // Streams are not waited for once they begin.
        let head = format!("GET {path}?{} HTTP/1.1\r\nHost: localhost\r\n\r\n", query.join("&"));
        let answer = server.raw(head.as_bytes()).expect("an answer");
        assert!(answer.status < 500, "{head}: {answer:?}");
        if answer.status != 200 {
            answer.error();
        }
        let (path, keys) = posts[round % posts.len()];
        let fields = keys.iter().map(|key| match serde_json::from_str::<serde_json::Value>(odd()) {
            Ok(value) if round % 3 == 0 => (key.to_string(), value),
            _ => (key.to_string(), json!(odd())),
        });
        let body = serde_json::Value::Object(fields.collect()).to_string();
        let answer = match round % 4 {
            0 => server.request("POST", path, "", odd()),
            1 => server.request("POST", path, "", &body[..body.floor_char_boundary(body.len() / 2)]),
            _ => server.trusted(path, &serde_json::from_str(&body).expect("JSON")),
        };
        assert!(answer.status < 500, "{path} {body}: {answer:?}");
        if answer.status != 200 {
            answer.error();
        }
    }
    assert_eq!(server.get("/api/session").status, 200);
}

#[test]
fn names_never_leave_the_directories() {
    let server = Running::new();
    std::fs::write(server.folder.path().join("secret.safetensors"), "secret").expect("a file");
    for name in [
        "../secret",
        "..%2Fsecret",
        "%2e%2e%2fsecret",
        "%2Fetc%2Fpasswd",
        "tiny%2F..%2F..%2Fsecret",
        ".",
        "..",
        "%00",
        "tiny%2F%2Fx",
        "tiny%2F.",
        "tiny%2F",
    ] {
        for path in [
            format!("/api/runs/{name}"),
            format!("/api/runs/{name}/events"),
            format!("/api/advise?board=0000/0010/0100/000b&model={name}"),
            format!("/{name}"),
            format!("/{name}/Cargo.toml"),
        ] {
            let answer = server.get(&path);
            assert_eq!(answer.status, 404, "{path}: {answer:?}");
            assert!(!answer.body.contains("root:"), "{answer:?}");
        }
    }
    let odd = server.trusted("/api/runs", &json!({ "recipe": "quick", "name": "../x" }));
    assert!(odd.status == 400 || odd.status == 409, "{odd:?}");
    assert_eq!(server.trusted("/api/runs", &json!({ "recipe": "../../etc/passwd" })).status, 404);
}

#[test]
fn other_names_of_the_host_are_refused() {
    let server = Running::with(|options| options.hosts = vec!["box.lan".into()]);
    let ask = |host: &str| {
        let head = format!("GET /api/session HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        server.raw(head.as_bytes()).expect("an answer").status
    };
    for host in ["localhost", "127.0.0.1:2048", "[::1]", "box.lan:80"] {
        assert_eq!(ask(&format!("Host: {host}\r\n")), 200, "{host}");
    }
    for host in ["evil.com", "localhost.evil.com", "10.0.0.1", "a@localhost", "localhost evil"] {
        let status = ask(&format!("Host: {host}\r\n"));
        assert!(status == 421 || status == 400, "{host}: {status}");
    }
    assert_eq!(ask(""), 400);
    let absolute =
        b"GET http://evil.com/api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(server.raw(absolute).expect("an answer").status, 421);
    let foreign = server.request("GET", "/api/session", "Sec-Fetch-Site: cross-site\r\n", "");
    assert_eq!(foreign.status, 403);
    let page = server.request("GET", "/move?board=0000/0010/0100/000b", "Sec-Fetch-Site: cross-site\r\n", "");
    assert_eq!(page.status, 200);
    let two = b"GET /api/session HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\nConnection: close\r\n\r\n";
    assert_eq!(server.raw(two).expect("an answer").status, 400);
}

#[test]
fn other_sites_have_short_searches_and_read_their_errors() {
    let server = Running::new();
    let ask = |headers: &str, search: &str| {
        server.request("GET", &format!("/move?board=0000/0010/0100/000b{search}"), headers, "")
    };
    for headers in
        ["Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n", "Origin: http://evil.com\r\n"]
    {
        for search in ["", "&search=2ply", "&search=50ms"] {
            assert_eq!(ask(headers, search).status, 200, "{headers}{search}");
        }
        for search in ["&search=3ply", "&search=51ms", "&search=10s", "&search=nonsense"] {
            let refused = ask(headers, search);
            assert_eq!(refused.status, 400, "{headers}{search}");
            assert_eq!(refused.headers["access-control-allow-origin"], "*", "{refused:?}");
        }
        assert!(
            ask(headers, "&search=3ply").json()["hint"].as_str().is_some_and(|hint| hint.contains("2ply"))
        );
    }
    assert_eq!(ask("", "&search=3ply").status, 200, "programs are not pages");
    assert_eq!(ask("Sec-Fetch-Site: same-origin\r\n", "&search=3ply").status, 200);
}

#[test]
fn a_search_is_stopped_at_its_bound() {
    let server = Running::new();
    let start = Instant::now();
    let answer = server.get("/api/advise?board=0000/0010/0100/0000&search=8ply");
    assert!(start.elapsed() < Duration::from_millis(11_500), "{:?}", start.elapsed());
    if answer.status != 200 {
        assert_eq!((answer.status, answer.error().as_str()), (422, "the search takes longer than 10 s"));
    }
}

#[test]
fn starting_and_stopping_needs_the_token() {
    let server = Running::new();
    let question = json!({ "recipe": "quick" });
    assert_eq!(server.post("/api/runs", &question).status, 403);
    assert_eq!(server.post("/api/runs/tiny/stop", &json!({})).status, 403);
    assert_eq!(server.request("DELETE", "/api/runs/tiny", "", "").status, 403);
    assert_eq!(server.post("/api/evaluate", &json!({})).status, 403);
    assert_eq!(server.post("/api/solution", &json!({})).status, 403);
    // No response contains the token, wherever the request comes from.
    for path in ["/", "/api/session", "/api/runs", "/app.js"] {
        assert!(!server.get(path).body.contains(server.token()), "{path}");
    }
    let guessed = format!("X-Afterstate-Token: {}\r\n", "0".repeat(32));
    assert_eq!(server.request("POST", "/api/runs", &guessed, &question.to_string()).status, 403);
    // With it, this server still cannot train.
    assert_eq!(server.trusted("/api/runs", &question).status, 409);
    assert_eq!(server.trusted("/api/runs/tiny/stop", &json!({})).status, 409);
}

#[test]
fn large_bodies_and_other_methods_are_refused() {
    let server = Running::new();
    let large = format!("{{\"text\": \"{}\"}}", "u".repeat(5 << 20));
    // The server may close before it has read everything; a response, if there is one, says why.
    let head =
        format!("POST /api/review HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", large.len());
    assert!(server.raw((head + &large).as_bytes()).is_none_or(|answer| answer.status == 413));
    // The length alone suffices: the body is not waited for.
    let huge = b"POST /api/review HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n";
    let start = Instant::now();
    assert_eq!(server.raw(huge).expect("an answer").status, 413);
    assert!(start.elapsed() < Duration::from_secs(5));
    let plain = server.request("POST", "/api/game", "Content-Type: text/plain\r\n", "{}");
    assert_eq!(plain.status, 415, "{plain:?}");
    assert_eq!(server.request("DELETE", "/api/runs", "", "").status, 405);
    assert_eq!(server.request("PUT", "/api/game", "", "{}").status, 405);
    server.request("PATCH", "/api/game", "", "{}").error();
    assert_eq!(server.get("/api/nothing").status, 404);
    let long = "u".repeat(30_000);
    let long = server.post("/api/review", &json!({ "text": format!("afterstate game 1 1 4\n{long}") }));
    assert!(long.status == 413 || long.status == 400, "{long:?}");
}

#[test]
fn garbage_on_the_wire_does_no_harm() {
    let server = Running::new();
    let mut rng = game_rng(2, 1);
    for _ in 0..50 {
        let mut bytes = vec![0; 200];
        bytes.iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
        let mut stream = server.connect();
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 5"), "{}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(server.get("/api/session").status, 200);
}

#[test]
fn a_client_that_goes_takes_its_search_along() {
    let server = Running::new();
    let running = || server.get("/api/session").json()["searches"]["running"].as_u64().expect("a number");
    let wait_for = |wanted: bool| {
        let start = Instant::now();
        while (running() > 0) != wanted {
            assert!(start.elapsed() < Duration::from_secs(5), "searches are running: {}", !wanted);
            thread::sleep(Duration::from_millis(10));
        }
    };
    for path in [
        "/api/advise?board=0000/0010/0100/0000&search=10s",
        "/api/advise?board=0000/0010/0100/0000&search=8ply",
        "/api/watch?game=1&search=10s",
    ] {
        let mut stream = server.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        wait_for(true);
        drop(stream);
        wait_for(false);
    }
}

#[test]
fn many_clients_are_answered() {
    let server = Running::new();
    thread::scope(|scope| {
        for client in 0..32 {
            let server = &server;
            scope.spawn(move || {
                for question in 0..5 {
                    let board = format!("0000/00{}0/0100/000b", 1 + (client + question) % 9);
                    let answer = server.get(&format!("/api/advise?board={board}"));
                    assert_eq!(answer.status, 200, "{answer:?}");
                }
            });
        }
    });
}

#[test]
fn the_next_free_port_is_taken_unless_one_is_asked_for() {
    let server = Running::new();
    let taken = afterstate_server::Options { port: Some(server.address.port()), ..Default::default() };
    let error = afterstate_server::Server::bind(&taken).err().expect("the port is taken");
    assert!(error.to_string().contains("is taken"), "{error}");
}
