//! What every parser promises, as one function each: whatever the bytes, it gives a value or an error, it never panics, and what it
//! accepts holds what its type promises.
//!
//! The fuzz targets run these functions, and so does `crates/cli/tests/it/parsers.rs`, over the seed corpus and over changed copies of it.

mod engine;

use std::{
    cell::RefCell,
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    sync::{OnceLock, atomic::AtomicBool},
    time::Duration,
};

use afterstate_endgame::{Endgame, Precision, Set, Table, Tables};
use afterstate_game::{AnyBoard, Board, State};
use afterstate_lab::{
    evaluate::{Kept, positions_at},
    log::{EvalLine, Log, LogLine},
    model::{Kind, Model},
    recipe::Recipe,
    records::Shard,
    review::{self, AnyGame, Played},
    run::{Directory, Run},
};
use afterstate_network::{
    Network, Stages, Tuple, Tuples, ValueRanges,
    file::{jaskowski, tdl2048::WeightFile},
};
use afterstate_search::{Limit, PlayerSpec};
use afterstate_server::{Options, Server};
use afterstate_solver::Solution;
pub use engine::{engine, engine_session};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

/// What a target does with some bytes.
type Body = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Body); 21] = [
    ("board_text", board_text),
    ("recipe", recipe),
    ("search", search),
    ("stages", stages),
    ("tuples", tuples),
    ("ranges", ranges),
    ("safetensors", safetensors),
    ("packed", packed),
    ("checkpoint", checkpoint),
    ("solution", solution),
    ("endgame_table", endgame_table),
    ("weights_w", weights_w),
    ("jaskowski_player", jaskowski_player),
    ("parquet", parquet),
    ("json_lines", json_lines),
    ("api_body", api_body),
    ("engine", engine),
    ("engine_session", engine_session),
    ("endgame_set", endgame_set),
    ("dcnn_model", dcnn_model),
    ("game_text", game_text),
];

