//! The scale of an endgame's chances: a straight line over the chances, fitted to a network's values on the boards of
//! greedy games.
//!
//! The games need only the network and take little time; the chances need most layers of the table. A search that
//! cannot wait therefore plays the games bit by bit, and leaves the chances to a background thread.

use std::time::Instant;

use afterstate_endgame::{Near, Tables, Walls};
use afterstate_game::{Afterstate, Board, Rules, State, game_rng};
use afterstate_network::{Isa, Kernel, Level, View, dispatch};

/// Endgames whose free tiles sum to less are left to the network: with many empty cells, assuming fixed walls is
/// pessimistic.
pub(crate) const LEAST_SUM: u32 = 32;

/// The number of greedy games to which a scale is fitted.
const GAMES: u64 = 60;

/// The seed of these games.
const SEED: u64 = 27;

/// With fewer boards there is no fit.
const LEAST_BOARDS: f64 = 200.0;

/// The network's values at chance 0 and at chance 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    /// The value of a lost endgame.
    pub lost: f32,
    /// The value of a won endgame.
    pub won: f32,
}

impl Scale {
    /// Converts a chance to a value.
    #[inline]
    pub fn value(self, chance: f32) -> f32 {
        self.lost + chance * (self.won - self.lost)
    }
}

/// An endgame whose scale is to be fitted.
#[derive(Clone, Copy)]
pub(crate) struct Endgame<'a> {
    pub(crate) tables: &'a Tables,
    /// The number of the table.
    pub(crate) number: usize,
    /// The walls: bit `e` for the tile of exponent `e`.
    pub(crate) walls: u32,
}

impl<'a> Endgame<'a> {
    /// The endgame if a board is in it.
    fn around(self, board: &[u8; 16]) -> Option<Near<'a>> {
        let is_it = |near: &Near<'_>| near.number() == self.number && near.walls() == self.walls;
        self.tables.near(board).into_iter().find(is_it)
    }

    fn target(self) -> u8 {
        self.tables.all()[self.number].endgame().target()
    }
}

/// Greedy games from an endgame's empty region, as far as they have been played.
#[derive(Default)]
pub(crate) struct Games {
    /// The initial board; the inner option is `None` if the walls do not fit the table.
    start: Option<Option<Board<4>>>,
    /// The number of completed games.
    over: u64,
    /// The current game.
    present: Option<Game>,
    boards: Vec<Seen>,
}

struct Game {
    rng: afterstate_game::GameRng,
    afterstate: Afterstate<4>,
}

/// A board that occurred.
struct Seen {
    game: u64,
    board: [u8; 16],
    value: f32,
}

impl Games {
    /// Continues playing until that time or until all games are over; returns whether they are. Makes at least one
    /// move.
    pub(crate) fn play(
        &mut self,
        view: View<'_>,
        rules: Rules,
        endgame: Endgame<'_>,
        until: Option<Instant>,
    ) -> bool {
        dispatch(Level::best(), Play { games: self, view, rules, endgame, until })
    }

    /// The scale fitted to the boards of all games; `None` if the values do not increase with the chances, or there are
    /// too few boards. Loads the layers that the games passed through.
    pub(crate) fn scale(&self, endgame: Endgame<'_>) -> Option<Scale> {
        let target = endgame.target();
        let (mut line, mut won) = (Line::default(), None);
        for Seen { game, board, value } in &self.boards {
            if won == Some(*game) {
                continue;
            }
            // A layer that fails to load is left out.
            let region = endgame.around(board).and_then(|near| near.load(0).ok());
            match region.and_then(|region| region.chance(board)) {
                Some(chance) if free_sum(board, target) >= LEAST_SUM => {
                    line.add(chance.into(), (*value).into())
                }
                // The goal is reached.
                None if board.contains(&target) => won = Some(*game),
                _ => {}
            }
        }
        line.scale()
    }
}

/// The sum of the tiles below the target.
fn free_sum(board: &[u8; 16], target: u8) -> u32 {
    board.iter().filter(|&&e| e != 0 && e < target).map(|&e| 1 << e).sum()
}

/// Plays greedy games.
struct Play<'a> {
    games: &'a mut Games,
    view: View<'a>,
    rules: Rules,
    endgame: Endgame<'a>,
    until: Option<Instant>,
}

