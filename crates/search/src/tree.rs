//! The search below one afterstate: depth first, over a stack of chance nodes, with a transposition table.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use afterstate_game::{Afterstate, Rules};
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
    /// The node of the last chance layer, whose children are evaluated by the value function.
    leaf: Box<Node<N>>,
    table: Option<Table>,
    /// Room to work in.
    batch: Batch,
    /// The number of afterstates evaluated so far.
    pub(crate) evaluated: u64,
    expanded: u64,
}

impl<const N: usize> Tree<N> {
    /// With a table of 2^bits entries, or without any.
    pub(crate) fn new(table_bits: Option<u32>) -> Self {
        Tree {
            nodes: Vec::new(),
            leaf: Box::new(Node::new()),
            table: table_bits.map(Table::new),
            batch: Batch::default(),
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
                self.nodes[top].expand(child, probability, &conditions.rules);
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
        self.evaluated += self.nodes[0].len() as u64;
        // SAFETY: inside a kernel.
        unsafe { self.nodes[0].add_values::<I>(values, &mut self.batch) };
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
        loop {
            // SAFETY: inside a kernel.
            let unknown = unsafe { self.evaluate_children::<I>(values, top, 1, conditions) };
            let Some((child, probability)) = unknown else { return Some(None) };
            if self.is_late(conditions) {
                return None;
            }
            self.leaf.expand(child, probability, &conditions.rules);
            self.evaluated += self.leaf.len() as u64;
            // SAFETY: inside a kernel.
            unsafe { self.leaf.add_values::<I>(values, &mut self.batch) };
            let value = self.leaf.expectation(&conditions.rules);
            if let Some(table) = &mut self.table {
                table.put(child.board().bytes(), 1, value);
            }
            self.nodes[top].take_value(value);
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
