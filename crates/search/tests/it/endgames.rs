//! Tables at the leaves and at the root, against expectimax and probing written naively: the same bits.

use std::{
    sync::Arc,
    thread::sleep,
    time::{Duration, Instant},
};

use afterstate_endgame::{Endgame, Position, Precision, Solver, Table, Tables};
use afterstate_game::{Afterstate, Board, Move, Rules, State, Symmetry, game_rng};
use afterstate_network::Network;
use afterstate_search::{Endgames, Expectimax, Limit, Player, Probing, Scale, SearchSettings, TableSize};
use rand_core::Rng;

use crate::common::{network_of, states};

/// Eight walls and eight free cells.
const SHAPES: [&str; 3] = ["FFFF/FFFF/..../....", "FFFF/.FFF/F.../....", "FFFF/F.FF/.F../...."];
const TARGET: u8 = 6;
/// The cells of the walls in the first shape, from neighbour to neighbour.
const SNAKE: [usize; 8] = [0, 1, 2, 3, 7, 6, 5, 4];

/// A network that likes empty cells, so that its values increase with the chances, and ordered walls, so that they
/// stay.
fn network() -> Network {
    /// Walls in the tuples, each from both ends; 0 stands for any tile.
    const WALLS: [[usize; 4]; 4] = [[13, 12, 11, 10], [13, 6, 0, 0], [13, 12, 6, 7], [10, 11, 9, 8]];
    network_of(4, |index, noise| {
        let digits: [usize; 4] = std::array::from_fn(|i| index / 18usize.pow(i as u32) % 18);
        let zeros = digits.iter().filter(|&&digit| digit == 0).count();
        let fits = |walls: &[usize; 4], i: usize, j: usize| walls[j] == 0 || digits[i] == walls[j];
        let are_walls = WALLS
            .iter()
            .any(|walls| (0..4).all(|i| fits(walls, i, i)) || (0..4).all(|i| fits(walls, i, 3 - i)));
        1000.0 * zeros as f32 + noise / 50.0 + if are_walls { 100_000.0 } else { 0.0 }
    })
}

fn tables() -> (tempfile::TempDir, Arc<Tables>) {
    let directory = tempfile::tempdir().expect("a directory");
    let endgame = Endgame::parse(&SHAPES, 1 << TARGET).expect("an endgame");
    let path = directory.path().join("64.endgame");
    let solver = Solver::new(&endgame).expect("a small endgame");
    solver.solve_to(&path, Precision::U16, &mut |_| true).expect("a table");
    let tables = Tables::open(directory.path()).expect("the table");
    (directory, Arc::new(tables))
}

/// The walls of a region of a root, and their scale.
type Region = (u32, Scale);

/// The regions that a search from a state may probe: its walls, with the target among them if the free tiles sum to it.
fn regions(endgames: &Endgames, network: &Network, board: Board<4>) -> Vec<Region> {
    let tiles: Vec<u8> = board.exponents().filter(|&e| e != 0).collect();
    let (large, small): (Vec<u8>, Vec<u8>) = tiles.into_iter().partition(|&e| e >= TARGET);
    let walls: u32 = large.iter().fold(0, |walls, e| walls | 1 << e);
    let free: u32 = small.iter().map(|e| 1 << e).sum();
    if walls.count_ones() as usize != large.len() {
        return Vec::new();
    }
    let made = 1 << TARGET;
    let mut found = vec![(walls, free)];
    if walls & made == 0 && free >= made {
        found.push((walls | made, free - made));
    }
    found.retain(|(walls, free)| walls.count_ones() == 8 && *free >= 32);
    let table = &endgames.tables().all()[0];
    let scale = |walls| endgames.scale(network.view(), Rules::default(), table, walls).expect("a scale");
    found.into_iter().map(|(walls, _)| (walls, scale(walls))).collect()
}

