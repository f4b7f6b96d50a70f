//! Every position of small endgames, against a solver that knows explicit boards alone: a list of tiles for each line, a map of
//! boards, and recursion. It shares no table, no numbering and no layer with the solver.

use std::collections::{BTreeMap, HashMap};

use afterstate_endgame::{Endgame, GoalValues, Position, Precision, Solver, Table, Walls};

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
    /// The cells in which the target has to stand, if it is carried until then.
    place: Option<Walls>,
    /// What a reached goal counts.
    goal: fn(&Board) -> f64,
    chances: HashMap<Board, f64>,
}

impl Brute {
    fn new(shapes: &[&str], target: u32) -> Self {
        let shapes = shapes.iter().map(|shape| shape.parse().unwrap()).collect();
        let target = target.ilog2() as u8;
        Brute { shapes, target, place: None, goal: |_| 1.0, chances: HashMap::new() }
    }

    fn is_goal(&self, board: &Board) -> bool {
        let Some(place) = self.place else { return board.contains(&self.target) };
        let is_wall = |cell: usize| self.shapes[0].0 >> cell & 1 == 1;
        let is_home = (0..16).all(|cell| (board[cell] == WALL) == is_wall(cell));
        let is_placed = (0..16).any(|cell| place.0 >> cell & 1 == 1 && board[cell] == self.target);
        board.contains(&(self.target + 1)) || is_home && is_placed
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
                        let value =
                            if self.is_goal(&after) { (self.goal)(&after) } else { self.chance(after) };
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
            fill(board, 0, 8, self.target + u8::from(self.place.is_some()), &mut seeds);
        }
        seeds.retain(|board| board.contains(&0) && !self.is_goal(board));
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
    let endgame = Endgame::parse(shapes, target).unwrap();
    compare_with(&endgame, Brute::new(shapes, target), |solver| solver)
}

/// The same with a target that is carried to its place.
fn compare_placed(shapes: &[&str], target: u32, place: &str) -> u64 {
    let place = place.parse().unwrap();
    let endgame = Endgame::parse(shapes, target).unwrap().with_place(place).unwrap();
    let brute = Brute { place: Some(place), ..Brute::new(shapes, target) };
    compare_with(&endgame, brute, |solver| solver)
}

fn compare_with<'a>(endgame: &Endgame, mut brute: Brute, change: impl Fn(Solver<'a>) -> Solver<'a>) -> u64 {
    let solver = || change(Solver::new(endgame).unwrap());
    let shapes = endgame.to_string();
    for seed in brute.seeds() {
        brute.chance(seed);
    }
    let mut layers: BTreeMap<usize, u64> = BTreeMap::new();
    for board in brute.chances.keys() {
        *layers
            .entry(board.iter().filter(|&&tile| tile != 0 && tile != WALL).map(|tile| 1 << (tile - 1)).sum())
            .or_default() += 1;
    }
    let solved = solver().solve(&mut |_| true).unwrap();
    let found: BTreeMap<_, _> =
        solved.layers.iter().copied().enumerate().filter(|&(_, count)| count > 0).collect();
    assert_eq!(found, layers, "{shapes}");
    let (boards, expected): (Vec<_>, Vec<_>) =
        brute.chances.iter().map(|(board, chance)| (position(board), *chance)).unzip();
    let solved = solver().from(&boards).unwrap().threads(3).solve(&mut |_| true).unwrap();
    assert_eq!(solved.positions, boards.len() as u64);
    for ((board, chance), expected) in boards.iter().zip(&solved.chances).zip(&expected) {
        assert!((chance - expected).abs() < 1e-6, "{shapes}: {board} {chance} {expected}");
    }
    let middling = expected.iter().filter(|&&chance| chance > 0.05 && chance < 0.95).count();
    assert!(middling > 50, "{shapes}: {middling}");
    solved.positions
}

#[test]
fn one_shape() {
    compare(&["FFFF/FFFF/FF../...."], 64);
    compare(&["FFFF/FFFF/F.../...."], 64);
    compare(&["FFFF/FFFF/..../...."], 64);
    compare(&["FF../FF../FF../FFFF"], 32);
    // Shapes that are their own mirror images.
    compare(&["FFFF/FFFF/.FF./...."], 64);
    compare(&["FFFF/FFFF/..../....", "FFFF/..../FFFF/....", "FFFF/..../..../FFFF"], 16);
    compare(&["FF../FF../FF../FF..", "..FF/..FF/..FF/..FF"], 32);
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
fn targets_are_carried_to_their_place() {
    let shapes = ["FFFF/FFFF/FF../....", "FFFF/FFFF/F.F./....", "FFFF/FFFF/F..F/....", "FFFF/FFFF/.FF./...."];
    let made = compare(&shapes, 32);
    // Wherever it stands, once the walls are where they belong.
    let home = compare_placed(&shapes, 32, "..../..../..FF/FFFF");
    let beside = compare_placed(&shapes, 32, "..../..../..F./....");
    assert!(made < home && home < beside, "{made} {home} {beside}");
    compare_placed(
        &["FFFF/FFF./F.../....", "FFFF/.FFF/F.../....", "FFF./FFFF/F.../...."],
        16,
        "..../...F/..../....",
    );
    // The smallest target is among the positions to start from.
    compare_placed(&["FFFF/FFFF/F.../....", "FFFF/.FFF/FF../...."], 8, "..../..../.F../....");
}

#[test]
fn goals_count_what_is_said() {
    // The fewer tiles are left, the better.
    fn worth(board: &Board) -> f64 {
        board.iter().filter(|&&tile| tile == 0).count() as f64 / 16.0
    }
    let value = |position: Position| position.empty().count_ones() as f32 / 16.0;
    let goals = GoalValues { name: "empty cells", tiles: 0b11_1111_1111 << 6, value: &value };
    let shapes = ["FFFF/FFFF/FF../....", "FFFF/FFFF/F.F./....", "FFFF/FFFF/.FF./...."];
    let place = "..../..../..F./....".parse().unwrap();
    let endgame = Endgame::parse(&shapes, 32).unwrap().with_place(place).unwrap();
    let brute = Brute { place: Some(place), goal: worth, ..Brute::new(&shapes, 32) };
    compare_with(&endgame, brute, |solver| solver.goals(goals));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table");
    Solver::new(&endgame).unwrap().goals(goals).solve_to(&path, Precision::U16, &mut |_| true).unwrap();
    let table = Table::open(&path).unwrap();
    assert_eq!((table.goal(), table.tiles()), ("empty cells", Some(goals.tiles)));
    assert_eq!(table.endgame(), &endgame);
    assert!(table.verify(1000).unwrap().wrong.is_none());
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
    Solver::new(&endgame).unwrap().threads(2).solve_to(&path, Precision::F32, &mut |_| true).unwrap();
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
