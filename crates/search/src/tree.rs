//! The search below one afterstate: depth first, over a stack of chance nodes, with a transposition table.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use afterstate_game::{Afterstate, Rules, SpawnSlides};
use afterstate_network::{Batch, Isa};

use crate::{ValueFunction, node::Node, table::Table};

/// Nodes between two looks at the clock and at the flag: some microseconds.
const CLOCK_INTERVAL: u64 = 16;

/// What holds for a whole search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<'a> {
    pub(crate) rules: Rules,
    /// Branches that are less probable are not searched: their afterstates are evaluated as they are.
    pub(crate) prune: f64,
    /// Whether the value of a deeper search may stand in.
    pub(crate) deeper: bool,
    /// When to give up.
    pub(crate) deadline: Option<Instant>,
    /// Set by whoever no longer wants to know.
    pub(crate) stop: Option<&'a AtomicBool>,
}

/// The memory of a thread that searches.
pub(crate) struct Tree<const N: usize> {
    /// The nodes from the root of the search to the present one: the root stands for the state to move on, the others are
    /// chance nodes.
    nodes: Vec<Node<N>>,
    /// Two nodes of the last chance layer, which take turns: while the weights for the one are on their way, the other
    /// one is expanded.
    leaves: Box<[Leaf<N>; 2]>,
    table: Option<Table>,
    /// Room to work in.
    slides: SpawnSlides<N>,
    /// The number of afterstates evaluated so far.
    pub(crate) evaluated: u64,
    expanded: u64,
}

/// A chance node whose children are evaluated by the value function.
struct Leaf<const N: usize> {
    node: Node<N>,
    batch: Batch,
    /// Which child of its parent it is.
    place: usize,
}

impl<const N: usize> Tree<N> {
    /// With a table of 2^bits entries, or without any.
    pub(crate) fn new(table_bits: Option<u32>) -> Self {
        let leaf = || Leaf { node: Node::new(), batch: Batch::default(), place: 0 };
        Tree {
            nodes: Vec::new(),
            leaves: Box::new([leaf(), leaf()]),
            table: table_bits.map(Table::new),
            slides: SpawnSlides::default(),
            evaluated: 0,
            expanded: 0,
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.table.iter_mut().for_each(Table::clear);
    }

    /// The values of up to four afterstates by a search of so many chance layers; `None` when the time is over or the
    /// search is stopped.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn values<I: Isa>(
        &mut self,
        values: &impl ValueFunction,
        afterstates: &[Afterstate<N>],
        layers: u32,
        probability: f64,
        conditions: &Conditions<'_>,
    ) -> Option<[f32; 4]> {
        while self.nodes.len() < layers.max(1) as usize {
            self.nodes.push(Node::new());
        }
        self.nodes[0].hold(afterstates, probability);
        let mut top = 0;
        loop {
            // Below the children of the node.
            let layers = layers - top as u32;
            // SAFETY: inside a kernel.
            let unknown = unsafe {
                match layers {
                    0 => self.evaluate_root::<I>(values),
                    1 => self.evaluate_leaves::<I>(values, top, conditions)?,
                    _ => self.evaluate_children::<I>(values, top, layers, conditions),
                }
            };
            if let Some((child, probability)) = unknown {
                if self.is_late(conditions) {
                    return None;
                }
                top += 1;
                self.nodes[top].expand(&mut self.slides, child, probability, &conditions.rules);
                continue;
            }
            let node = &self.nodes[top];
            if top == 0 {
                return Some(std::array::from_fn(|i| node.returns()[i]));
            }
            let value = node.expectation(&conditions.rules);
            if let Some(table) = &mut self.table {
                table.put(node.afterstate.board().bytes(), layers + 1, value);
            }
            top -= 1;
            self.nodes[top].take_value(value);
        }
    }

    /// Gives the children of the root their values by the value function; there is nothing to be searched.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    unsafe fn evaluate_root<I: Isa>(&mut self, values: &impl ValueFunction) -> Option<(Afterstate<N>, f64)> {
        let (root, leaf) = (&mut self.nodes[0], &mut self.leaves[0]);
        self.evaluated += root.len() as u64;
        // SAFETY: inside a kernel.
        unsafe {
            root.ask_for_values::<I>(values, &mut leaf.batch);
            root.add_values::<I>(values, &mut leaf.batch);
        }
        None
    }

    /// Gives the children of a node their values by the last chance layer. `None` when the time is over, else nothing
    /// is left to be searched.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    unsafe fn evaluate_leaves<I: Isa>(
        &mut self,
        values: &impl ValueFunction,
        top: usize,
        conditions: &Conditions<'_>,
    ) -> Option<Option<(Afterstate<N>, f64)>> {
        let (mut begun, mut under_way) = (0, false);
        loop {
            // SAFETY: inside a kernel.
            let unknown = unsafe { self.evaluate_children::<I>(values, top, 1, conditions) };
            if let Some((child, probability)) = unknown {
                if self.is_late(conditions) {
                    return None;
                }
                let Leaf { node, batch, place } = &mut self.leaves[begun % 2];
                node.expand(&mut self.slides, child, probability, &conditions.rules);
                // SAFETY: inside a kernel.
                unsafe { node.ask_for_values::<I>(values, batch) };
                *place = self.nodes[top].skip();
            }
            if under_way {
                let Leaf { node, batch, place } = &mut self.leaves[(begun + 1) % 2];
                self.evaluated += node.len() as u64;
                // SAFETY: inside a kernel; the weights of this node have been asked for.
                unsafe { node.add_values::<I>(values, batch) };
                let value = node.expectation(&conditions.rules);
                if let Some(table) = &mut self.table {
                    table.put(node.afterstate.board().bytes(), 1, value);
                }
                self.nodes[top].give_value(*place, value);
            }
            if unknown.is_none() {
                return Some(None);
            }
            (begun, under_way) = (begun + 1, true);
        }
    }

    /// Gives the children of a node their values, up to the first one that has to be searched: that one is returned,
    /// with its probability.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    unsafe fn evaluate_children<I: Isa>(
        &mut self,
        values: &impl ValueFunction,
        top: usize,
        layers: u32,
        conditions: &Conditions<'_>,
    ) -> Option<(Afterstate<N>, f64)> {
        while let Some((child, probability)) = self.nodes[top].next_child() {
            if let Some(table) = &self.table {
                table.ask_for(self.nodes[top].child_after_next().board().bytes());
            }
            let value = if probability < conditions.prune {
                self.evaluated += 1;
                // SAFETY: inside a kernel.
                unsafe { values.value::<I>(&child.board().bytes()) }
            } else {
                match self.known(child, layers, conditions) {
                    Some(value) => value,
                    None => return Some((child, probability)),
                }
            };
            self.nodes[top].take_value(value);
        }
        None
    }

    /// What the table knows.
    #[inline(always)]
    fn known(&self, afterstate: Afterstate<N>, layers: u32, conditions: &Conditions<'_>) -> Option<f32> {
        self.table.as_ref()?.get(afterstate.board().bytes(), layers, conditions.deeper)
    }

    /// Whether the time is over or the search is stopped; that is looked at only now and then.
    #[inline(always)]
    fn is_late(&mut self, conditions: &Conditions<'_>) -> bool {
        let Conditions { deadline, stop, .. } = conditions;
        if deadline.is_none() && stop.is_none() {
            return false;
        }
        self.expanded += 1;
        self.expanded.is_multiple_of(CLOCK_INTERVAL)
            && (stop.is_some_and(|stop| stop.load(Relaxed))
                || deadline.is_some_and(|deadline| Instant::now() >= deadline))
    }
}
