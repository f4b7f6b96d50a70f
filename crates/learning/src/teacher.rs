//! Endgame tables as teachers: an episode ends when it enters a solved endgame, with the exact chance times a given
//! value.
//!
//! This is our own method. Late moves learn towards a perfect continuation; the network's own values of the endgame do
//! not count. The chance is that of the table's best play; the value is that of the goal in points.

use std::sync::Arc;

use afterstate_endgame::Tables;

/// Endgames whose free tiles sum to less are left to the network: with many empty cells, assuming fixed walls is
/// pessimistic.
const LEAST_SUM: u32 = 32;

/// Tables that end episodes.
#[derive(Clone, Debug)]
pub struct EndgameTeacher {
    tables: Arc<Tables>,
    worth: f32,
}

impl EndgameTeacher {
    /// Creates a teacher from tables, and the value of a reached goal in points.
    pub fn new(tables: Arc<Tables>, worth: f32) -> Self {
        EndgameTeacher { tables, worth }
    }

    /// P · W of an afterstate that a table knows; `None` if its layer cannot be read.
    pub(crate) fn value(&self, afterstate: &[u8; 16]) -> Option<f32> {
        let regions = self.tables.regions(afterstate, 0).ok()?;
        let known = regions.iter().filter(|region| region.sum() >= LEAST_SUM);
        known.into_iter().find_map(|region| region.chance(afterstate)).map(|chance| chance * self.worth)
    }
}

impl PartialEq for EndgameTeacher {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables) && self.worth == other.worth
    }
}
