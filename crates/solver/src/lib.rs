//! Exact values.

mod evaluate;
mod keys;
mod policy;
mod regret;
mod solution;
mod solve;
mod space;
mod threads;
mod word;

pub use evaluate::{Boards, Evaluation, Settings, evaluate};
pub use policy::{Greedy, Policy};
pub use regret::{Mistake, Regret};
pub use solution::Solution;
pub use solve::Objective;
pub use space::Space;
