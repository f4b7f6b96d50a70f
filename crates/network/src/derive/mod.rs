//! Networks made of other ones: folded, averaged, or with a stage that begins with what another one knows.

mod average;
mod fold;
mod halved;
mod resolved;

pub use average::average;
pub use fold::fold;
