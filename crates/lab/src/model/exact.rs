//! The exact values on small boards, as a model.

use std::{path::Path, sync::Arc, time::Instant};

use afterstate_game::{Rules, State};
use afterstate_search::{Advice, Player};
use afterstate_solver::{Solution, SolutionError};

use super::{ModelError, play::OnSide};
use crate::evaluate::{Games, PlayOutcome, evaluate_players};

/// The available solutions, by the side of the board.
#[derive(Clone, Default)]
pub struct Exact {
    /// For 2×2.
    pub two: Option<Arc<Solution<2>>>,
    /// For 3×3.
    pub three: Option<Arc<Solution<3>>>,
}

impl Exact {
    /// Opens a solution, of either side.
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn open(path: &Path) -> Result<Exact, SolutionError> {
        match Solution::open(path) {
            Ok(three) => Ok(Exact { three: Some(Arc::new(three)), two: None }),
            Err(SolutionError::Side { .. }) => {
                Ok(Exact { two: Some(Arc::new(Solution::open(path)?)), three: None })
            }
            Err(error) => Err(error),
        }
    }

    /// The largest side with a solution.
    pub(super) fn side(&self) -> usize {
        if self.three.is_some() { 3 } else { 2 }
    }

    /// The rules of the solved game.
    pub(super) fn rules(&self) -> Rules {
        let two = self.two.as_ref().map(|solution| solution.rules());
        self.three.as_ref().map(|solution| solution.rules()).or(two).unwrap_or_default()
    }

    /// The perfect player on boards of a side.
    pub(super) fn player<'a, const N: usize>(&self) -> Result<Box<dyn Player<N> + 'a>, ModelError> {
        match (N, &self.two, &self.three) {
            (2, Some(two), _) => Ok(Box::new(OnSide::<_, 2>(Perfect(two.clone())))),
            (3, _, Some(three)) => Ok(Box::new(OnSide::<_, 3>(Perfect(three.clone())))),
            _ => Err(ModelError::Unsolved(N)),
        }
    }

    /// Plays games on the largest solved board.
    pub(super) fn play(
        &self,
        games: Games<'_>,
        threads: usize,
        watch: impl FnMut(&PlayOutcome) -> bool,
    ) -> Option<PlayOutcome> {
        match (&self.two, &self.three) {
            (_, Some(three)) => evaluate_players(games, threads, || Perfect(three.clone()), watch),
            (Some(two), None) => evaluate_players(games, threads, || Perfect(two.clone()), watch),
            (None, None) => None,
        }
    }
}

/// Plays by the exact values.
struct Perfect<const N: usize>(Arc<Solution<N>>);

impl<const N: usize> Player<N> for Perfect<N> {
    fn advise(&mut self, state: State<N>) -> Advice {
        let start = Instant::now();
        let values = self.0.move_values(state).map(|value| value.map(|value| value as f32));
        Advice { values, time: start.elapsed(), ..Advice::default() }
    }
}
