//! jaskowski-2016, section VI, and guei-2021, section II.F: expectimax search.
//!
//! p-ply has p layers of moves and p − 1 layers of chance between them; the leaves are afterstates with value V(s').
//! Rewards on the way are added, and states without a legal move have value 0. 1-ply is greedy play.
//!
//! Differences from the papers:
//! 1. The chance layers are complete: all empty cells, the 2 and the 4 in each of them.
//! 2. A search by time or nodes starts at 1-ply and deepens ply by ply; the last completed depth counts.
//! 3. The transposition table holds afterstates, not states, and changes no value of a fixed-depth search.
//! 4. Branches with many 4-tiles can be skipped, instead of those with a small probability. Values then still depend
//!    only on board, depth and the number of 4-tiles, and so the table stays exact.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use afterstate_game::{Afterstate, Move, Rules, Slides, State};
use afterstate_network::{Level, View};

use crate::{
    Advice, Endgames, Player, Visitor,
    adaptive::{Effort, next_nodes, probable_fours, urgency},
    endgame::{Known, Patience},
    leaves::Leaves,
    node::{Branch, Node},
    player::for_legal,
    table::Table,
    tree::{Conditions, Tree},
};

/// The maximum depth of a search.
pub const MAX_PLIES: u32 = 24;

/// A search by time keeps endgames in memory for this many spawns ahead; few searches get further.
const TIMED_SPAWNS: usize = 8;

/// The share of a search by time that may be spent on the games to which the scale of an endgame is fitted.
const GAMES_SHARE: f32 = 0.1;

/// How far to look ahead.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// This number of moves, from 1 to [`MAX_PLIES`].
    Plies(u32),
    /// As many moves as this time allows.
    Time(Duration),
    /// As many moves as this number of evaluated afterstates allows.
    Nodes(u64),
    /// The same, with more nodes for critical states: this many on average.
    Adaptive(u64),
}

/// The default nodes of [`Limit::Adaptive`].
pub const ADAPTIVE_NODES: u64 = 2000;

/// More 4-tiles than any branch has.
const ANY_FOURS: u32 = MAX_PLIES;

/// The size of the transposition table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableSize {
    /// The size that measured best for the depth.
    Auto,
    /// No table.
    Off,
    /// 2 to this power entries of 32 bytes, for each thread.
    Bits(u32),
}

/// How to search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SearchSettings {
    /// How far to look ahead.
    pub limit: Limit,
    /// Search one ply less if at least this many cells are empty.
    pub shallow: Option<u32>,
    /// Branches whose probability is below this are evaluated instead of searched; 0 searches all.
    pub prune: f64,
    /// Branches with more 4-tiles are evaluated instead of searched. `None` searches all, except that searches by time
    /// and nodes choose their own limit.
    pub fours: Option<u32>,
    /// Whether the table may return the values of deeper searches than requested.
    pub deeper: bool,
    /// The size of the transposition table.
    pub table: TableSize,
}

impl SearchSettings {
    /// The exact search with a limit.
    pub fn new(limit: Limit) -> Self {
        SearchSettings {
            limit,
            shallow: None,
            prune: 0.0,
            fours: None,
            deeper: false,
            table: TableSize::Auto,
        }
    }

    /// The number of bits of the table, tuned by measurement (see `docs/performance.md`).
    fn table_bits(&self) -> Option<u32> {
        match (self.table, self.limit) {
            (TableSize::Off, _) | (TableSize::Auto, Limit::Plies(0..=2)) => None,
            (TableSize::Bits(bits), _) => Some(bits),
            (TableSize::Auto, Limit::Plies(3)) => Some(13),
            (TableSize::Auto, Limit::Plies(4)) => Some(15),
            (TableSize::Auto, Limit::Plies(5)) => Some(17),
            (TableSize::Auto, Limit::Nodes(nodes) | Limit::Adaptive(nodes)) => {
                Some(nodes.max(1).ilog2().clamp(12, 18))
            }
            (TableSize::Auto, Limit::Plies(_) | Limit::Time(_)) => Some(18),
        }
    }