/// Board texts: what parses prints a text that parses to the same board, whose slides stay boards.
pub fn board_text(data: &[u8]) {
    fn check<const N: usize>(text: &str, board: Board<N>) {
        assert_eq!(text.parse(), Ok(board), "the side is the same");
        assert_eq!(board.to_string().parse(), Ok(board), "what is printed parses back");
        for (_, slide) in State::new(board).slides().iter() {
            let exponents: Vec<u8> = slide.afterstate.board().exponents().collect();
            assert_eq!(Board::from_exponents(&exponents), Ok(slide.afterstate.board()));
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    match text.parse() {
        Ok(AnyBoard::Four(board)) => check(text, board),
        Ok(AnyBoard::Three(board)) => check(text, board),
        Ok(AnyBoard::Two(board)) => check(text, board),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Recipes: what is resolved is resolved to itself again, and has settings and a network.
pub fn recipe(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Recipe::parse("x", "x.toml", text, &[]) {
        Ok(recipe) => {
            let toml = recipe.to_toml().expect("every recipe can be written");
            assert_eq!(Recipe::parse("x", "x.toml", &toml, &[]).expect("a resolved recipe"), recipe);
            recipe.network.spec(recipe.game.side).expect("a network");
            recipe.settings();
            afterstate_lab::run::MemoryPlan::of(&recipe).expect("a plan");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Searches: what parses prints a text that parses to the same.
pub fn search(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(spec) = text.parse::<PlayerSpec>() {
        assert_eq!(
            spec.to_string().parse::<PlayerSpec>().expect("its own text").to_string(),
            spec.to_string()
        );
        // Not asked for, but looked at.
        let _ = spec.check_fits(1);
    }
}

/// Stages: every board has one, and the text comes back.
pub fn stages(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(stages) = text.parse::<Stages>() {
        assert_eq!(stages.to_string().parse::<Stages>().expect("its own text"), stages);
        for board in [[0; 16], [17; 16], [11; 16]] {
            assert!(stages.of(&board) < stages.count());
        }
    }
}

/// Tuples: their cells are distinct and on the board.
pub fn tuples(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let parsed: Vec<Tuple> = text.split_whitespace().filter_map(|tuple| tuple.parse().ok()).collect();
    for tuple in &parsed {
        assert!((1..=12).contains(&tuple.len()) && tuple.cells().iter().all(|&cell| cell < 16));
        assert_eq!(tuple.to_string().parse::<Tuple>().expect("its own text"), *tuple);
    }
    let _ = (Tuples::new(parsed), Tuples::named(text));
}

/// Value ranges: what parses covers all values, for any number of them.
pub fn ranges(data: &[u8]) {
    let [tile_values, text @ ..] = data else { return };
    let (tile_values, Ok(text)) = (usize::from(*tile_values) % 20, std::str::from_utf8(text)) else { return };
    match ValueRanges::parse(text, tile_values) {
        Ok(ranges) => {
            assert_eq!(ranges.as_slice().last().map(|range| usize::from(range.last) + 1), Some(tile_values))
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Model files, with checksums that are right whatever else is wrong.
pub fn safetensors(data: &[u8]) {
    with_file(&sealed_tensors(data), |path| {
        // A damaged header can ask for a network of any size; only small ones are made.
        if data.len() < 1 << 20
            && let Ok(Model { kind: Kind::Network(network), .. }) = Model::open_unfolded(Some(path))
        {
            let _ = network.folded();
        }
    });
}

/// Packed models, likewise.
pub fn packed(data: &[u8]) {
    safetensors(data);
}

/// Checkpoints: a run goes on from one, or says why not.
pub fn checkpoint(data: &[u8]) {
    with_folder(|folder| {
        let directory = Directory::new(folder.join("run"));
        fs::create_dir_all(folder.join("run/checkpoint")).expect("a directory");
        fs::write(directory.checkpoint(), sealed_tensors(data)).expect("a file");
        let recipe = Recipe::parse("x", "x.toml", CHECKPOINT_RECIPE, &[]).expect("a recipe");
        let resumed = Run::resume(directory, recipe).map(|run| run.train(&AtomicBool::new(true), &mut ()));
        if let Ok(Err(error)) = resumed {
            assert!(!error.to_string().is_empty());
        }
    });
}

/// The recipe of the checkpoints in the corpus.
pub const CHECKPOINT_RECIPE: &str = "game.side = 2\nnetwork = { tuples = ['0123'], tile_values = 5 }\nlearning.lambda = 0.5\n\
    parallel.threads = 1\nbudget.actions = 2000\nevaluation.every = 0";

/// Solutions, with checksums that are right.
pub fn solution(data: &[u8]) {
    let mut bytes = data.to_vec();
    if let Some(layers) = bytes.get(20..24) {
        let layers = u32::from_le_bytes([layers[0], layers[1], layers[2], layers[3]]) as usize;
        let end = 48 + 8 * layers;
        if let Some(sum) = bytes.get(..end).map(xxh3_64)
            && let Some(place) = bytes.get_mut(end..end + 8)
        {
            place.copy_from_slice(&sum.to_le_bytes());
            let last = bytes.len().saturating_sub(8);
            if let Some(sum) = bytes.get(end + 8..last).map(xxh3_64) {
                bytes[last..].copy_from_slice(&sum.to_le_bytes());
            }
        }
    }
    with_file(&bytes, |path| {
        if let Ok(solution) = Solution::<2>::open(path) {
            for text in ["0001", "0012", "1234"] {
                let _ = solution.best(text.parse().expect("a board"));
            }
        }
    });
}

/// Endgame tables, with checksums that are right: what opens gives chances, and whatever layer is asked for is there or an error.
pub fn endgame_table(data: &[u8]) {
    with_file(&sealed_table(data).unwrap_or_else(|| data.to_vec()), |path| {
        let Ok(table) = Table::open(path) else { return };
        for (sum, _) in table.layers() {
            for (position, chance) in table.sample(sum, 97).unwrap_or_default() {
                assert!(table.precision() == Precision::F32 || (0.0..=1.0).contains(&chance));
                let _ = table.chance(position);
            }
        }
        let tables = Tables::new(vec![table]);
        let _ = tables.probe("0000/0000/0012/edcb".parse().expect("a board"));
    });
}

/// The bytes of an endgame table with its checksums made right, as far as it is one.
fn sealed_table(data: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = data.to_vec();
    let number =
        |bytes: &[u8], at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let long = |bytes: &[u8], at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let header = number(&bytes, 12)?.checked_add(16)?;
    let sum = xxh3_64(bytes.get(..header)?);
    bytes.get_mut(header..header.checked_add(8)?)?.copy_from_slice(&sum.to_le_bytes());
    // The frames, which the index repeats.
    let footer = bytes.len().checked_sub(32)?;
    let (count, index) = (long(&bytes, footer)?, long(&bytes, footer + 8)?);
    for entry in (0..count.min(1 << 12)).map(|i| index.wrapping_add(32 * i)) {
        let at = long(&bytes, entry)?;
        let content = at.checked_add(24)?;
        let len = number(&bytes, at.checked_add(8)?)?.checked_add(number(&bytes, at + 12)?)?;
        let mut head = *bytes.get(at..)?.first_chunk::<24>()?;
        head[16..].fill(0);
        let sum = xxh3_64(&head).rotate_left(1) ^ xxh3_64(bytes.get(content..content.checked_add(len)?)?);
        head[16..].copy_from_slice(&sum.to_le_bytes());
        bytes[at..content].copy_from_slice(&head);
        bytes.get_mut(entry.checked_add(8)?..entry.checked_add(32)?)?.copy_from_slice(&head);
    }
    let sum = xxh3_64(&[bytes.get(index..footer)?, &bytes[footer..footer + 16]].concat());
    bytes[footer + 16..footer + 24].copy_from_slice(&sum.to_le_bytes());
    Some(bytes)
}

/// Sets of endgame tables: what parses has tables with names that are file names, and endgames whose own text is one of the same.
pub fn endgame_set(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Set::parse("x.toml", text) {
        Ok(set) => {
            for table in &set.tables {
                assert!(!table.name.is_empty() && !table.name.contains(['/', '.', '\0']), "{:?}", table.name);
                let shapes: Vec<_> = table.endgame.shapes().iter().map(ToString::to_string).collect();
                let again = Endgame::parse(&shapes, table.endgame.target_tile()).expect("its own shapes");
                assert_eq!(again.shapes(), table.endgame.shapes());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Models of convolutional networks, with checksums that are right: what opens has an advice for a board.
pub fn dcnn_model(data: &[u8]) {
    with_file(&sealed_tensors(data), |path| {
        // A damaged header can ask for a network of any size; only small ones are made.
        let opened = if data.len() < 1 << 20 { Model::open(Some(path)) } else { return };
        let Ok(model @ Model { kind: Kind::Dcnn(..), .. }) = opened else { return };
        let search = model.search(None, Limit::Plies(1)).expect("its own way to play");
        let mut player = model.player::<4>(search, 1).expect("a player");
        let _ = player.advise("0000/0012/0210/3245".parse().expect("a board"));
    });
}

/// Texts of played games: what is read is a game whose moves are all possible, of no more moves than are asked for.
pub fn game_text(data: &[u8]) {
    fn check<const N: usize>(game: &[Played<N>]) {
        assert!(game.len() <= 500 && game.iter().all(|played| played.state.slide(played.a).is_some()));
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    match review::parse(text, 500) {
        Ok((_, AnyGame::Four(game))) => check(&game),
        Ok((_, AnyGame::Three(game))) => check(&game),
        Ok((_, AnyGame::Two(game))) => check(&game),
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}

/// `.w` files of TDL2048+.
pub fn weights_w(data: &[u8]) {
    with_file(data, |path| {
        if let Ok(file) = WeightFile::open(path) {
            assert!(file.values(0).iter().all(f32::is_finite));
            let _ = file.network();
        }
    });
}

/// Player files of Jaśkowski.
pub fn jaskowski_player(data: &[u8]) {
    with_file(data, |path| {
        if let Ok(network) = jaskowski::import(path) {
            assert!(network.table(0).all(f32::is_finite));
        }
    });
}

/// Shards of play records: the one of the corpus, or an error.
pub fn parquet(data: &[u8]) {
    with_file(data, |path| {
        if let Ok(shard) = Shard::read(path) {
            assert!(
                shard.info.records_checksum.is_some()
                    || shard.records.iter().all(|r| r.state.slide(r.action).is_some())
            );
        }
    });
}

/// Logs, kept games and collected positions.
pub fn json_lines(data: &[u8]) {
    with_file(data, |path| {
        let _ = (Log::<LogLine>::read(path), Log::<EvalLine>::read(path), Kept::read(path));
        let _ = positions_at::<4>(path, 16384);
        assert_eq!(fs::read(path).expect("the file"), data, "reading changes nothing");
    });
}

/// Bodies and query strings of requests: no answer is a 5xx.
pub fn api_body(data: &[u8]) {
    static SERVER: OnceLock<SocketAddr> = OnceLock::new();
    const ROUTES: [&str; 8] = [
        "POST /api/advise",
        "POST /api/game",
        "POST /api/move",
        "POST /api/review",
        "POST /api/runs",
        "GET /api/advise?",
        "GET /move?",
        "GET /api/watch?",
    ];
    let [route, body @ ..] = data else { return };
    let address = SERVER.get_or_init(serve);
    let route = ROUTES[usize::from(*route) % ROUTES.len()];
    let query: String = body
        .iter()
        .take(500)
        .map(|&byte| if byte.is_ascii_graphic() && byte != b'#' { byte as char } else { '+' })
        .collect();
    let (line, body) =
        if route.ends_with('?') { (format!("{route}{query}"), &b""[..]) } else { (route.to_owned(), body) };
    let head = format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
    let mut answer = [0; 12];
    // A stream of moves has no end: its first line is enough.
    if stream.read_exact(&mut answer).is_ok() {
        assert!(
            answer.starts_with(b"HTTP/1.1 ") && answer[9] < b'5',
            "{line}: {}",
            String::from_utf8_lossy(&answer)
        );
    }
}

/// The file of a small model, for as long as the process lives.
fn small_model() -> PathBuf {
    let folder = tempfile::tempdir().expect("a directory").keep();
    let tuples = Tuples::new(vec!["0123".parse().expect("a tuple")]).expect("tuples");
    let spec = afterstate_network::NetworkSpec { tuples, ..Default::default() };
    let model = folder.join("model.safetensors");
    Network::new(spec).expect("a network").save(&model, &[].into()).expect("a file");
    model
}

/// A server with a small model, for as long as the process lives.
fn serve() -> SocketAddr {
    let model = small_model();
    let folder = model.parent().expect("a directory");
    let (runs, models) = (folder.join("runs"), folder.join("models"));
    let options = Options { port: Some(0), runs, models, model: Some(model), ..Options::default() };
    let server = Server::bind(&options).expect("a free port");
    let address = server.address();
    std::thread::spawn(move || server.run(std::future::pending()));
    address
}

/// The bytes of a safetensors file with its checksums made right, as far as it is one.
fn sealed_tensors(data: &[u8]) -> Vec<u8> {
    sealed(data).unwrap_or_else(|| data.to_vec())
}

fn sealed(data: &[u8]) -> Option<Vec<u8>> {
    let len = u64::from_le_bytes(*data.first_chunk()?);
    let start = usize::try_from(len).ok()?.checked_add(8)?;
    let (header, tensors) = (data.get(8..start)?, data.get(start..)?);
    let mut header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    let sums: Vec<_> = header
        .iter()
        .filter_map(|(name, info)| {
            let at = |i: usize| info["data_offsets"][i].as_u64().and_then(|at| usize::try_from(at).ok());
            let sum = xxh3_64(tensors.get(at(0)?..at(1)?)?);
            Some((format!("checksum.{name}"), format!("{sum:016x}")))
        })
        .collect();
    let metadata = header.get_mut("__metadata__")?.as_object_mut()?;
    metadata.extend(sums.into_iter().map(|(key, sum)| (key, Value::String(sum))));
    metadata.remove("checksum");
    let sum = xxh3_64(Value::Object(header.clone()).to_string().as_bytes());
    let metadata = header.get_mut("__metadata__")?.as_object_mut()?;
    metadata.insert("checksum".to_owned(), format!("{sum:016x}").into());
    let mut text = Value::Object(header).to_string().into_bytes();
    text.resize((text.len() + 8).next_multiple_of(64) - 8, b' ');
    Some([&(text.len() as u64).to_le_bytes()[..], &text, tensors].concat())
}

/// Gives a folder of the thread's own, in memory where there is such a place.
fn with_folder(work: impl FnOnce(&Path)) {
    thread_local! {
        static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
    }
    FOLDER.with_borrow_mut(|folder| {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = folder.get_or_insert_with(|| tempfile::tempdir_in(place).expect("a directory"));
        work(folder.path());
        // What one input leaves is not for the next.
        let _ = fs::remove_dir_all(folder.path().join("run"));
    });
}

/// Gives a file with this content.
fn with_file(bytes: &[u8], work: impl FnOnce(&Path)) {
    with_folder(|folder| {
        let path: PathBuf = folder.join("file");
        fs::write(&path, bytes).expect("a file");
        work(&path);
    });
}
