//! Endgame tables as teachers: an episode that enters a solved endgame ends there, worth the exact chance times a given value.
//!
//! Ours. A step of the late game learns towards a perfect next step: what the network itself would make of the endgame does not
//! count. The chance is that of the table's best play, the value what the goal is worth in points.

use std::sync::Arc;

use afterstate_endgame::Tables;

/// Endgames whose free tiles sum to less are left to the network: with many empty cells, walls that never move are pessimistic.
const LEAST_SUM: u32 = 32;

/// Tables that end episodes.
#[derive(Clone, Debug)]
pub struct EndgameTeacher {
    tables: Arc<Tables>,
    worth: f32,
}

impl EndgameTeacher {
    /// Tables, and what a reached goal is worth in points.
    pub fn new(tables: Arc<Tables>, worth: f32) -> Self {
        EndgameTeacher { tables, worth }
    }

    /// P · W of an afterstate that a table knows. A layer that cannot be read is no teacher.
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