    /// The bytes of the table.
    pub fn table_bytes(&self) -> u64 {
        self.table_bits().map_or(0, Table::bytes)
    }

    /// The maximum number of 4-tiles of branches in a search of this many plies.
    fn fours(&self, plies: u32) -> u32 {
        match (self.fours, self.limit) {
            (Some(fours), _) => fours,
            (None, Limit::Plies(_)) => ANY_FOURS,
            (None, _) => probable_fours(plies),
        }
    }

    /// Whether values depend only on the board and the depth.
    fn is_exact(&self) -> bool {
        self.prune <= 0.0 && !self.deeper
    }
}

/// An expectimax player with the values of a network.
pub struct Expectimax<'a, const N: usize> {
    leaves: Leaves<'a>,
    rules: Rules,
    settings: SearchSettings,
    level: Level,
    stop: Option<Arc<AtomicBool>>,
    endgames: Option<&'a Endgames>,
    /// The endgames on which the values in the table depend.
    known: Vec<(u8, u32)>,
    table: Option<Table>,
    /// The buffers of each thread.
    trees: Vec<Tree<N>>,
}

impl<'a, const N: usize> Expectimax<'a, N> {
    /// A player that searches with this many threads.
    pub fn new(view: View<'a>, rules: Rules, settings: SearchSettings, threads: usize) -> Self {
        let trees = (0..threads.max(1)).map(|_| Tree::new()).collect();
        let leaves = Leaves { view, visitor: None, known: None };
        Expectimax {
            leaves,
            rules,
            settings,
            level: Level::best(),
            stop: None,
            endgames: None,
            known: Vec::new(),
            table: settings.table_bits().map(Table::new),
            trees,
        }
    }

    /// Uses a given instruction set; the values are the same.
    pub fn with_level(self, level: Level) -> Self {
        Expectimax { level, ..self }
    }

    /// Stops a search when the flag is set. It then returns the values of the last completed depth, which is 1-ply at
    /// least.
    pub fn with_stop(self, stop: Arc<AtomicBool>) -> Self {
        Expectimax { stop: Some(stop), ..self }
    }

    /// Reports every evaluated board to the visitor.
    pub fn with_visitor(self, visitor: &'a dyn Visitor) -> Self {
        Expectimax { leaves: Leaves { visitor: Some(visitor), ..self.leaves }, ..self }
    }

    /// Uses endgame tables for the values of their afterstates.
    pub fn with_endgames(self, endgames: Option<&'a Endgames>) -> Self {
        Expectimax { endgames: endgames.filter(|_| N == 4), ..self }
    }

