//! Exact values on small boards, of optimal play and of any policy, without playing a game.
//!
//! [`Space`] enumerates the reachable boards, [`Space::solve`] computes the values of optimal play, and
//! [`evaluate`] computes the exact value of a policy:
//!
//! ```
//! use afterstate_game::{Rules, State};
//! use afterstate_solver::{Boards, Objective, SolverSettings, Space, evaluate};
//!
//! let rules = Rules::default();
//! let space = Space::<2>::enumerate(&rules, 1, |_| ());
//! assert_eq!((space.states(), space.afterstates()), (110, 67));
//! let solution = space.solve(Objective::Score, 1, |_| ());
//! assert_eq!(format!("{:.2}", solution.expected()), "66.96");
//!
//! let first = |state: State<2>| state.legal_moves().next().expect("the game goes on");
//! let settings =
//!     SolverSettings { rules, boards: Boards::All, until: Objective::Score, optimum: Some(&solution), threads: 1 };
//! let evaluation = evaluate(&first, &settings, |_| ());
//! assert_eq!(format!("{:.2}", evaluation.expected_score), "26.34");
//! ```

mod evaluate;
mod file;
mod keys;
mod optimum;
mod policy;
mod regret;
mod solution;
mod solve;
mod space;
mod threads;
mod tiles;
mod word;

pub use evaluate::{Boards, Evaluation, SolverSettings, evaluate};
pub use file::{SolutionError, is_solution};
pub use optimum::known_optimum;
pub use policy::{Greedy, Policy, Searching};
pub use regret::{Mistake, Regret};
pub use solution::Solution;
pub use solve::Objective;
pub use space::Space;
