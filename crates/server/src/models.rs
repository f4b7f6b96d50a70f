//! Models by name, with a cache in memory.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use afterstate_endgame::Tables;
use afterstate_lab::{
    model::{BUILT_IN, Model},
    run::Directory,
};
use afterstate_network::available_memory;
use serde::Serialize;

use crate::{
    describe::{Description, describe},
    error::{Answer, ApiError},
    extract::excerpt,
    runs,
};

/// The source of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    BuiltIn,
    Run,
    File,
}

/// A model that can be requested; the built-in one has no path.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) path: Option<PathBuf>,
}

impl Named {
    fn built_in() -> Self {
        Named { name: BUILT_IN.into(), kind: Kind::BuiltIn, path: None }
    }

    /// Loads it into memory.
    fn load(self, endgames: Option<Arc<Tables>>) -> Answer<Arc<Model>> {
        let model = Model::open(self.path.as_deref())?.with_endgames(endgames);
        Ok(Arc::new(Model { name: self.name, ..model }))
    }
}

/// All models.
pub(crate) struct Models {
    runs: PathBuf,
    files: PathBuf,
    /// The model given when the server was started.
    given: Option<Named>,
    endgames: Option<Arc<Tables>>,
    slots: Mutex<Slots>,
    /// The memory budget for models in bytes.
    budget: u64,
}

/// Models in memory, or being loaded.
#[derive(Default)]
struct Slots {
    by_path: HashMap<Option<PathBuf>, Slot>,
    clock: u64,
}

#[derive(Clone)]
struct Slot {
    /// The version of the file that was loaded.
    version: Option<(SystemTime, u64)>,
    used: u64,
    bytes: u64,
    /// Locked while it is being loaded, so that it is loaded only once.
    model: Arc<Mutex<Option<Arc<Model>>>>,
}

impl Models {
    /// The models of two directories, plus a given one.
    pub(crate) fn new(
        runs: &Path,
        files: &Path,
        given: Option<&Path>,
        endgames: Option<Arc<Tables>>,
    ) -> Self {
        let given = given.map(|path| {
            let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            let kind = if path.is_dir() { Kind::Run } else { Kind::File };
            Named { name, kind, path: Some(path.to_owned()) }
        });
        let budget = available_memory().map_or(4 << 30, |available| available / 2);
        Models { runs: runs.into(), files: files.into(), given, endgames, slots: Mutex::default(), budget }
    }

    /// The model with this name, in memory; without a name, the default one. Blocks while it is loaded.
    pub(crate) fn get(&self, name: Option<&str>) -> Answer<Arc<Model>> {
        let named = match name {
            Some(name) => self.find(name)?,
            None => self.default_model(),
        };
        let slot = self.slot(&named);
        let mut model = lock(&slot.model);
        if let Some(model) = &*model {
            return Ok(model.clone());
        }
        let path = named.path.clone();
        let loaded = named.load(self.endgames.clone())?;
        *model = Some(loaded.clone());
        drop(model);
        self.make_room(&path, loaded.bytes());
        Ok(loaded)
    }

    /// The name of the default model.
    pub(crate) fn default_name(&self) -> String {
        self.default_model().name
    }

    /// The given model, or else the built-in one.
    fn default_model(&self) -> Named {
        self.given.clone().unwrap_or_else(Named::built_in)
    }

    /// Finds a model by name. Names are those of runs and files inside their directories.
    fn find(&self, name: &str) -> Answer<Named> {
        if let Some(given) = self.given.as_ref().filter(|given| given.name == name) {
            return Ok(given.clone());
        }
        if name == BUILT_IN {
            return Ok(Named::built_in());
        }
        let unknown = || {
            ApiError::not_found(
                format!("there is no model `{}`", excerpt(name)),
                "/api/v1/models lists the models",
            )
        };
        if !is_inside(name) {
            return Err(unknown());
        }
        let run = Directory::new(self.runs.join(name));
        if run.model().is_file() {
            return Ok(Named { name: name.into(), kind: Kind::Run, path: Some(run.path().into()) });
        }
        let file = self.files.join(format!("{name}.safetensors"));
        match file.is_file() {
            true => Ok(Named { name: name.into(), kind: Kind::File, path: Some(file) }),
            false => Err(unknown()),
        }
    }

