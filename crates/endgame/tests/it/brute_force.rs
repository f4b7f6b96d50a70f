//! Every position of small endgames, against a solver that knows explicit boards alone: a list of tiles for each line, a map of
//! boards, and recursion. It shares no table, no numbering and no layer with the solver.

use std::collections::{BTreeMap, HashMap};

use afterstate_endgame::{Endgame, Position, Precision, Solver, Table, Walls};

const WALL: u8 = 99;

type Board = [u8; 16];

/// A line slid to its front: tiles are taken one after the other, and the last one merges with its equal unless it was merged.
fn slide_line(line: [u8; 4]) -> [u8; 4] {
    let mut out: Vec<(u8, bool)> = Vec::new();
    for tile in line.into_iter().filter(|&tile| tile != 0) {
        match out.last_mut() {
            Some((last, merged)) if *last == tile && !*merged && tile != WALL => {
                (*last, *merged) = (tile + 1, true)
            }
            _ => out.push((tile, false)),
        }
    }
    std::array::from_fn(|i| out.get(i).map_or(0, |&(tile, _)| tile))
}

fn slides(board: &Board) -> Vec<Board> {
    // The cells of each line, from its front.
    let line = |direction: usize, i: usize| -> [usize; 4] {
        std::array::from_fn(|j| match direction {
            0 => 4 * j + i,
            1 => 4 * i + 3 - j,
            2 => 4 * (3 - j) + i,
            _ => 4 * i + j,
        })
    };
    let slide = |direction| {
        let mut after = *board;
        for cells in (0..4).map(|i| line(direction, i)) {
            let slid = slide_line(cells.map(|cell| board[cell]));
            cells.into_iter().zip(slid).for_each(|(cell, tile)| after[cell] = tile);
        }
        after
    };
    (0..4).map(slide).filter(|after| after != board).collect()
}

struct Brute {
    shapes: Vec<Walls>,
    target: u8,
    chances: HashMap<Board, f64>,
}

impl Brute {
    fn new(shapes: &[&str], target: u32) -> Self {
        let shapes = shapes.iter().map(|shape| shape.parse().unwrap()).collect();
        Brute { shapes, target: target.ilog2() as u8, chances: HashMap::new() }
    }

    fn is_allowed(&self, board: &Board) -> bool {
        let walls = (0..16).filter(|&cell| board[cell] == WALL).fold(0, |mask, cell| mask | 1 << cell);
        self.shapes.contains(&Walls(walls))
    }

    fn chance(&mut self, board: Board) -> f64 {
        if let Some(&chance) = self.chances.get(&board) {
            return chance;
        }
        let empty: Vec<_> = (0..16).filter(|&cell| board[cell] == 0).collect();
        let mut sum = 0.0;
        for &cell in &empty {
            for (tile, probability) in [(1, 0.9), (2, 0.1)] {
                let mut state = board;
                state[cell] = tile;
                let mut best: f64 = 0.0;
                for after in slides(&state) {
                    if self.is_allowed(&after) {
                        let value = if after.contains(&self.target) { 1.0 } else { self.chance(after) };
                        best = best.max(value);
                    }
                }
                sum += probability * best;
            }
        }
        let chance = sum / empty.len() as f64;
        self.chances.insert(board, chance);
        chance
    }

    /// All layouts that come to 8 at most.
    fn seeds(&self) -> Vec<Board> {
        let mut seeds = Vec::new();
        for shape in &self.shapes {
            let board = std::array::from_fn(|cell| if shape.0 >> cell & 1 == 1 { WALL } else { 0 });
            fill(board, 0, 8, self.target, &mut seeds);
        }
        seeds.retain(|board| board.contains(&0));
        seeds
    }
}

fn fill(board: Board, cell: usize, left: i32, target: u8, found: &mut Vec<Board>) {
    if cell == 16 {
        found.push(board);
        return;
    }
    fill(board, cell + 1, left, target, found);
    if board[cell] == 0 {
        for tile in (1..target).take_while(|tile| 1 << tile <= left) {
            let mut with = board;
            with[cell] = tile;
            fill(with, cell + 1, left - (1 << tile), target, found);
        }
    }
}

fn position(board: &Board) -> Position {
    let letter = |&tile: &u8| if tile == WALL { 'F' } else { char::from_digit(tile.into(), 16).unwrap() };
    board.iter().map(letter).collect::<String>().parse().unwrap()
}

