//! Exact chances at the leaves of a search: an afterstate of a solved endgame gets its chance as value, on the scale of
//! the network's values.
//!
//! The scale is fitted for each table and each set of walls, on boards of greedy games. The network's values are nearly
//! linear in the chances, and a scale with another slope would make the search prefer to stay in the endgame, or to
//! leave it.
//!
//! Searches by depth or nodes wait for layers and scales, so that their values depend on nothing else. Searches by time
//! never wait: threads load what they need, beginning one wall before an endgame, and they probe the tables that are
//! ready.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Instant,
};

use afterstate_endgame::{Near, Position, Region, Table, Tables, Walls};
use afterstate_game::{Afterstate, Board, Rules, Slides, State};
use afterstate_network::{Batch, Isa, Kernel, Network, View};

use crate::scale::{Endgame, Games, LEAST_SUM, Scale, start_board};

/// If the best chance is at least this, tables at the root leave the choice to the search.
const SAFE: f32 = 0.995;

/// The number of layers loaded during a search beyond those it needs: a move adds 2 or 4 to the sum.
const PREFETCHED: usize = 8;

/// The minimum value of a reached goal.
const LEAST_GOAL: f32 = 1e-3;

/// Where a search probes its tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Probing {
    /// At its leaves, before the network.
    #[default]
    Leaves,
    /// Only at the root, as table players do: a table that knows the moves chooses between them.
    Root,
}

/// Endgame tables for the searches of one network.
pub struct Endgames {
    shared: Arc<Shared>,
    probing: Probing,
}

/// The state that searches share with the threads that load for them.
struct Shared {
    tables: Arc<Tables>,
    /// By the number of the table and the walls.
    scales: Mutex<HashMap<(usize, u32), Arc<Fitting>>>,
    /// Whether a thread loads layers or fits a scale.
    is_busy: AtomicBool,
}

/// A scale that is known or being fitted. Fitting it or waiting for it does not block other scales.
#[derive(Default)]
struct Fitting {
    /// `None` if the values do not increase with the chances.
    scale: OnceLock<Option<Scale>>,
    /// The games of searches that do not wait.
    games: Mutex<Games>,
}

/// Marks a background thread as busy until dropped.
struct Busy(Arc<Shared>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.is_busy.store(false, Relaxed);
    }
}

/// How long a search waits for data that is not in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    /// As long as necessary.
    Any,
    /// Not at all; until this instant it may play the games to which scales are fitted.
    Until(Instant),
}

impl Endgames {
    /// Tables that are probed before the network.
    pub fn new(tables: Arc<Tables>) -> Self {
        let shared = Shared { tables, scales: Mutex::default(), is_busy: AtomicBool::new(false) };
        Endgames { shared: Arc::new(shared), probing: Probing::default() }
    }

    /// Sets where tables are probed.
    pub fn with_probing(self, probing: Probing) -> Self {
        Endgames { probing, ..self }
    }

    /// Where tables are probed.
    pub fn probing(&self) -> Probing {
        self.probing
    }

    /// The tables.
    pub fn tables(&self) -> &Tables {
        &self.shared.tables
    }