    /// The endgames around a state. Values of afterstates depend on them.
    fn known(&mut self, state: State<N>, patience: Patience) -> Option<Known<'a>> {
        let spawns = match self.settings.limit {
            Limit::Plies(plies) => plies as usize - 1,
            _ => TIMED_SPAWNS,
        };
        let board = state.board().bytes();
        let known = self.endgames?.known(self.leaves.view, self.rules, &board, spawns, patience);
        let key = known.as_ref().map(Known::key).unwrap_or_default();
        if key != self.known {
            self.table.iter_mut().for_each(Table::clear);
            self.known = key;
        }
        known
    }

    /// The values of a state's moves, 0 where they are illegal; `None` if the budget is used up or the search is
    /// stopped.
    fn search(
        &mut self,
        slides: &Slides<N>,
        plies: u32,
        effort: Effort,
        known: Option<&Known<'_>>,
    ) -> Option<[f32; 4]> {
        let SearchSettings { prune, deeper, .. } = self.settings;
        let (table, stop) = (self.table.take(), self.stop.clone());
        let (deadline, most) = match effort {
            Effort::Any => (None, u64::MAX),
            Effort::Until(deadline) => (Some(deadline), u64::MAX),
            Effort::Evaluated(most) => (None, most),
        };
        let conditions = Conditions {
            level: self.level,
            leaves: Leaves { known, ..self.leaves },
            rules: self.rules,
            table: table.as_ref(),
            prune,
            deeper,
            deadline,
            most,
            stop: stop.as_deref(),
        };
        let fours = self.settings.fours(plies);
        let values = match self.trees.len() {
            // The contents of the table depend on which branches each thread happened to take. Inexact values would
            // depend on them too, and so would the number of nodes.
            2.. if plies > 2 && self.settings.is_exact() && most == u64::MAX => {
                self.search_together(slides, plies, fours, &conditions)
            }
            _ => self.search_alone(slides, plies, fours, &conditions),
        };
        self.table = table;
        values.map(|values| std::array::from_fn(|a| slides.rewards[a] as f32 + values[a]))
    }

    /// The values of the afterstates by one thread. Allocates nothing, since at 2-ply a move takes only a few
    /// microseconds.
    fn search_alone(
        &mut self,
        slides: &Slides<N>,
        plies: u32,
        fours: u32,
        conditions: &Conditions<'_>,
    ) -> Option<[f32; 4]> {
        let (mut afterstates, mut moves, mut len) = (slides.afterstates, [0; 4], 0);
        for (a, slide) in slides.iter() {
            (afterstates[len], moves[len]) = (slide.afterstate, a as usize);
            len += 1;
        }
        let found = self.trees[0].search(&afterstates[..len], plies - 1, (1.0, fours), conditions)?;
        let mut values = [0.0; 4];
        moves.into_iter().zip(found).take(len).for_each(|(a, value)| values[a] = value);
        Some(values)
    }

    /// The values of the afterstates by all threads, which share the work after the first spawn.
    fn search_together(
        &mut self,
        slides: &Slides<N>,
        plies: u32,
        fours: u32,
        conditions: &Conditions<'_>,
    ) -> Option<[f32; 4]> {
        let rules = self.rules;
        let mut nodes: Vec<_> =
            slides.iter().map(|(_, slide)| root(slide.afterstate, fours, &rules)).collect();
        let children = |node: &Node<N>| (0..node.len()).map(|i| node.branch(i)).collect::<Vec<_>>();
        let tasks: Vec<_> = nodes.iter().flat_map(children).collect();
        let found: Vec<_> = tasks.iter().map(|_| AtomicU32::new(0)).collect();
        let (taken, late) = (AtomicUsize::new(0), AtomicBool::new(false));
        let ends = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let work = |thread: usize, tree: &mut Tree<N>| {
            while taken.fetch_add(1, Relaxed) < tasks.len() && !late.load(Relaxed) {
                // Works from both ends: neighbours have much in common, and would be searched twice at the same time.
                let place = ends[thread % 2].fetch_add(1, Relaxed);
                let task = if thread.is_multiple_of(2) { place } else { tasks.len() - 1 - place };
                let Branch { afterstate, probability, fours } = tasks[task];
                // With too many 4-tiles only the value counts.
                let layers = if fours.is_some() { plies - 2 } else { 0 };
                match tree.search(&[afterstate], layers, (probability, fours.unwrap_or_default()), conditions)
                {
                    Some([value, ..]) => found[task].store(value.to_bits(), Relaxed),
                    None => late.store(true, Relaxed),
                }
            }
        };
        afterstate_threads::for_each(self.trees.iter_mut().enumerate(), |(thread, tree)| work(thread, tree));
        if late.into_inner() {
            return None;
        }
        let (mut values, mut found) = ([0.0; 4], found.into_iter().map(value_of));
        for (node, (a, _)) in nodes.iter_mut().zip(slides.iter()) {
            found.by_ref().take(node.len()).for_each(|value| node.take_value(value));
            values[a as usize] = node.expectation(&rules);
        }
        Some(values)
    }

    /// Iterative deepening until the budget is used up.
    fn deepen(&mut self, state: State<N>, slides: &Slides<N>, effort: Effort) -> ([f32; 4], u32) {
        let mut known = self.known(state, patience(effort, GAMES_SHARE));
        let mut last = (self.search(slides, 1, Effort::Any, known.as_ref()).unwrap_or_default(), 1);
        let mut nodes = [1, 1];
        // A forced move needs no search.
        while last.1 < MAX_PLIES && slides.legal.len() > 1 {
            let before = self.evaluated();
            if !effort.allows(before, next_nodes(nodes)) {
                break;
            }
            if let Effort::Until(_) = effort {
                // Endgames may have been loaded in the meantime.
                known = self.known(state, patience(effort, 0.0));
            }
            match self.search(slides, last.1 + 1, effort, known.as_ref()) {
                Some(values) => last = (values, last.1 + 1),
                None => break,
            }
            nodes = [nodes[1], self.evaluated() - before];
        }
        last
    }

    fn evaluated(&self) -> u64 {
        self.trees.iter().map(|tree| tree.evaluated).sum()
    }
}

