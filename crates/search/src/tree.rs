//! The search below one afterstate: depth-first, over a stack of chance nodes.

use std::{
    any::Any,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use afterstate_game::{Afterstate, Rules};
use afterstate_network::{Batch, Isa, Kernel, Level, dispatch};

use crate::{
    leaves::Leaves,
    node::{Branch, Node},
    table::{Depth, Table},
};

/// The number of nodes between checks of the clock and the stop flag: a few microseconds.
const CLOCK_INTERVAL: u64 = 16;

/// The parameters of a search.
#[derive(Clone, Copy)]
pub(crate) struct Conditions<'a> {
    pub(crate) level: Level,
    pub(crate) leaves: Leaves<'a>,
    pub(crate) rules: Rules,
    /// The transposition table.
    pub(crate) table: Option<&'a Table>,
    /// Branches with a smaller probability are not searched: their afterstates are evaluated directly.
    pub(crate) prune: f64,
    /// Whether the value of a deeper search may be used instead.
    pub(crate) deeper: bool,
    /// When to abort.
    pub(crate) deadline: Option<Instant>,
    /// The number of evaluated afterstates, over all searches of the tree, after which to abort.
    pub(crate) most: u64,
    /// Set by a caller that no longer needs the result.
    pub(crate) stop: Option<&'a AtomicBool>,
}

/// The buffers of a searching thread.
pub(crate) struct Tree<const N: usize> {
    /// The nodes from the root of the search to the current one. The root stands for the state to move in; the others
    /// are chance nodes.
    nodes: Vec<Node<N>>,
    /// The node of the last chance layer, whose children are leaves.
    leaf: Box<Node<N>>,
    /// A scratch buffer.
    batch: Batch,
    /// The number of afterstates evaluated so far.
    pub(crate) evaluated: u64,
    expanded: u64,
}

impl<const N: usize> Tree<N> {
    /// An empty tree.
    pub(crate) fn new() -> Self {
        Tree {
            nodes: Vec::new(),
            leaf: Box::new(Node::new()),
            batch: Batch::default(),
            evaluated: 0,
            expanded: 0,
        }
    }

    /// The values of up to four afterstates by a search of this many chance layers, with at most this many 4-tiles;
    /// `None` if the limit is reached or the search is stopped.
    pub(crate) fn search(
        &mut self,
        afterstates: &[Afterstate<N>],
        layers: u32,
        (probability, fours): (f64, u32),
        conditions: &Conditions<'_>,
    ) -> Option<[f32; 4]> {
        while self.nodes.len() < layers.max(1) as usize {
            self.nodes.push(Node::new());
        }
        self.nodes[0].hold(afterstates, probability, fours);
        // Compiles the walk once for each side, here, rather than in every crate that searches.
        let tree: &mut dyn Any = self;
        if let Some(tree) = tree.downcast_mut() {
            walk_4(tree, layers, conditions)
        } else if let Some(tree) = tree.downcast_mut() {
            walk_3(tree, layers, conditions)
        } else {
            walk_2(tree.downcast_mut()?, layers, conditions)
        }
    }

    /// The values of the root's children.
    #[inline(always)]
    fn walk<I: Isa>(&mut self, isa: I, layers: u32, conditions: &Conditions<'_>) -> Option<[f32; 4]> {
        let mut top = 0;
        loop {
            // Below the children of the node.
            let layers = layers - top as u32;
            let unknown = match layers {
                0 => self.evaluate_root(isa, conditions),
                1 => self.evaluate_leaves(isa, top, conditions)?,
                _ => self.evaluate_children(isa, top, layers, conditions),
            };
            if let Some(branch) = unknown {
                if self.is_late(conditions) {
                    return None;
                }
                top += 1;
                self.nodes[top].expand(branch, &conditions.rules);
                continue;
            }
            let node = &self.nodes[top];
            if top == 0 {
                return Some(std::array::from_fn(|i| node.returns()[i]));
            }
            let value = node.expectation(&conditions.rules);
            if let Some(table) = conditions.table {
                table.put(node.afterstate.board().bytes(), Depth::new(layers + 1, node.fours()), value);
            }
            top -= 1;
            self.nodes[top].take_value(value);
        }
    }