impl Kernel for Play<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let Play { games, view, rules, endgame, until } = self;
        let value = |board: Board<4>| view.value(isa, &board.bytes());
        let home = endgame.tables.all()[endgame.number].endgame().shapes()[0];
        let start = *games.start.get_or_insert_with(|| start_board(home, endgame.walls, value));
        let Some(start) = start else { return true };
        while games.over < GAMES {
            let Game { rng, afterstate } = games.present.get_or_insert_with(|| Game {
                rng: game_rng(SEED, games.over),
                afterstate: Afterstate::new(start),
            });
            let state = afterstate.spawn(&rules, rng);
            let next =
                greedy(isa, &view, state).filter(|next| endgame.around(&next.board().bytes()).is_some());
            match next {
                Some(next) => {
                    *afterstate = next;
                    let board = next.board().bytes();
                    games.boards.push(Seen { game: games.over, board, value: view.value(isa, &board) });
                }
                None => {
                    games.present = None;
                    games.over += 1;
                }
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
        }
        games.over == GAMES
    }
}

/// The afterstate of the best move.
#[inline(always)]
fn greedy<I: Isa>(isa: I, view: &View<'_>, state: State<4>) -> Option<Afterstate<4>> {
    let mut best: Option<(f32, Afterstate<4>)> = None;
    for (_, slide) in state.slides().iter() {
        let value = slide.reward as f32 + view.value(isa, &slide.afterstate.board().bytes());
        if best.is_none_or(|(least, _)| value > least) {
            best = Some((value, slide.afterstate));
        }
    }
    best.map(|(_, afterstate)| afterstate)
}

/// The sums of a linear least-squares fit.
#[derive(Default)]
struct Line {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Line {
    fn add(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    fn scale(&self) -> Option<Scale> {
        let spread = self.xx - self.x * self.x / self.n;
        let slope = (self.xy - self.x * self.y / self.n) / spread;
        let lost = (self.y - slope * self.x) / self.n;
        let is_sound = self.n >= LEAST_BOARDS && slope.is_finite() && slope > 0.0;
        is_sound.then_some(Scale { lost: lost as f32, won: (lost + slope) as f32 })
    }
}

/// Only walls, in a shape, each adjacent to the next larger one: of all such boards, the one with the largest value.
#[inline(always)]
pub(crate) fn start_board(shape: Walls, walls: u32, value: impl Fn(Board<4>) -> f32) -> Option<Board<4>> {
    let boards = paths(shape).into_iter().map(|path| start(&path, walls)).collect::<Option<Vec<_>>>()?;
    boards.into_iter().max_by(|a, b| value(*a).total_cmp(&value(*b)))
}

/// The paths through all cells of a shape from neighbour to neighbour.
fn paths(walls: Walls) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for first in (0..16).filter(|cell| walls.0 >> cell & 1 == 1) {
        extend(&mut vec![first], walls, &mut found);
    }
    found
}

fn extend(path: &mut Vec<usize>, walls: Walls, found: &mut Vec<Vec<usize>>) {
    if path.len() == walls.count() as usize {
        return found.push(path.clone());
    }
    let last = path[path.len() - 1];
    let neighbours =
        (0..16).filter(|&cell| last / 4 == cell / 4 && last.abs_diff(cell) == 1 || last.abs_diff(cell) == 4);
    for next in neighbours.filter(|next| walls.0 >> next & 1 == 1).collect::<Vec<_>>() {
        if !path.contains(&next) {
            path.push(next);
            extend(path, walls, found);
            path.pop();
        }
    }
}

/// A board with only walls along a path, the largest one first.
fn start(path: &[usize], walls: u32) -> Option<Board<4>> {
    let mut exponents = [0; 16];
    let mut rest = walls;
    for &cell in path {
        let exponent = rest.checked_ilog2()?;
        exponents[cell] = exponent as u8;
        rest &= !(1 << exponent);
    }
    Board::from_exponents(&exponents).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_are_put_from_neighbour_to_neighbour() {
        let shape: Walls = "FFFF/FF../..../....".parse().unwrap();
        let paths = paths(shape);
        assert!(paths.contains(&vec![3, 2, 1, 0, 4, 5]) && paths.contains(&vec![5, 4, 0, 1, 2, 3]));
        let board = start(&[3, 2, 1, 0, 4, 5], 0b111_1110_0000_0000).unwrap();
        assert_eq!(board.to_string(), "bcde/a900/0000/0000");
    }

    #[test]
    fn a_line_is_fitted() {
        let mut line = Line::default();
        for i in 0..1000 {
            let x = f64::from(i) / 1000.0;
            line.add(x, 5000.0 + 70_000.0 * x);
        }
        let scale = line.scale().unwrap();
        assert!((scale.lost - 5000.0).abs() < 1.0 && (scale.won - 75_000.0).abs() < 1.0);
        assert_eq!(Line::default().scale(), None);
    }
}
