//! The solutions of small boards: 2×2 is solved when it is first asked for, 3×3 comes from a file.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
    time::Instant,
};

use afterstate_game::{Rules, State};
use afterstate_policy::NetPlayer;
use afterstate_search::{Advice, Player};
use afterstate_solver::{Objective, Solution, Space};
use axum::http::StatusCode;

use crate::{
    error::{Answer, ApiError},
    models::lock,
};

/// What files of solutions end in.
const SUFFIX: &str = "solution";

/// The solutions that are known.
pub(crate) struct Solutions {
    directory: PathBuf,
    two: OnceLock<Arc<Solution<2>>>,
    three: Mutex<Option<Arc<Solution<3>>>>,
}

/// Players for boards of one side. There is no `Solution<4>`, and a convolutional network plays on 4×4 only, hence no
/// functions for all sides.
pub(crate) trait OnSide<const N: usize> {
    /// Who plays perfectly. Takes its time where the solution must be found first.
    fn exact(&self) -> Answer<Box<dyn Player<N>>>;

    /// Who plays by a convolutional network.
    fn by_net(_: NetPlayer<'_>) -> Answer<Box<dyn Player<N> + '_>> {
        let error = format!("the board is {N}×{N}, but convolutional networks play on 4×4");
        Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error, "give another board, or another model"))
    }
}

/// Plays by the true values.
struct Exact<const N: usize>(Arc<Solution<N>>);

impl<const N: usize> Player<N> for Exact<N> {
    fn advise(&mut self, state: State<N>) -> Advice {
        let start = Instant::now();
        let values = self.0.move_values(state).map(|value| value.map(|value| value as f32));
        Advice { values, plies: 0, evaluated: 0, time: start.elapsed() }
    }
}

impl Solutions {
    /// Those in the files of a directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Solutions { directory: directory.into(), two: OnceLock::new(), three: Mutex::default() }
    }

    /// The first file with the solution of 3×3.
    fn find(&self) -> Option<Solution<3>> {
        let mut paths: Vec<_> =
            fs::read_dir(&self.directory).ok()?.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == SUFFIX));
        paths.sort();
        let mut solutions = paths.iter().filter_map(|path| Solution::open(path).ok());
        solutions.find(|solution| solution.objective() == Objective::Score)
    }
}

impl OnSide<2> for Solutions {
    fn exact(&self) -> Answer<Box<dyn Player<2>>> {
        let solve =
            || Arc::new(Space::enumerate(&Rules::default(), 1, |_| ()).solve(Objective::Score, 1, |_| ()));
        Ok(Box::new(Exact(self.two.get_or_init(solve).clone())))
    }
}

impl OnSide<3> for Solutions {
    fn exact(&self) -> Answer<Box<dyn Player<3>>> {
        let mut known = lock(&self.three);
        if known.is_none() {
            *known = self.find().map(Arc::new);
        }
        let missing = || {
            let hint = format!(
                "`afterstate solve --board 3x3 -o {}` makes it in some minutes",
                self.directory.join("3x3").with_extension(SUFFIX).display()
            );
            ApiError::not_found("the solution of 3×3 is not there", hint)
        };
        Ok(Box::new(Exact(known.clone().ok_or_else(missing)?)))
    }
}

impl OnSide<4> for Solutions {
    fn exact(&self) -> Answer<Box<dyn Player<4>>> {
        Err(ApiError::bad("4×4 is not solved, and will not be", "exact values are for 3×3 and 2×2"))
    }

    fn by_net(player: NetPlayer<'_>) -> Answer<Box<dyn Player<4> + '_>> {
        Ok(Box::new(player))
    }
}