impl<const N: usize> Player<N> for Expectimax<'_, N> {
    fn advise(&mut self, state: State<N>) -> Advice {
        let (start, before) = (Instant::now(), self.evaluated());
        if !self.settings.is_exact() || matches!(self.settings.limit, Limit::Nodes(_) | Limit::Adaptive(_)) {
            // Entries left by other moves would make values, or the number of nodes, depend on them.
            self.table.iter_mut().for_each(Table::clear);
        }
        let slides = state.slides();
        let (values, plies) = match self.settings.limit {
            Limit::Time(time) => self.deepen(state, &slides, Effort::Until(start + time)),
            Limit::Nodes(nodes) => self.deepen(state, &slides, Effort::Evaluated(before + nodes)),
            Limit::Adaptive(nodes) => {
                let nodes = (nodes as f64 * urgency(state.board())) as u64;
                self.deepen(state, &slides, Effort::Evaluated(before + nodes))
            }
            Limit::Plies(plies) => {
                let is_easy = self.settings.shallow.is_some_and(|cells| state.board().empty_count() >= cells);
                let plies = plies.saturating_sub(u32::from(is_easy)).clamp(1, MAX_PLIES);
                let known = self.known(state, Patience::Any);
                match self.search(&slides, plies, Effort::Any, known.as_ref()) {
                    Some(values) => (values, plies),
                    None => (self.search(&slides, 1, Effort::Any, known.as_ref()).unwrap_or_default(), 1),
                }
            }
        };
        let patience = match self.settings.limit {
            Limit::Time(_) => Patience::Until(start),
            _ => Patience::Any,
        };
        let values = self
            .endgames
            .and_then(|endgames| endgames.root_values(self.leaves.view, self.rules, state, &slides, patience))
            .unwrap_or(values);
        Advice {
            values: for_legal(slides.legal, |a: Move| values[a as usize]),
            policy: None,
            plies,
            evaluated: self.evaluated() - before,
            time: start.elapsed(),
        }
    }
}

/// How long a search waits for endgames: a search by time does not wait, but may spend this share of the remaining time
/// on preparing them.
fn patience(effort: Effort, share: f32) -> Patience {
    match effort {
        Effort::Until(deadline) => {
            let now = Instant::now();
            Patience::Until(now + deadline.saturating_duration_since(now).mul_f32(share))
        }
        _ => Patience::Any,
    }
}

/// A value from its bits.
fn value_of(bits: AtomicU32) -> f32 {
    f32::from_bits(bits.into_inner())
}

/// The chance node of an afterstate of the root.
fn root<const N: usize>(afterstate: Afterstate<N>, fours: u32, rules: &Rules) -> Node<N> {
    let mut node = Node::new();
    node.expand(Branch { afterstate, probability: 1.0, fours: Some(fours) }, rules);
    node
}
