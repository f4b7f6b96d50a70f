//! Requests beyond the server's limits.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::common::Running;
use tokio::net::TcpSocket;

/// A game that is watched as long as the connection is open.
const WATCH: &str = "/api/watch?game=1&search=1ply&delay=60000";

/// A connection from another address of this machine: all of 127.0.0.0/8 are.
fn connect_from(server: &Running, address: [u8; 4]) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let connect = async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind((address, 0).into()).expect("an address");
        socket.connect(server.address).await.expect("a connection").into_std().expect("a stream")
    };
    let stream = runtime.block_on(connect);
    stream.set_nonblocking(false).expect("a stream that waits");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    stream
}

/// Opens a stream, and waits for its first line.
fn open_stream(server: &Running, address: [u8; 4]) -> TcpStream {
    let mut stream = connect_from(server, address);
    write!(stream, "GET {WATCH} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut line = String::new();
    BufReader::new(&mut stream).read_line(&mut line).expect("a line");
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    stream
}

#[test]
fn more_streams_than_may_be_open_are_told_to_come_back() {
    let server = Running::new();
    let limits = server.get("/api/session").json()["limits"].clone();
    let limit = |name: &str| limits[name].as_u64().expect("a number");
    let (most, own) = (limit("max_streams"), limit("max_streams_per_address"));
    assert!(own < most);
    let addresses = (0..most).map(|i| [127, 0, 1, (i / own) as u8 + 1]);
    let mut open: Vec<_> = addresses.map(|address| open_stream(&server, address)).collect();
    let refused = server.get(WATCH);
    assert_eq!((refused.status, refused.headers["retry-after"].as_str()), (503, "1"));
    assert_eq!(refused.json()["error"], format!("{most} streams are open"));
    assert_eq!(server.get("/api/advise?board=0000/0010/0100/000b").status, 200, "answers go on");
    open.pop();
    let start = Instant::now();
    // A stream that begins has no length, so that its answer is read without a body.
    while server.get(WATCH).status == 503 {
        assert!(start.elapsed() < Duration::from_secs(5), "the place of a closed stream is not given back");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn one_address_has_its_share_of_streams_and_connections() {
    let server = Running::with(|options| options.connections = 64);
    let own =
        server.get("/api/session").json()["limits"]["max_streams_per_address"].as_u64().expect("a number");
    // A quarter of the connections: one more is closed without a response.
    let open: Vec<_> = (0..own).map(|_| open_stream(&server, [127, 0, 0, 2])).collect();
    assert_eq!(open.len(), 16, "all connections of this address are its streams now");
    let mut next = connect_from(&server, [127, 0, 0, 2]);
    let _ = write!(next, "GET /api/session HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(matches!(next.read(&mut [0; 12]), Ok(0) | Err(_)), "closed");
    assert_eq!(server.get("/api/session").status, 200, "others go on");
    let wide = Running::new();
    let _open: Vec<_> = (0..own).map(|_| open_stream(&wide, [127, 0, 0, 1])).collect();
    assert_eq!(wide.get(WATCH).json()["error"], format!("{own} streams of this address are open"));
}

#[test]
fn more_connections_than_may_be_open_wait() {
    let server = Running::with(|options| options.connections = 2);
    let mut open = [connect_from(&server, [127, 0, 0, 2]), connect_from(&server, [127, 0, 0, 3])];
    for stream in &mut open {
        write!(stream, "GET /api/session HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        assert_eq!(stream.read(&mut [0; 4096]).expect("an answer").min(1), 1);
    }
    let mut third = server.connect();
    write!(third, "GET /api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("sent");
    third.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    let waits = third.read(&mut [0; 12]).expect_err("it waits").kind();
    assert!(matches!(waits, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{waits}");
    drop(open);
    third.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut answer = String::new();
    third.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn silent_clients_make_room() {
    let patience = Duration::from_millis(100);
    let server = Running::with(|options| (options.connections, options.patience) = (2, patience));
    let mut silent = [connect_from(&server, [127, 0, 0, 2]), connect_from(&server, [127, 0, 0, 3])];
    write!(silent[1], "GET /api/session HTTP/1.1\r\nHost: loc").expect("sent");
    assert_eq!(server.get("/api/session").status, 200, "the third one waits for its turn, but not for ever");
    for stream in &mut silent {
        // Closed, or closed with an error message.
        let _ = stream.read_to_end(&mut Vec::new());
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }
}

#[test]
fn clients_that_listen_are_not_silent() {
    let server = Running::with(|options| options.patience = Duration::from_millis(100));
    let events = server.events("/api/watch?game=1&search=1ply&moves=3&delay=150", "end");
    assert_eq!(events.len(), 4, "{events:?}");
    assert_eq!(server.get("/api/advise?board=0000/0010/0100/000b&search=300ms").status, 200);
}
