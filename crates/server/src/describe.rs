//! Entries of the list of models.

use std::path::Path;

use afterstate_lab::model::{self, BUILT_IN, open_file};
use serde::Serialize;

use crate::models::{Kind, Named};

/// An entry of the list of models.
#[derive(Serialize)]
pub(crate) struct Description {
    pub(crate) name: String,
    kind: Kind,
    #[serde(flatten)]
    contents: model::Description,
    /// The size of its file.
    bytes: u64,
    default: bool,
}

/// Describes a model; `None` for files that are not models.
pub(crate) fn describe(named: &Named, default: &Named) -> Option<Description> {
    let file = open_file(named.path.as_deref().unwrap_or(Path::new(BUILT_IN))).ok()?;
    let contents = model::describe(&file).ok()?;
    let is_default = default.name == named.name;
    let (name, bytes) = (named.name.clone(), file.size());
    Some(Description { name, kind: named.kind, contents, bytes, default: is_default })
}
