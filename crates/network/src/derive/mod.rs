//! Networks derived from others: folded, averaged, or with a stage initialized from another one.

mod average;
mod fold;
mod halved;
mod resolved;

pub use average::average;
pub use fold::fold;
