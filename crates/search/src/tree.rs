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
    /// The chance nodes from the root of the search to the present one.
    nodes: Vec<Node<N>>,
    table: Option<Table>,
    /// Room to work in.
    slides: SpawnSlides<N>,
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
            table: table_bits.map(Table::new),
            slides: SpawnSlides::default(),
            batch: Batch::default(),
            evaluated: 0,
            expanded: 0,
        }
    }

    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.table.iter_mut().for_each(Table::clear);
    }

    /// Makes room for so many chance layers.
    pub(crate) fn reserve(&mut self, layers: u32) {
        while self.nodes.len() < layers as usize {
            self.nodes.push(Node::new());
        }
    }

    /// The value of an afterstate by a search of so many chance layers, for which room must have been made; `None`
    /// when the time is over or the search is stopped.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(crate) unsafe fn value<I: Isa>(
        &mut self,
        values: &impl ValueFunction,
        root: Afterstate<N>,
        layers: u32,
        probability: f64,
        conditions: &Conditions<'_>,
    ) -> Option<f32> {
        if layers == 0 {
            self.evaluated += 1;
            // SAFETY: inside a kernel.
            return Some(unsafe { values.value::<I>(&root.board().bytes()) });
        }
        if let Some(value) = self.known(root, layers, conditions) {
            return Some(value);
        }
        self.nodes[0].expand(&mut self.slides, root, probability);
        let mut top = 0;
        loop {
            let layers = layers - top as u32;
            // SAFETY: inside a kernel.
            let unknown = unsafe { self.evaluate_children::<I>(values, top, layers, conditions) };
            if let Some((child, probability)) = unknown {
                if self.is_late(conditions) {
                    return None;
                }
                top += 1;
                self.nodes[top].expand(&mut self.slides, child, probability);
                continue;
            }
            let node = &self.nodes[top];
            let value = node.expectation(&conditions.rules);
            if let Some(table) = &mut self.table {
                table.put(node.afterstate.board().bytes(), layers, value);
            }
            if top == 0 {
                return Some(value);
            }
            top -= 1;
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
        if layers == 1 {
            let node = &mut self.nodes[top];
            self.evaluated += node.len as u64;
            // SAFETY: inside a kernel.
            unsafe { node.evaluate::<I>(values, &mut self.batch) };
            return None;
        }
        while let Some((child, probability)) = self.nodes[top].next_child(&conditions.rules) {
            let value = if probability < conditions.prune {
                self.evaluated += 1;
                // SAFETY: inside a kernel.
                unsafe { values.value::<I>(&child.board().bytes()) }
            } else {
                match self.known(child, layers - 1, conditions) {
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
