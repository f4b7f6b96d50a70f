//! The handlers of the routes.

pub(crate) mod advise;
pub(crate) mod evaluate;
pub(crate) mod game;
pub(crate) mod models;
pub(crate) mod recipes;
pub(crate) mod review;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod solution;
pub(crate) mod watch;
