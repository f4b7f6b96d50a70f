//! The solutions of small boards: 2×2 is solved on first request, 3×3 is read from a file.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use afterstate_game::{AnyBoard, Rules, State, game_rng};
use afterstate_lab::model::{Exact, Model, ModelError};
use afterstate_solver::{Objective, Solution, Space};
use tokio::sync::watch;

use crate::{error::ApiError, models::lock};

/// The suffix of solution files.
const SUFFIX: &str = "solution";

/// The known solutions.
pub(crate) struct Solutions {
    directory: PathBuf,
    two: OnceLock<Arc<Solution<2>>>,
    three: Mutex<Option<Arc<Solution<3>>>>,
    /// The progress of solving 3×3.
    progress: watch::Sender<Solving>,
}

/// The state of the solution of 3×3.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Solving {
    /// Not requested.
    Idle,
    /// The current phase and its progress from 0 to 1.
    At(&'static str, f64),
    /// Saved to its file, or an error.
    Ended(Option<String>),
}

/// The largest sum of tiles that a game on 3×3 reaches.
const LARGEST_SUM: f64 = 2044.0;

/// The number of boards up to which the chances of tiles are exact; with more, games are played.
const MOST_BOARDS: usize = 50_000;

/// The number of such games.
const GAMES: u64 = 500;

/// The chances of larger tiles under optimal play.
pub(crate) struct TileChances {
    /// The tiles not yet on the board, the smallest first.
    pub(crate) chances: Vec<(u32, f64)>,
    /// Whether they are exact, rather than shares of sampled games.
    pub(crate) is_exact: bool,
}

impl Solutions {
    /// The solutions in the files of a directory.
    pub(crate) fn new(directory: &Path) -> Self {
        let progress = watch::Sender::new(Solving::Idle);
        Solutions { directory: directory.into(), two: OnceLock::new(), three: Mutex::default(), progress }
    }

    /// The solutions as a model: 2×2, which is solved here if necessary, and 3×3 if it exists.
    pub(crate) fn model(&self) -> Model {
        Model::exact("exact".into(), Exact { two: Some(self.two().clone()), three: self.three() })
    }

    /// The chances of tiles on a small board, if the game continues with the best moves.
    pub(crate) fn tile_chances(&self, board: &AnyBoard) -> Option<TileChances> {
        match board {
            AnyBoard::Two(board) => tile_chances(self.two(), State::new(*board)),
            AnyBoard::Three(board) => tile_chances(&*self.three()?, State::new(*board)),
            AnyBoard::Four(_) => None,
        }
    }

    /// The progress of solving 3×3, as it changes.
    pub(crate) fn progress(&self) -> watch::Receiver<Solving> {
        self.progress.subscribe()
    }

    /// Whether the solution of 3×3 exists.
    pub(crate) fn is_solved(&self) -> bool {
        self.three().is_some()
    }

    fn two(&self) -> &Arc<Solution<2>> {
        let solve =
            || Arc::new(Space::enumerate(&Rules::default(), 1, |_| ()).solve(Objective::Score, 1, |_| ()));
        self.two.get_or_init(solve)
    }

    /// The solution of 3×3, if it exists.
    fn three(&self) -> Option<Arc<Solution<3>>> {
        let mut known = lock(&self.three);
        if known.is_none() {
            *known = self.find().map(Arc::new);
        }
        known.clone()
    }

    /// Claims the work of solving 3×3; returns `false` if it is in progress.
    pub(crate) fn claim(&self) -> bool {
        self.progress.send_if_modified(|solving| {
            let is_free = !matches!(solving, Solving::At(..));
            if is_free {
                *solving = Solving::At("finding all boards", 0.0);
            }
            is_free
        })
    }

    /// Solves 3×3 with one thread, and saves the values to a file.
    pub(crate) fn solve(&self) {
        let rules = Rules::default();
        let tell =
            |step, share: f64| _ = self.progress.send_replace(Solving::At(step, share.clamp(0.0, 1.0)));
        let space =
            Space::<3>::enumerate(&rules, 1, |sum| tell("finding all boards", f64::from(sum) / LARGEST_SUM));
        let solution = space.solve(Objective::Score, 1, |sum| {
            tell("working out their values", 1.0 - f64::from(sum) / LARGEST_SUM)
        });
        tell("saving", 1.0);
        let saved = fs::create_dir_all(&self.directory)
            .map_err(|error| error.to_string())
            .and_then(|()| solution.save(&self.file()).map_err(|error| error.to_string()));
        *lock(&self.three) = Some(Arc::new(solution));
        let trouble = saved.err().map(|error| format!("the solution could not be kept: {error}"));
        self.progress.send_replace(Solving::Ended(trouble));
    }

    /// The error that 3×3 is not solved, with how to solve it.
    pub(crate) fn missing(&self) -> ApiError {
        let file = self.file();
        let hint =
            format!("Analyse solves it, and so does `afterstate solve --board 3x3 -o {}`", file.display());
        ApiError::not_found(ModelError::Unsolved(3), hint)
    }

    /// The file for the solution of 3×3.
    fn file(&self) -> PathBuf {
        self.directory.join("3x3").with_extension(SUFFIX)
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

/// Exact if the game is nearly over, otherwise from games.
fn tile_chances<const N: usize>(solution: &Solution<N>, state: State<N>) -> Option<TileChances> {
    let largest = state.board().max_exponent();
    let listed = |chances: Vec<f64>| {
        let larger = (1u32..).zip(chances).skip(largest.into());
        // Tiles that no game reaches are not listed.
        larger
            .take_while(|(_, chance)| *chance > 0.0)
            .map(|(exponent, chance)| (1 << exponent, chance))
            .collect()
    };
    if let Some(chances) = solution.tile_chances(state, MOST_BOARDS) {
        return Some(TileChances { chances: listed(chances), is_exact: true });
    }
    let mut reached = vec![0.0; 16];
    for number in 0..GAMES {
        let (mut state, mut rng) = (state, game_rng(1, number));
        while !state.is_terminal() {
            let (best, _) = solution.best(state)?;
            state = state.slide(best)?.afterstate.spawn(&solution.rules(), &mut rng);
        }
        let last = usize::from(state.board().max_exponent());
        reached[..last].iter_mut().for_each(|share| *share += 1.0 / GAMES as f64);
    }
    Some(TileChances { chances: listed(reached), is_exact: false })
}