/// The chance of an afterstate by the table, if its walls are these and in order.
fn chance(table: &Table, walls: u32, board: Board<4>) -> Option<f32> {
    let exponents = board.bytes();
    let cells: Vec<usize> = (0..16).filter(|&cell| exponents[cell] >= TARGET).collect();
    if cells.len() != 8 || cells.iter().fold(0, |walls, &cell| walls | 1u32 << exponents[cell]) != walls {
        return None;
    }
    let mut ordered = cells.clone();
    ordered.sort_by_key(|&cell| exponents[cell]);
    let apart =
        |pair: &[usize]| (pair[0] / 4).abs_diff(pair[1] / 4) + (pair[0] % 4).abs_diff(pair[1] % 4) != 1;
    let breaks = ordered.windows(2).filter(|pair| apart(pair)).count();
    for (i, shape) in SHAPES.iter().enumerate() {
        // A shape that is its own image is transformed by the last of its symmetries.
        for symmetry in Symmetry::ALL.into_iter().rev() {
            let mut text = ['.'; 16];
            for cell in 0..16 {
                let tile = exponents[cell];
                text[symmetry.cell::<4>(cell)] =
                    if tile >= TARGET { 'F' } else { char::from_digit(tile.into(), 16).expect("a digit") };
            }
            let is_wall = text.iter().map(|&letter| letter == 'F');
            if is_wall.eq(shape.chars().filter(|&letter| letter != '/').map(|letter| letter == 'F')) {
                let position: Position = String::from_iter(text).parse().expect("a position");
                return (breaks <= if i == 0 { 0 } else { 2 })
                    .then(|| table.chance(position).expect("a sound table"))
                    .flatten();
            }
        }
    }
    None
}

/// Expectimax with the table before the network.
struct Naive<'a> {
    network: &'a Network,
    endgames: &'a Endgames,
    regions: Vec<Region>,
    /// The number of leaves that the table knew.
    known: usize,
}

impl Naive<'_> {
    fn state(&mut self, state: State<4>, plies: u32) -> [Option<f32>; 4] {
        Move::ALL.map(|a| {
            let slide = state.slide(a)?;
            Some(slide.reward as f32 + self.afterstate(slide.afterstate, plies - 1))
        })
    }

    fn afterstate(&mut self, afterstate: Afterstate<4>, layers: u32) -> f32 {
        let board = afterstate.board();
        if layers == 0 {
            let table = &self.endgames.tables().all()[0];
            for (walls, scale) in &self.regions {
                if let Some(chance) = chance(table, *walls, board) {
                    self.known += 1;
                    return scale.lost + chance * (scale.won - scale.lost);
                }
            }
            return self.network.value(afterstate);
        }
        let rules = Rules::default();
        let mut sums = [0.0; 2];
        for (i, (state, _)) in afterstate.spawns(&rules).enumerate() {
            let best = self.state(state, layers).into_iter().flatten().reduce(f32::max);
            sums[i % 2] += f64::from(best.unwrap_or(0.0));
        }
        ((sums[0] * (1.0 - rules.four) + sums[1] * rules.four) / f64::from(board.empty_count())) as f32
    }
}

/// States around the endgame: walls in order and displaced, some swapped, the target missing, few and many free tiles, all symmetries.
fn roots(count: u64) -> Vec<State<4>> {
    let root = |number| {
        let mut rng = game_rng(11, number);
        let mut below = |n: u32| ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as usize;
        let mut board = [0u8; 16];
        SNAKE.iter().zip((TARGET..=13).rev()).for_each(|(&cell, tile)| board[cell] = tile);
        match below(8) {
            0 => board.swap(5, 9),
            1 => board.swap(4, 12),
            2 => board.swap(4, 8),
            3 => board.swap(1, 2),
            4 => board.swap(4, 5),
            5 => board[4] = 5,
            _ => {}
        }
        let most = 4 + below(3) as u32;
        for tile in board.iter_mut().filter(|tile| **tile == 0) {
            if below(8) < 6 {
                *tile = below(most) as u8;
            }
        }
        let symmetry = Symmetry::ALL[below(8)];
        let mut image = [0; 16];
        (0..16).for_each(|cell| image[symmetry.cell::<4>(cell)] = board[cell]);
        State::new(Board::from_exponents(&image).expect("a board"))
    };
    (0..count).map(root).collect()
}