    /// Evaluates the children of the root as leaves; there is nothing to search.
    #[inline(always)]
    fn evaluate_root<I: Isa>(&mut self, isa: I, conditions: &Conditions<'_>) -> Option<Branch<N>> {
        self.evaluated += self.nodes[0].len() as u64;
        self.nodes[0].add_values(isa, &conditions.leaves, &mut self.batch);
        None
    }

    /// Evaluates the children of a node by the last chance layer. Returns `None` if the limit is reached; otherwise
    /// there is nothing left to search.
    #[inline(always)]
    fn evaluate_leaves<I: Isa>(
        &mut self,
        isa: I,
        top: usize,
        conditions: &Conditions<'_>,
    ) -> Option<Option<Branch<N>>> {
        loop {
            let unknown = self.evaluate_children(isa, top, 1, conditions);
            let Some(branch) = unknown else { return Some(None) };
            if self.is_late(conditions) {
                return None;
            }
            self.leaf.expand(branch, &conditions.rules);
            self.evaluated += self.leaf.len() as u64;
            self.leaf.add_values(isa, &conditions.leaves, &mut self.batch);
            let value = self.leaf.expectation(&conditions.rules);
            if let Some(table) = conditions.table {
                table.put(branch.afterstate.board().bytes(), Depth::new(1, 0), value);
            }
            self.nodes[top].take_value(value);
        }
    }

    /// Evaluates the children of a node, up to the first one that has to be searched, and returns the branch to it.
    #[inline(always)]
    fn evaluate_children<I: Isa>(
        &mut self,
        isa: I,
        top: usize,
        layers: u32,
        conditions: &Conditions<'_>,
    ) -> Option<Branch<N>> {
        while let Some(branch) = self.nodes[top].next_branch() {
            if let Some(table) = conditions.table {
                table.prefetch(self.nodes[top].child_after_next().board().bytes());
            }
            let value = match branch.fours {
                Some(fours) if branch.probability >= conditions.prune => {
                    let depth = Depth::new(layers, fours);
                    let board = branch.afterstate.board().bytes();
                    match conditions.table.and_then(|table| table.get(board, depth, conditions.deeper)) {
                        Some(value) => value,
                        None => return Some(branch),
                    }
                }
                _ => {
                    self.evaluated += 1;
                    conditions.leaves.value(isa, branch.afterstate)
                }
            };
            self.nodes[top].take_value(value);
        }
        None
    }

    /// Whether the limit is reached or the search is stopped; checks the clock and the flag only now and then.
    #[inline(always)]
    fn is_late(&mut self, conditions: &Conditions<'_>) -> bool {
        let Conditions { deadline, stop, most, .. } = conditions;
        if self.evaluated >= *most {
            return true;
        }
        if deadline.is_none() && stop.is_none() {
            return false;
        }
        self.expanded += 1;
        self.expanded.is_multiple_of(CLOCK_INTERVAL)
            && (stop.is_some_and(|stop| stop.load(Relaxed))
                || deadline.is_some_and(|deadline| Instant::now() >= deadline))
    }
}

/// The walk, compiled for each instruction set.
struct Walk<'a, const N: usize> {
    tree: &'a mut Tree<N>,
    layers: u32,
    conditions: &'a Conditions<'a>,
}

impl<const N: usize> Kernel for Walk<'_, N> {
    type Output = Option<[f32; 4]>;

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        self.tree.walk(isa, self.layers, self.conditions)
    }
}

macro_rules! walk {
    ($name:ident, $side:literal) => {
        #[inline(never)]
        fn $name(tree: &mut Tree<$side>, layers: u32, conditions: &Conditions<'_>) -> Option<[f32; 4]> {
            dispatch(conditions.level, Walk { tree, layers, conditions })
        }
    };
}
walk!(walk_4, 4);
walk!(walk_3, 3);
walk!(walk_2, 2);