/// Compares the chances of all positions and the numbers of positions in all layers.
fn compare(shapes: &[&str], target: u32) -> u64 {
    let mut brute = Brute::new(shapes, target);
    for seed in brute.seeds() {
        brute.chance(seed);
    }
    let mut layers: BTreeMap<usize, u64> = BTreeMap::new();
    for board in brute.chances.keys() {
        *layers
            .entry(board.iter().filter(|&&tile| tile != 0 && tile != WALL).map(|tile| 1 << (tile - 1)).sum())
            .or_default() += 1;
    }
    let endgame = Endgame::parse(shapes, target).unwrap();
    let solved = Solver::new(&endgame).unwrap().solve(&mut |_| true).unwrap();
    let found: BTreeMap<_, _> =
        solved.layers.iter().copied().enumerate().filter(|&(_, count)| count > 0).collect();
    assert_eq!(found, layers, "{shapes:?}");
    let (boards, expected): (Vec<_>, Vec<_>) =
        brute.chances.iter().map(|(board, chance)| (position(board), *chance)).unzip();
    let solved =
        Solver::new(&endgame).unwrap().from(&boards).unwrap().threads(3).solve(&mut |_| true).unwrap();
    assert_eq!(solved.positions, boards.len() as u64);
    for ((board, chance), expected) in boards.iter().zip(&solved.chances).zip(&expected) {
        assert!((chance - expected).abs() < 1e-6, "{shapes:?}: {board} {chance} {expected}");
    }
    let middling = expected.iter().filter(|&&chance| chance > 0.05 && chance < 0.95).count();
    assert!(middling > 50, "{shapes:?}: {middling}");
    solved.positions
}

#[test]
fn one_shape() {
    compare(&["FFFF/FFFF/FF../...."], 64);
    compare(&["FFFF/FFFF/F.../...."], 64);
    compare(&["FFFF/FFFF/..../...."], 64);
    compare(&["FF../FF../FF../FFFF"], 32);
    compare(&["FFF./FFF./F.../FF.."], 32);
}

#[test]
fn displaced_walls() {
    compare(
        &["FFFF/FFFF/FF../....", "FFFF/FFFF/F.F./....", "FFFF/FFFF/F..F/....", "FFFF/FFFF/.FF./...."],
        64,
    );
    compare(
        &["FFFF/FFF./F.../....", "FFFF/FFF./.F../....", "FFFF/.FFF/F.../....", "FFF./FFFF/F.../...."],
        32,
    );
    compare(&["FFFF/FFFF/F.../....", "FFFF/.FFF/FF../....", "FFFF/FFFF/..../F..."], 64);
    compare(&["FFF./FFF./FFF./....", ".FFF/.FFF/.FFF/....", "..../FFF./FFF./FFF."], 64);
}

#[test]
fn three_by_three_beside_seven_walls() {
    assert!(compare(&["FFFF/F.../F.../F..."], 64) > 10_000);
}

/// A small generator of numbers, so that the games are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize * end) >> 31
    }
}

#[test]
fn games_by_the_table_succeed_as_often_as_it_says() {
    const GAMES: u32 = 20_000;
    let shapes = ["FFFF/FFFF/..../....", "FFFF/FFF./F.../....", "FFF./FFFF/...F/...."];
    let endgame = Endgame::parse(&shapes, 128).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table");
    Solver::new(&endgame).unwrap().threads(2).solve_to(&path, Precision::F32, "1", &mut |_| true).unwrap();
    let table = Table::open(&path).unwrap();
    let brute = Brute::new(&shapes, 128);
    let start: Board =
        std::array::from_fn(|cell| if cell < 8 { WALL } else { [1, 2, 0, 0, 0, 0, 0, 0][cell - 8] });
    let expected = f64::from(table.chance(position(&start)).unwrap().unwrap());
    let mut numbers = Numbers(1);
    let mut won = 0;
    for _ in 0..GAMES {
        let mut board = start;
        loop {
            let empty: Vec<_> = (0..16).filter(|&cell| board[cell] == 0).collect();
            board[empty[numbers.below(empty.len())]] = if numbers.below(10) == 0 { 2 } else { 1 };
            let moves: Vec<_> = slides(&board).into_iter().filter(|after| brute.is_allowed(after)).collect();
            if moves.iter().any(|after| after.contains(&7)) {
                won += 1;
                break;
            }
            let chance = |after: &Board| table.chance(position(after)).unwrap().unwrap();
            let best = moves.into_iter().max_by(|a, b| chance(a).total_cmp(&chance(b)));
            match best {
                Some(after) => board = after,
                None => break,
            }
        }
    }
    let share = f64::from(won) / f64::from(GAMES);
    let error = (expected * (1.0 - expected) / f64::from(GAMES)).sqrt();
    assert!(expected > 0.1 && expected < 0.9, "{expected}");
    assert!(
        (share - expected).abs() < 3.0 * error,
        "{share} of the games, {expected} by the table, ± {error}"
    );
}