    /// The known endgames of the boards that this many spawns lead to; `None` if there are none.
    pub(crate) fn known<'a>(
        &'a self,
        view: View<'_>,
        rules: Rules,
        board: &[u8; 16],
        spawns: usize,
        patience: Patience,
    ) -> Option<Known<'a>> {
        match (self.probing, patience) {
            (Probing::Root, Patience::Any) => None,
            (Probing::Root, Patience::Until(_)) => {
                // The tables are probed after the search, so there is time to load them.
                self.scaled_regions(view, rules, board, 0, patience);
                None
            }
            (Probing::Leaves, _) => {
                let regions = self.scaled_regions(view, rules, board, spawns, patience);
                (!regions.is_empty()).then_some(Known { regions })
            }
        }
    }

    /// The returns of a state's moves near endgames, the same as by a search to 1-ply; −∞ where they are illegal.
    #[inline]
    pub(crate) fn greedy_returns<I: Isa, const N: usize>(
        &self,
        isa: I,
        view: &View<'_>,
        rules: Rules,
        state: State<N>,
    ) -> Option<[f32; 4]> {
        let board = state.board().bytes();
        if self.shared.tables.near(&board).is_empty() {
            return None;
        }
        let slides = state.slides();
        let values = match self.root_values(*view, rules, state, &slides, Patience::Any) {
            Some(values) => values,
            None => {
                let known = self.known(*view, rules, &board, 0, Patience::Any)?;
                isa.run_apart(Evaluate { known: &known, view, slides: &slides })
            }
        };
        Some(std::array::from_fn(|a| {
            if slides.legal.mask() >> a & 1 == 1 { values[a] } else { f32::NEG_INFINITY }
        }))
    }

    /// Loads the layers around an endgame and those of the next moves, on a background thread.
    fn load(&self, near: &Near<'_>, spawns: usize) {
        let (number, sum, layers) = (near.number(), near.sum(), 2 * spawns + 1 + PREFETCHED);
        if !near.table().is_loaded(sum, layers) {
            // A layer that fails to load is simply missing in the search that needs it.
            self.in_background(move |shared| drop(shared.tables.all()[number].window(sum, layers)));
        }
    }

    /// Runs `work` on a background thread, unless one is busy: then the next search tries again.
    fn in_background(&self, work: impl FnOnce(&Shared) + Send + 'static) {
        if !self.shared.is_busy.swap(true, Relaxed) {
            let busy = Busy(Arc::clone(&self.shared));
            // If no thread can be started, nothing gets loaded, and the game continues.
            let _ = thread::Builder::new().spawn(move || work(&busy.0));
        }
    }

    /// The values of a state's moves by a table at the root; `None` if no table knows them, or the search is to decide.
    pub(crate) fn root_values<const N: usize>(
        &self,
        view: View<'_>,
        rules: Rules,
        state: State<N>,
        slides: &Slides<N>,
        patience: Patience,
    ) -> Option<[f32; 4]> {
        if self.probing == Probing::Leaves {
            return None;
        }
        for (region, scale) in self.scaled_regions(view, rules, &state.board().bytes(), 0, patience) {
            let mut chances = [None; 4];
            slides.iter().for_each(|(a, slide)| {
                chances[a as usize] = region.chance(&slide.afterstate.board().bytes())
            });
            let best = chances.into_iter().flatten().reduce(f32::max);
            if let Some(best) = best.filter(|&best| best > 0.0) {
                // A move out of the endgame is the last resort.
                return (best < SAFE).then(|| chances.map(|chance| scale.value(chance.unwrap_or_default())));
            }
        }
        None
    }

    /// The endgames around a board with their scales. Also prepares those of the next moves and those one wall away.
    fn scaled_regions<'a>(
        &'a self,
        view: View<'_>,
        rules: Rules,
        board: &[u8; 16],
        spawns: usize,
        patience: Patience,
    ) -> Vec<(Region<'a>, Scale)> {
        let tables = &self.shared.tables;
        let (near, early): (Vec<_>, Vec<_>) =
            tables.near(board).into_iter().partition(|near| near.sum() >= LEAST_SUM);
        let mut regions = Vec::with_capacity(near.len());
        for near in &near {
            let scale = self.scale_of(view, rules, (near.number(), near.walls()), patience);
            // Tables are checked when they are opened; one that is damaged later is ignored.
            let region = scale.and_then(|scale| {
                let region = match patience {
                    Patience::Any => near.load(spawns).ok(),
                    Patience::Until(_) => near.loaded(spawns),
                };
                Some((region?, scale))
            });
            regions.extend(region);
            self.load(near, spawns);
        }
        // Greedy play moves too fast for loading ahead to help.
        if spawns > 0 || matches!(patience, Patience::Until(_)) {
            for near in early.iter().chain(&tables.ahead(board)) {
                if let Patience::Until(_) = patience {
                    self.scale_of(view, rules, (near.number(), near.walls()), patience);
                }
                self.load(near, spawns);
            }
        }
        regions
    }

    /// The scale of an endgame, by the number of its table and its walls; also `None` while it is unknown and there is
    /// no time to wait for it.
    fn scale_of(&self, view: View<'_>, rules: Rules, key: (usize, u32), patience: Patience) -> Option<Scale> {
        let fitting = {
            let mut scales = self.shared.scales.lock().unwrap_or_else(|poison| poison.into_inner());
            Arc::clone(scales.entry(key).or_default())
        };
        let (number, walls) = key;
        let tables: &Tables = &self.shared.tables;
        match patience {
            Patience::Any => {
                let fit = || {
                    let (mut games, endgame) = (Games::default(), Endgame { tables, number, walls });
                    games.play(view, rules, endgame, None);
                    games.scale(endgame)
                };
                *fitting.scale.get_or_init(fit)
            }
            Patience::Until(end) => {
                if let Some(scale) = fitting.scale.get() {
                    return *scale;
                }
                // If the games are locked, another search or the fitting thread has them.
                let endgame = Endgame { tables, number, walls };
                let are_over = fitting
                    .games
                    .try_lock()
                    .is_ok_and(|mut games| games.play(view, rules, endgame, Some(end)));
                if are_over {
                    self.in_background(move |shared| {
                        let endgame = Endgame { tables: &shared.tables, number, walls };
                        let mut games = fitting.games.lock().unwrap_or_else(|poison| poison.into_inner());
                        fitting.scale.get_or_init(|| games.scale(endgame));
                        *games = Games::default();
                    });
                }
                None
            }
        }
    }

    /// The values of a table's goals beside these walls, by a network; `None` if its values do not increase with the
    /// chances, or the walls do not fit the table.
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
        let number = self.tables().all().iter().position(|other| std::ptr::eq(other, table))?;
        self.scale_of(view, rules, (number, walls), Patience::Any)
    }
}