fn bits(values: [Option<f32>; 4]) -> [Option<u32>; 4] {
    values.map(|value| value.map(f32::to_bits))
}

fn search(plies: u32) -> SearchSettings {
    SearchSettings::new(Limit::Plies(plies))
}

#[test]
fn leaves_are_worth_what_the_table_says() {
    let (network, (_directory, tables)) = (network(), tables());
    let endgames = Endgames::new(tables);
    for (plies, count) in [(1, 400), (2, 300), (3, 30)] {
        let player = |table, threads| {
            let settings = SearchSettings { table, ..search(plies) };
            Expectimax::<4>::new(network.view(), Rules::default(), settings, threads)
        };
        let ways = [(TableSize::Off, 1), (TableSize::Auto, 1), (TableSize::Bits(3), 1), (TableSize::Auto, 3)];
        let mut players = ways.map(|(table, threads)| player(table, threads).with_endgames(Some(&endgames)));
        let mut without = player(TableSize::Off, 1);
        let (mut differ, mut agree) = (0, 0);
        for state in roots(count) {
            let regions = regions(&endgames, &network, state.board());
            let mut naive = Naive { network: &network, endgames: &endgames, regions, known: 0 };
            let expected = bits(naive.state(state, plies));
            for player in &mut players {
                assert_eq!(bits(player.advise(state).values), expected, "{plies}-ply, {state}");
            }
            let plain = bits(without.advise(state).values);
            if naive.known == 0 {
                assert_eq!(plain, expected, "{plies}-ply, {state}");
            }
            *if plain == expected { &mut agree } else { &mut differ } += 1;
        }
        // With and without a table at the leaves; both occur.
        assert!(differ > count / 8 && agree > count / 20, "{plies}-ply: {differ} differ, {agree} agree");
    }
}

#[test]
fn far_from_endgames_nothing_changes() {
    let (network, (_directory, tables)) = (network(), tables());
    for probing in [Probing::Leaves, Probing::Root] {
        let endgames = Endgames::new(Arc::clone(&tables)).with_probing(probing);
        for (plies, count) in [(1, 2000), (3, 200)] {
            let player = || Expectimax::<4>::new(network.view(), Rules::default(), search(plies), 1);
            let (mut with, mut without) = (player().with_endgames(Some(&endgames)), player());
            for state in states::<4>(count) {
                assert_eq!(bits(with.advise(state).values), bits(without.advise(state).values), "{state}");
            }
        }
    }
}

#[test]
fn walls_out_of_order_and_small_sums_are_left_to_the_network() {
    let (network, (_directory, tables)) = (network(), tables());
    let endgames = Endgames::new(tables);
    let mut with =
        Expectimax::<4>::new(network.view(), Rules::default(), search(2), 1).with_endgames(Some(&endgames));
    let mut without = Expectimax::<4>::new(network.view(), Rules::default(), search(2), 1);
    let mut is_changed = |text: &str| {
        let state: State<4> = text.parse().expect("a board");
        bits(with.advise(state).values) != bits(without.advise(state).values)
    };
    // In order, with 40 beside the walls.
    assert!(is_changed("dcba/6789/0001/0125"));
    // The smallest sum that is looked up, and one that is too small.
    assert!(is_changed("dcba/6789/0000/0005"));
    assert!(!is_changed("dcba/6789/0000/0034"));
    // The walls are present, but two of them are swapped.
    assert!(!is_changed("dbca/6789/0001/0125"));
    // A displaced wall may be apart from its neighbours.
    assert!(is_changed("dcba/0789/6001/0125"));
}

