//! How a network learns from self-play: Algorithm 1 of jaskowski-2016, split into parts.
//!
//! A target ([`TargetSpec`]) says which afterstates move towards what, and when; a
//! step size ([`StepSizeSpec`]) says how far each weight moves; a [`StartSpec`] says where episodes begin, and
//! [`EpsilonGreedy`] which moves are made. The [`Trainer`] runs games that learn in parallel. Any target combines
//! with any step size.

mod actor;
mod epsilon_greedy;
mod learner;
mod private_hot;
pub mod replicas;
mod session;
pub mod start;
pub mod step_size;
pub mod target;
mod teacher;
mod trainer;
mod updater;

pub use actor::ActorState;
pub use epsilon_greedy::EpsilonGreedy;
pub use start::StartSpec;
pub use step_size::StepSizeSpec;
pub use target::TargetSpec;
pub use teacher::EndgameTeacher;
pub use trainer::{
    Budget, Parallel, Trainer, TrainerError, TrainerState, TrainingProgress, TrainingSettings, rate_factor,
};
pub use updater::Updater;
