//! `afterstate conformance`: the vectors follow an independent implementation of the rules, and the script finds
//! faults.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;

fn vectors() -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_afterstate"))
        .args(["conformance"])
        .output()
        .expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn cells(value: &Value) -> Vec<u64> {
    value.as_array().expect("a board").iter().map(|cell| cell.as_u64().expect("an exponent")).collect()
}

/// The cells of a line, beginning at the wall to which tiles slide.
fn line(action: u64, i: usize) -> [usize; 4] {
    let cell = |j: usize| match action {
        0 => 4 * j + i,
        1 => 4 * i + 3 - j,
        2 => 4 * (3 - j) + i,
        _ => 4 * i + j,
    };
    [0, 1, 2, 3].map(cell)
}

/// The rules, naively.
fn slide(board: &[u64], action: u64) -> (Vec<u64>, u64) {
    let (mut after, mut reward) = (vec![0; 16], 0);
    for i in 0..4 {
        let cells = line(action, i);
        let tiles: Vec<_> = cells.iter().map(|&cell| board[cell]).filter(|&tile| tile > 0).collect();
        let (mut from, mut to) = (0, 0);
        while from < tiles.len() {
            let merges = from + 1 < tiles.len() && tiles[from] == tiles[from + 1];
            after[cells[to]] = tiles[from] + u64::from(merges);
            reward += if merges { 2 << tiles[from] } else { 0 };
            from += 1 + usize::from(merges);
            to += 1;
        }
    }
    (after, reward)
}

#[test]
fn vectors_follow_the_rules() {
    let vectors = vectors();
    let kinds: BTreeSet<_> = vectors.iter().map(|vector| vector["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["about", "game", "move", "spawn"]);
    let mut largest = 0;
    for vector in vectors.iter().filter(|vector| vector["kind"] == "move") {
        let (board, action) = (cells(&vector["board"]), vector["action"].as_u64().expect("an action"));
        let (after, reward) = slide(&board, action);
        assert_eq!(vector["legal"], after != board, "{vector}");
        assert_eq!(
            (cells(&vector["afterstate"]), &vector["reward"]),
            (after.clone(), &reward.into()),
            "{vector}"
        );
        let empty: Vec<_> = (0..16u64).filter(|&i| after[i as usize] == 0 && after != board).collect();
        assert_eq!(vector["spawn_cells"], serde_json::json!(empty), "{vector}");
        largest = largest.max(*after.iter().max().expect("cells"));
    }
    assert_eq!(largest, 17, "a 131072-tile is made");
    for vector in vectors.iter().filter(|vector| vector["kind"] == "spawn") {
        let (board, action) = (cells(&vector["board"]), vector["action"].as_u64().expect("an action"));
        assert_eq!(slide(&board, action).0, cells(&vector["afterstate"]), "{vector}");
        let outcomes = vector["outcomes"].as_array().expect("outcomes");
        let sum: f64 =
            outcomes.iter().map(|outcome| outcome["probability"].as_f64().expect("a number")).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{vector}");
    }
    for game in vectors.iter().filter(|vector| vector["kind"] == "game") {
        let mut board = vec![0; 16];
        let put = |board: &mut Vec<u64>, tile: &Value| {
            let cell = tile["cell"].as_u64().expect("a cell") as usize;
            assert_eq!(board[cell], 0, "{game}");
            board[cell] = tile["exponent"].as_u64().expect("an exponent");
        };
        game["start"].as_array().expect("tiles").iter().for_each(|tile| put(&mut board, tile));
        let mut score = 0;
        for step in game["moves"].as_array().expect("moves") {
            let (after, reward) = slide(&board, step["action"].as_u64().expect("an action"));
            assert_eq!((cells(&step["afterstate"]), &step["reward"]), (after.clone(), &reward.into()));
            (board, score) = (after, score + reward);
            put(&mut board, &step["spawn"]);
        }
        assert!((0..4).all(|action| slide(&board, action).0 == board), "it is over");
        assert_eq!(game["score"], score);
    }
}

/// An environment in plain Python, correct or with one of three faults.
const ENVIRONMENT: &str = r#"
import random
class Right:
    def set(self, board): self.board = list(board)
    def slide(self, action):
        lines = [[[4*j+i, 4*i+3-j, 4*(3-j)+i, 4*i+j][action] for j in range(4)] for i in range(4)]
        after, reward = [0] * 16, 0
        for line in lines:
            tiles, made = [self.board[c] for c in line if self.board[c]], []
            while tiles:
                tile = tiles.pop(0)
                if tiles and tiles[0] == tile:
                    tiles.pop(0); tile += 1; reward += 2 ** tile
                made.append(tile)
            for cell, tile in zip(line, made): after[cell] = tile
        return after, reward
    def legal(self): return [self.slide(a)[0] != self.board for a in range(4)]
    four = 0.1
    def step(self, action):
        full = 0 not in self.board
        self.board, reward = self.slide(action)
        if not self.skips(full):
            cell = random.choice([i for i in range(16) if not self.board[i]])
            self.board[cell] = 2 if random.random() < self.four else 1
        return self.board, reward
    def skips(self, full): return False
class NoTileAfterAFullBoard(Right):
    def skips(self, full): return full
class TooManyFours(Right):
    four = 0.2
class AllLegal(Right):
    def legal(self): return [True] * 4
random.seed(1)
"#;

#[test]
fn the_script_tells_right_from_wrong() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let text: String = vectors().iter().map(|vector| format!("{vector}\n")).collect();
    std::fs::write(directory.path().join("vectors.jsonl"), text).expect("a file");
    std::fs::write(directory.path().join("environments.py"), ENVIRONMENT).expect("a file");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/python/conformance.py");
    for (class, code, part) in [
        ("Right", 0, "464 of 464 move vectors right"),
        ("NoTileAfterAFullBoard", 1, "a merge on a full board"),
        ("TooManyFours", 1, "other frequencies"),
        ("AllLegal", 1, "says that the move is legal"),
    ] {
        let output = Command::new("python3")
            .current_dir(&directory)
            .env("PYTHONPATH", directory.path())
            .args([script, "vectors.jsonl", &format!("environments:{class}")])
            .output()
            .expect("Python runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(
            output.status.code(),
            Some(code),
            "{class}: {told} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(told.contains(part), "{class}: {told}");
    }
}
