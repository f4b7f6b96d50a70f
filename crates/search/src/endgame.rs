//! Exact chances at the leaves of a search: afterstates of a solved endgame are worth their chance, on the scale of the network's values.
//!
//! The scale is fitted for each table and each set of walls, by boards of greedy games: the network's values are nearly a straight line
//! over the chances, and a scale of another slope would make the search prefer to stay in the endgame, or to leave it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use afterstate_endgame::{Position, Region, Table, Tables, Walls};
use afterstate_game::{Afterstate, Board, Rules, Slides, State, game_rng};
use afterstate_network::{Batch, Isa, Kernel, Level, Network, View, dispatch};

/// Endgames whose free tiles come to less are left to the network: with many empty cells, walls that never move are pessimistic.
const LEAST_SUM: u32 = 32;

/// The greedy games that a scale is fitted by.
const GAMES: u64 = 60;

/// Fewer boards say nothing.
const LEAST_BOARDS: f64 = 200.0;

/// Where the best chance is at least this, tables at the root leave the choice to the search.
const SAFE: f32 = 0.995;

/// The layers behind those of a search that are loaded while it runs: a move adds 2 or 4 to the sum.
const PREFETCHED: usize = 8;

/// The least that a reached goal counts.
const LEAST_GOAL: f32 = 1e-3;

/// Where a search asks its tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Probing {
    /// At its leaves, before the network.
    #[default]
    Leaves,
    /// At the root alone, as table players do: a table that knows the moves decides between them.
    Root,
}

/// Tables of endgames for the searches of one network.
pub struct Endgames {
    tables: Arc<Tables>,
    probing: Probing,
    /// Whether a thread loads layers.
    prefetching: Arc<AtomicBool>,
    /// By the table and the walls; `None` where the values do not rise with the chances.
    scales: Mutex<HashMap<(usize, u32), Option<Scale>>>,
}

/// The values that a network has where the chance is 0, and where it is 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    /// Where the endgame is lost.
    pub lost: f32,
    /// Where it is won.
    pub won: f32,
}

impl Scale {
    #[inline]
    fn value(self, chance: f32) -> f32 {
        self.lost + chance * (self.won - self.lost)
    }
}

impl Endgames {
    /// Tables that are asked before the network.
    pub fn new(tables: Arc<Tables>) -> Self {
        Endgames {
            tables,
            probing: Probing::default(),
            prefetching: Arc::default(),
            scales: Mutex::default(),
        }
    }

    /// The same, asked elsewhere.
    pub fn with_probing(self, probing: Probing) -> Self {
        Endgames { probing, ..self }
    }

    /// Where they are asked.
    pub fn probing(&self) -> Probing {
        self.probing
    }

