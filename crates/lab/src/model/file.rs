//! The files of models: where they are, and what their headers say.

use std::path::Path;

use afterstate_game::Rules;
use afterstate_network::file::{Format, ModelInfo, safetensors::TensorFile};
use afterstate_search::Downgrade;

use super::ModelError;
use crate::{recipe::Recipe, run::Directory};

/// The metadata of a model that asks for downgraded boards: which ones.
pub const DOWNGRADE: &str = "downgrade";

/// The name of the model that is part of the program.
pub const BUILT_IN: &str = "built-in";

static BUILT_IN_FILE: &[u8] = include_bytes!("../../../../models/built-in.safetensors");

/// Opens a model file, or that of a run directory, without loading it; by its name, the built-in one, unless there is a
/// file of that name.
///
/// # Errors
/// When it cannot be read, or is no model file.
pub fn open_file(path: &Path) -> Result<TensorFile, ModelError> {
    if path == Path::new(BUILT_IN) && !path.exists() {
        return Ok(TensorFile::from_static(path, BUILT_IN_FILE)?);
    }
    let path = if path.is_dir() { Directory::new(path).model() } else { path.to_owned() };
    let what = match Format::detect(&path)? {
        Format::Model => return Ok(TensorFile::open(&path)?),
        Format::Tdl2048 => "a .w file of TDL2048+",
        Format::Jaskowski => "a player file of Jaśkowski",
    };
    Err(ModelError::Foreign { path, what })
}

/// The boards that a model asks to be shown downgraded.
pub(super) fn downgrade_of(file: &TensorFile) -> Result<Option<Downgrade>, ModelError> {
    let downgrade = file.metadata().get(DOWNGRADE).map(|text| text.parse()).transpose();
    downgrade.map_err(|source| ModelError::Downgrade { path: file.path().to_owned(), source })
}

/// The rules that the model has learned; the usual ones if it does not say.
pub(super) fn rules_of(file: &TensorFile) -> Result<Rules, ModelError> {
    let info = ModelInfo::of(file)?;
    let Some(text) = info.extra.get("recipe") else { return Ok(Rules::default()) };
    let place = format!("{}: recipe", file.path().display());
    Ok(Recipe::parse("model", &place, text, &[])?.game.rules())
}
