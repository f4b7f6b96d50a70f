//! Model files: where they are, and what their headers say.

use std::path::Path;

use afterstate_game::Rules;
use afterstate_network::file::{self, ModelInfo, safetensors::TensorFile};
use afterstate_search::Downgrade;

use super::ModelError;
use crate::{recipe::Recipe, run::Directory};

/// The metadata key by which a model selects the boards to downgrade.
pub const DOWNGRADE: &str = "downgrade";

/// The name of the model that is part of the program.
pub const BUILT_IN: &str = "built-in";

/// The name of the small model for 3×3 that is part of the program.
pub const BUILT_IN_3X3: &str = "built-in-3x3";

/// The models that are part of the program, by name.
static BUILT_INS: [(&str, &[u8]); 2] = [
    (BUILT_IN, afterstate_models::BUILT_IN),
    (BUILT_IN_3X3, include_bytes!("../../built-in-3x3.safetensors")),
];

/// The built-in model for boards of this side, if there is one.
pub fn built_in(side: usize) -> Option<&'static Path> {
    match side {
        4 => Some(Path::new(BUILT_IN)),
        3 => Some(Path::new(BUILT_IN_3X3)),
        _ => None,
    }
}

/// Opens a model file, that of a run directory, or the file of another program, without loading it; a name opens a
/// built-in model, unless there is a file of that name.
///
/// # Errors
/// If it cannot be read, or is not a model file.
pub fn open_file(path: &Path) -> Result<TensorFile, ModelError> {
    let built_in = BUILT_INS.iter().find(|(name, _)| path == Path::new(name));
    if let Some((_, bytes)) = built_in.filter(|_| !path.exists()) {
        return Ok(TensorFile::from_static(path, bytes)?);
    }
    let path = if path.is_dir() { Directory::new(path).model() } else { path.to_owned() };
    Ok(file::open(&path)?)
}

/// The boards that a model wants downgraded.
pub(super) fn downgrade_of(file: &TensorFile) -> Result<Option<Downgrade>, ModelError> {
    let downgrade = file.metadata().get(DOWNGRADE).map(|text| text.parse()).transpose();
    downgrade.map_err(|source| ModelError::Downgrade { path: file.path().to_owned(), source })
}

/// The rules that the model was trained with; the usual ones if unspecified.
pub(super) fn rules_of(file: &TensorFile) -> Result<Rules, ModelError> {
    let info = ModelInfo::of(file)?;
    let Some(text) = info.extra.get("recipe") else { return Ok(Rules::default()) };
    let place = format!("{}: recipe", file.path().display());
    Ok(Recipe::parse("model", &place, text, &[])?.game.rules())
}