    /// The tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What is known of the boards that so many spawns lead to; `None` where that is nothing.
    pub(crate) fn known<'a>(
        &'a self,
        view: View<'_>,
        rules: Rules,
        board: &[u8; 16],
        spawns: usize,
    ) -> Option<Known<'a>> {
        if self.probing == Probing::Root {
            return None;
        }
        let regions = self.scaled_regions(view, rules, board, spawns);
        regions.iter().for_each(|(region, _)| self.prefetch(region, spawns));
        (!regions.is_empty()).then_some(Known { regions })
    }

    /// Loads the layers that the next moves need, on a thread of its own, so that the next search does not wait for them.
    fn prefetch(&self, region: &Region<'_>, spawns: usize) {
        let sum = region.sum() + 2 * (2 * spawns as u32 + 1);
        if region.table().is_loaded(sum, PREFETCHED) || self.prefetching.swap(true, Relaxed) {
            return;
        }
        let number = self.tables.all().iter().position(|table| std::ptr::eq(table, region.table()));
        let (tables, prefetching) = (Arc::clone(&self.tables), Arc::clone(&self.prefetching));
        std::thread::spawn(move || {
            // A layer that cannot be loaded is missed by the search that needs it.
            let _ = number.map(|number| tables.all()[number].window(sum, PREFETCHED));
            prefetching.store(false, Relaxed);
        });
    }

    /// The values of a state's moves by a table at the root; `None` where none knows them, or the search decides.
    pub(crate) fn root_values<const N: usize>(
        &self,
        view: View<'_>,
        rules: Rules,
        state: State<N>,
        slides: &Slides<N>,
    ) -> Option<[f32; 4]> {
        if self.probing == Probing::Leaves {
            return None;
        }
        for (region, scale) in self.scaled_regions(view, rules, &state.board().bytes(), 0) {
            let mut chances = [None; 4];
            slides.iter().for_each(|(a, slide)| {
                chances[a as usize] = region.chance(&slide.afterstate.board().bytes())
            });
            let best = chances.into_iter().flatten().reduce(f32::max);
            if let Some(best) = best.filter(|&best| best > 0.0) {
                // A move out of the endgame is the last choice.
                return (best < SAFE).then(|| chances.map(|chance| scale.value(chance.unwrap_or_default())));
            }
        }
        None
    }

    /// The endgames around a board, with their scales.
    fn scaled_regions<'a>(
        &'a self,
        view: View<'_>,
        rules: Rules,
        board: &[u8; 16],
        spawns: usize,
    ) -> Vec<(Region<'a>, Scale)> {
        // Tables are checked when they are opened; a file that is damaged after that is one table less.
        let regions = self.tables.regions(board, spawns).unwrap_or_default();
        let regions = regions.into_iter().filter(|region| region.sum() >= LEAST_SUM);
        let scaled = regions.filter_map(|region| {
            let scale = self.scale(view, rules, region.table(), region.walls())?;
            Some((region, scale))
        });
        scaled.collect()
    }

    /// What the goals of a table count beside these walls, by a network; `None` where its values do not rise with the chances, or the
    /// walls do not fit the table.
    pub fn goals<'n>(
        &self,
        network: &'n Network,
        rules: Rules,
        table: &Table,
        walls: u32,
    ) -> Option<NetworkGoals<'n>> {
        let home = table.endgame().shapes()[0];
        let lost = self.scale(network.view(), rules, table, walls)?.lost;
        let value = |board: Board<4>| network.value(Afterstate::new(board));
        let start = start_board(home, walls, value)?;
        let place = table.endgame().place()?;
        let with_target = |cell: usize| {
            let mut exponents = start.bytes();
            exponents[cell] = table.endgame().target();
            Board::from_exponents(&exponents).ok().map(value)
        };
        let best =
            (0..16).filter(|cell| place.0 >> cell & 1 == 1).filter_map(with_target).reduce(f32::max)?;
        (best > lost).then(|| NetworkGoals { network, home, walls: start.bytes(), lost, best })
    }

    /// The scale of a table's chances beside these walls.
    pub fn scale(&self, view: View<'_>, rules: Rules, table: &Table, walls: u32) -> Option<Scale> {
        let number = self.tables.all().iter().position(|other| std::ptr::eq(other, table))?;
        let mut scales = self.scales.lock().unwrap_or_else(|poison| poison.into_inner());
        let fit = || dispatch(Level::best(), Fit { view, rules, tables: &self.tables, table, walls });
        *scales.entry((number, walls)).or_insert_with(fit)
    }
}

/// What reached goals count: how far a network's value is from that of a lost endgame, in units of the best goal's value.
pub struct NetworkGoals<'n> {
    network: &'n Network,
    home: Walls,
    /// The walls, and nothing else.
    walls: [u8; 16],
    lost: f32,
    best: f32,
}

impl NetworkGoals<'_> {
    /// The value of a board on which the goal is reached, above 0 and at most 1. Where two targets have merged while the walls are
    /// displaced, it is 1: in which order the walls stand is not known.
    pub fn value(&self, position: Position) -> f32 {
        if position.walls() != self.home.0 {
            return 1.0;
        }
        let exponent =
            |cell: usize| if self.home.0 >> cell & 1 == 1 { self.walls[cell] } else { position.cell(cell) };
        let exponents: [u8; 16] = std::array::from_fn(exponent);
        let value =
            Board::<4>::from_exponents(&exponents).map(|board| self.network.value(Afterstate::new(board)));
        value.map_or(1.0, |value| ((value - self.lost) / (self.best - self.lost)).clamp(LEAST_GOAL, 1.0))
    }
}

/// The endgames around a root.
pub(crate) struct Known<'a> {
    regions: Vec<(Region<'a>, Scale)>,
}