    /// All models that can be read.
    pub(crate) fn list(&self) -> Vec<Description> {
        let default = self.default_model();
        let mut models = vec![default.clone(), Named::built_in()];
        let runs = runs::with_models(&self.runs).into_iter();
        models.extend(runs.map(|run| Named {
            name: run.name,
            kind: Kind::Run,
            path: Some(run.directory.path().into()),
        }));
        models.extend(files(&self.files));
        let mut descriptions: Vec<Description> = Vec::new();
        for named in models {
            if descriptions.iter().all(|known| known.name != named.name) {
                descriptions.extend(describe(&named, &default));
            }
        }
        descriptions
    }

    /// The slot of a model; a new one if its file has changed.
    fn slot(&self, named: &Named) -> Slot {
        let mut slots = lock(&self.slots);
        slots.clock += 1;
        let clock = slots.clock;
        let version = named.path.as_deref().and_then(|path| version(&model_file(path)));
        let slot = slots.by_path.entry(named.path.clone()).or_insert_with(|| Slot::new(version));
        if slot.version != version {
            *slot = Slot::new(version);
        }
        slot.used = clock;
        slot.clone()
    }

    /// Records the size of a model, and evicts those least recently used while all together exceed the budget. Searches
    /// that use them finish first.
    fn make_room(&self, path: &Option<PathBuf>, bytes: u64) {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.by_path.get_mut(path) {
            slot.bytes = bytes;
        }
        while slots.by_path.values().map(|slot| slot.bytes).sum::<u64>() > self.budget
            && slots.by_path.len() > 1
        {
            let others = slots.by_path.iter().filter(|(other, _)| *other != path);
            let Some(oldest) = others.min_by_key(|(_, slot)| slot.used).map(|(path, _)| path.clone()) else {
                break;
            };
            slots.by_path.remove(&oldest);
        }
    }
}

impl Slot {
    fn new(version: Option<(SystemTime, u64)>) -> Self {
        Slot { version, used: 0, bytes: 0, model: Arc::default() }
    }
}

/// A lock that survives a panic of its holder: the data is always consistent.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a name, joined to a directory, stays inside it.
pub(crate) fn is_inside(name: &str) -> bool {
    // Checked as text: `Path::components` would accept `a//b` and `x/.`, so that one run had many names.
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.');
    let has_odd_characters = name.contains(['\\', ':']) || name.chars().any(char::is_control);
    name.len() <= 200 && !has_odd_characters && name.split('/').all(is_plain)
}

/// The file of a model: the path itself, or that of a run.
fn model_file(path: &Path) -> PathBuf {
    if path.is_dir() { Directory::new(path).model() } else { path.to_owned() }
}

/// The modification time and length of a file.
fn version(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The model files of a directory, by name.
fn files(directory: &Path) -> Vec<Named> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let named = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(".safetensors")?.to_owned();
        (is_inside(&name) && path.is_file()).then_some(Named { name, kind: Kind::File, path: Some(path) })
    };
    let mut files: Vec<Named> = entries.flatten().filter_map(|entry| named(entry.path())).collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["quick", "guei-2021/table-1/a", "a b", "ü"] {
            assert!(is_inside(name), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "../x",
            "/etc/passwd",
            "a/../../b",
            "a/./../b",
            ".git",
            "a/.x",
            "a\\b",
            "C:x",
            "a\0",
            "a//b",
            "a/",
            "x/.",
        ] {
            assert!(!is_inside(name), "{name:?}");
        }
        assert!(!is_inside(&"a".repeat(201)));
    }
}