#[test]
fn a_table_at_the_root_decides_between_moves() {
    let (network, (_directory, tables)) = (network(), tables());
    let endgames = Endgames::new(tables).with_probing(Probing::Root);
    let table = &endgames.tables().all()[0];
    let player = || Expectimax::<4>::new(network.view(), Rules::default(), search(1), 1);
    let (mut with, mut without) = (player().with_endgames(Some(&endgames)), player());
    let (mut decided, mut left, mut safe) = (0, 0, 0);
    for state in roots(4000) {
        let regions = regions(&endgames, &network, state.board());
        let advice = with.advise(state);
        let chances = |walls| {
            Move::ALL.map(|a| state.slide(a).map(|slide| chance(table, walls, slide.afterstate.board())))
        };
        let best = |chances: &[Option<Option<f32>>; 4]| {
            chances.iter().copied().flatten().flatten().fold(0.0, f32::max)
        };
        let known = regions.iter().map(|(walls, scale)| (chances(*walls), *scale));
        let deciding = known.into_iter().find(|(chances, _)| best(chances) > 0.0);
        match deciding.filter(|(chances, _)| best(chances) < 0.995) {
            Some((chances, scale)) => {
                // Moves out of the endgame count as lost.
                let value =
                    |chance: Option<f32>| scale.lost + chance.unwrap_or_default() * (scale.won - scale.lost);
                assert_eq!(bits(advice.values), bits(chances.map(|chance| chance.map(value))), "{state}");
                // Nearly equal chances may have the same value.
                let made = chances[advice.best().expect("a move") as usize].map(value);
                assert_eq!(made, Some(value(Some(best(&chances)))), "{state}");
                decided += 1;
                left += u32::from(chances.contains(&Some(None)));
            }
            None => {
                assert_eq!(bits(advice.values), bits(without.advise(state).values), "{state}");
                safe += u32::from(regions.iter().any(|(walls, _)| best(&chances(*walls)) >= 0.995));
            }
        }
    }
    assert!(decided > 400 && left > 50 && safe > 20, "{decided} {left} {safe}");
}

#[test]
fn a_search_by_time_does_not_wait() {
    const TIME: Duration = Duration::from_millis(2);
    let (network, (_directory, tables)) = (network(), tables());
    let state: State<4> = "dcba/6789/0001/0125".parse().expect("a board");
    let player = |limit| {
        let settings = SearchSettings { fours: Some(6), ..SearchSettings::new(limit) };
        Expectimax::<4>::new(network.view(), Rules::default(), settings, 1)
    };
    for probing in [Probing::Leaves, Probing::Root] {
        let ready = Endgames::new(Arc::clone(&tables)).with_probing(probing);
        let endgames = Endgames::new(Arc::new(Tables::open(_directory.path()).expect("the table")))
            .with_probing(probing);
        let mut timed = player(Limit::Time(TIME)).with_endgames(Some(&endgames));
        let values =
            |plies, endgames| bits(player(Limit::Plies(plies)).with_endgames(endgames).advise(state).values);
        // A tenth of its time is too short for the games to which the scale is fitted: it plays on without.
        let first = timed.advise(state);
        assert_eq!(bits(first.values), values(first.plies, None));
        assert_ne!(bits(first.values), values(first.plies, Some(&ready)));
        let (start, mut searches, mut late) = (Instant::now(), 0, 0);
        loop {
            let advice = timed.advise(state);
            searches += 1;
            late += u32::from(advice.time > 8 * TIME);
            if bits(advice.values) == values(advice.plies, Some(&ready)) {
                break;
            }
            assert_eq!(bits(advice.values), values(advice.plies, None), "with the table, or without");
            assert!(start.elapsed() < Duration::from_secs(60), "the table is not ready after a minute");
            sleep(Duration::from_millis(1));
        }
        // Other processes may use the processor now and then.
        assert!(searches > 3 && late <= 1 + searches / 4, "{late} of {searches} searches were late");
    }
}