impl Known<'_> {
    /// Which endgames these are: values depend on nothing else.
    pub(crate) fn key(&self) -> Vec<(u8, u32)> {
        self.regions.iter().map(|(region, _)| (region.table().endgame().target(), region.walls())).collect()
    }

    /// The value of an afterstate that a table knows.
    #[inline]
    pub(crate) fn value(&self, board: &[u8; 16]) -> Option<f32> {
        let known = |(region, scale): &(Region<'_>, Scale)| Some(scale.value(region.chance(board)?));
        self.regions.iter().find_map(known)
    }

    /// Adds the value of each afterstate to the number at its index, the network's where no table knows it.
    #[inline(always)]
    pub(crate) fn add_values<I: Isa, const N: usize>(
        &self,
        isa: I,
        view: &View<'_>,
        batch: &mut Batch,
        afterstates: &[Afterstate<N>],
        sums: &mut [f32],
    ) {
        let (mut others, mut indices) =
            (Vec::with_capacity(afterstates.len()), Vec::with_capacity(afterstates.len()));
        for (index, afterstate) in afterstates.iter().enumerate() {
            match self.value(&afterstate.board().bytes()) {
                Some(value) => sums[index] += value,
                None => {
                    others.push(*afterstate);
                    indices.push(index);
                }
            }
        }
        let mut values: Vec<f32> = indices.iter().map(|&index| sums[index]).collect();
        view.add_values(isa, batch, &others, &mut values);
        indices.into_iter().zip(values).for_each(|(index, value)| sums[index] = value);
    }
}

/// Fits a scale.
struct Fit<'a> {
    view: View<'a>,
    rules: Rules,
    tables: &'a Tables,
    table: &'a Table,
    walls: u32,
}

impl Kernel for Fit<'_> {
    type Output = Option<Scale>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<Scale> {
        let value = |board: Board<4>| self.view.value(isa, &board.bytes());
        let best = start_board(self.table.endgame().shapes()[0], self.walls, value)?;
        let mut line = Line::default();
        for number in 0..GAMES {
            let mut rng = game_rng(FIT_SEED, number);
            let mut afterstate = Afterstate::new(best);
            loop {
                let state = afterstate.spawn(&self.rules, &mut rng);
                let Some(next) = self.greedy(isa, state) else { break };
                afterstate = next;
                let board = afterstate.board().bytes();
                let free: u32 = board
                    .iter()
                    .filter(|&&e| e != 0 && e < self.table.endgame().target())
                    .map(|&e| 1 << e)
                    .sum();
                let regions = self.tables.regions(&board, 0).unwrap_or_default();
                let here = |region: &&Region<'_>| {
                    std::ptr::eq(region.table(), self.table) && region.walls() == self.walls
                };
                let Some(region) = regions.iter().find(here) else { break };
                let chance = region.chance(&board);
                if chance.is_none() && board.contains(&self.table.endgame().target()) {
                    // The goal is reached.
                    break;
                }
                if let (Some(chance), true) = (chance, free >= LEAST_SUM) {
                    line.add(chance.into(), self.view.value(isa, &board).into());
                }
            }
        }
        line.scale()
    }
}

/// The seed of the games that scales are fitted by.
const FIT_SEED: u64 = 27;

impl Fit<'_> {
    /// What the best move leads to.
    #[inline(always)]
    fn greedy<I: Isa>(&self, isa: I, state: State<4>) -> Option<Afterstate<4>> {
        let mut best: Option<(f32, Afterstate<4>)> = None;
        for (_, slide) in state.slides().iter() {
            let value = slide.reward as f32 + self.view.value(isa, &slide.afterstate.board().bytes());
            if best.is_none_or(|(least, _)| value > least) {
                best = Some((value, slide.afterstate));
            }
        }
        best.map(|(_, afterstate)| afterstate)
    }
}

/// The sums of a straight line by least squares.
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

/// Walls in a shape, each beside the next larger one, and nothing else: of all such boards the one with the largest value.
#[inline(always)]
fn start_board(shape: Walls, walls: u32, value: impl Fn(Board<4>) -> f32) -> Option<Board<4>> {
    let boards = paths(shape).into_iter().map(|path| start(&path, walls)).collect::<Option<Vec<_>>>()?;
    boards.into_iter().max_by(|a, b| value(*a).total_cmp(&value(*b)))
}

/// The ways through all cells of a shape from neighbour to neighbour.
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

/// A board with walls along a path, the largest one first, and nothing else.
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