/// The values of reached goals: the distance of a network's value from that of a lost endgame, relative to the best
/// goal.
pub struct NetworkGoals<'n> {
    network: &'n Network,
    home: Walls,
    /// A board with only the walls.
    walls: [u8; 16],
    lost: f32,
    best: f32,
}

impl NetworkGoals<'_> {
    /// The value of a board on which the goal is reached, above 0 and at most 1. If two targets have merged while the
    /// walls are displaced, it is 1, since the order of the walls is unknown.
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
    /// Identifies these endgames; values depend on nothing else.
    pub(crate) fn key(&self) -> Vec<(u8, u32)> {
        self.regions.iter().map(|(region, _)| (region.table().endgame().target(), region.walls())).collect()
    }

    /// The value of an afterstate that a table knows.
    #[inline]
    pub(crate) fn value(&self, board: &[u8; 16]) -> Option<f32> {
        let known = |(region, scale): &(Region<'_>, Scale)| Some(scale.value(region.chance(board)?));
        self.regions.iter().find_map(known)
    }

    /// Adds the value of each afterstate to the number at its index: that of a table if one knows it, or else the
    /// network's.
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

/// The returns of a state's moves near endgames, out of line.
struct Evaluate<'a, const N: usize> {
    known: &'a Known<'a>,
    view: &'a View<'a>,
    slides: &'a Slides<N>,
}

impl<const N: usize> Kernel for Evaluate<'_, N> {
    type Output = [f32; 4];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [f32; 4] {
        let mut returns = [f32::NEG_INFINITY; 4];
        for (a, slide) in self.slides.iter() {
            let board = slide.afterstate.board().bytes();
            let value = self.known.value(&board).unwrap_or_else(|| self.view.value(isa, &board));
            returns[a as usize] = slide.reward as f32 + value;
        }
        returns
    }
}

#[cfg(test)]
mod tests {
    use afterstate_endgame::{Endgame, Precision, Solver};
    use afterstate_network::{Level, NetworkSpec, Tuples, dispatch};

    use super::*;
    use crate::{Expectimax, Limit, Player, SearchSettings};

    /// The returns as the fast loop computes them.
    struct Greedy<'a>(&'a Endgames, View<'a>, State<4>);

    impl Kernel for Greedy<'_> {
        type Output = Option<[f32; 4]>;

        fn run<I: Isa>(self, isa: I) -> Option<[f32; 4]> {
            self.0.greedy_returns(isa, &self.1, Rules::default(), self.2)
        }
    }

    #[test]
    fn the_fast_loop_has_the_values_of_a_search_to_one_ply() {
        let directory = tempfile::tempdir().unwrap();
        let endgame = Endgame::parse(&["FFFF/FFFF/F.../...."], 64).unwrap();
        let path = directory.path().join("64.endgame");
        Solver::new(&endgame).unwrap().solve_to(&path, Precision::U8, &mut |_| true).unwrap();
        let spec = NetworkSpec { tuples: Tuples::named("2x4").unwrap(), ..NetworkSpec::default() };
        let network = Network::new(spec).unwrap();
        (0..2).for_each(|table| network.set_table(table, (0..65_536).map(|i| (i * 7 % 1009) as f32)));
        for probing in [Probing::Leaves, Probing::Root] {
            let tables = Arc::new(Tables::open(directory.path()).unwrap());
            let endgames = Endgames::new(tables).with_probing(probing);
            // Nine walls, from 64 to 16384.
            let fitting = Arc::new(Fitting::default());
            fitting.scale.set(Some(Scale { lost: 900.0, won: 9000.0 })).unwrap();
            endgames.shared.scales.lock().unwrap().insert((0, 0b111_1111_1100_0000), fitting);
            let settings = SearchSettings::new(Limit::Plies(1));
            let player = || Expectimax::<4>::new(network.view(), Rules::default(), settings, 1);
            let (mut with, mut without) = (player().with_endgames(Some(&endgames)), player());
            let (mut known, mut others) = (0, 0);
            for free in ["001/0125", "000/0005", "055/0310", "112/3400", "000/0012", "345/1234", "500/0040"] {
                for walls in ["edcb/789a/6", "edcb/987a/6", "edcb/789a/f"] {
                    let state: State<4> = format!("{walls}{free}").parse().unwrap();
                    let advice = with.advise(state);
                    match dispatch(Level::best(), Greedy(&endgames, network.view(), state)) {
                        Some(returns) => {
                            known += 1;
                            let legal = |value: &f32| (*value != f32::NEG_INFINITY).then_some(*value);
                            assert_eq!(returns.each_ref().map(legal), advice.values, "{state}");
                        }
                        None => {
                            others += 1;
                            assert_eq!(advice.values, without.advise(state).values, "{state}");
                        }
                    }
                }
            }
            // At the root, a table decides only if the chances are between 0 and 99.5%.
            let least = if probing == Probing::Leaves { 3 } else { 0 };
            assert!(known > least && others > 3, "{known} {others}");
        }
    }
}
