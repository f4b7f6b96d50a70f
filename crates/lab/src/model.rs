//! The model that a command or a request works with.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use afterstate_endgame::{Match, TableError, Tables};
use afterstate_game::{Board, Rules, State};
use afterstate_network::{
    Network, Values,
    file::{FileError, Format, ModelInfo, safetensors::TensorFile},
};

use afterstate_dcnn::{Dcnn, DcnnInfo, Play};
use afterstate_search::{Downgrade, DowngradeError, Endgames, Player, PlayerSpec};

use crate::{
    evaluate::header_checksum,
    recipe::{Recipe, RecipeError},
    run::Directory,
};

/// The metadata of a model that asks for downgraded boards: which ones.
pub const DOWNGRADE: &str = "downgrade";

/// The name of the model that is part of the program.
pub const BUILT_IN: &str = "built-in";

static BUILT_IN_FILE: &[u8] = include_bytes!("../../../models/built-in.safetensors");

/// A network in memory.
pub struct Loaded {
    /// What the user called it.
    pub name: String,
    /// The checksum of its file's header.
    pub checksum: String,
    /// The network.
    pub network: Network,
    /// The rules that it has learned.
    pub rules: Rules,
    /// The boards that it asks to be shown downgraded.
    pub downgrade: Option<Downgrade>,
    /// Tables that searches ask at their leaves.
    pub endgames: Option<Endgames>,
}

/// A convolutional network in memory.
pub struct LoadedDcnn {
    /// What the user called it.
    pub name: String,
    /// The checksum of its file's header.
    pub checksum: String,
    /// The network.
    pub net: Dcnn,
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file cannot be read, or is damaged.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is another program's.
    #[error("{} is {what}, not a model file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The recipe in the file cannot be read.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The file asks for downgrading that there is not.
    #[error("{} asks for downgrading that there is not: {source}", path.display())]
    Downgrade {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: DowngradeError,
    },
    /// A convolutional network is asked to search.
    #[error("{model} is a convolutional network, which has no search `{search}`")]
    NoSearch {
        /// The model.
        model: String,
        /// What was asked for.
        search: String,
    },
    /// What is asked for needs other values than the model has.
    #[error("{what} needs values of afterstates, but {model} has values of {values}")]
    Values {
        /// Who asks.
        what: String,
        /// The model.
        model: String,
        /// What it has.
        values: Values,
    },
}

impl Loaded {
    /// Loads a model to play with: a file, or that of a run directory; without either, or by its name, the built-in model.
    /// Redundant tuples are folded, which takes about as long as loading and makes up for it within a game or two at
    /// 3-ply; where there is no memory for that, they stay.
    ///
    /// # Errors
    /// When there is no such model, or it is damaged.
    pub fn open(model: Option<&Path>) -> Result<Loaded, ModelError> {
        let model = Loaded::open_unfolded(model)?;
        match model.network.folded() {
            Ok(Some(network)) => Ok(Loaded { network, ..model }),
            Ok(None) | Err(_) => Ok(model),
        }
    }

    /// Loads a model with its tuples as they are.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn open_unfolded(model: Option<&Path>) -> Result<Loaded, ModelError> {
        let model = model.unwrap_or(Path::new(BUILT_IN));
        let file = open_file(model)?;
        let name = model.to_string_lossy().into_owned();
        let (checksum, rules) = (header_checksum(&file), rules_of(&file)?);
        let downgrade = downgrade_of(&file)?;
        Ok(Loaded { name, checksum, network: Network::from_file(&file)?, rules, downgrade, endgames: None })
    }

    /// How it plays when it is told to play so: what is not said about downgrading is as the model asks for.
    pub fn search(&self, spec: PlayerSpec) -> PlayerSpec {
        spec.or_downgraded(self.downgrade)
    }

    /// Refuses what only values of afterstates can do; `what` is the subject of the sentence.
    ///
    /// # Errors
    /// When the model has other values.
    pub fn check_afterstates(&self, what: &str) -> Result<(), ModelError> {
        let values = self.network.spec().values;
        if values == Values::Afterstates {
            return Ok(());
        }
        Err(ModelError::Values { what: what.to_owned(), model: self.name.clone(), values })
    }

    /// The same with tables that searches ask at their leaves.
    pub fn with_endgames(self, tables: Option<Arc<Tables>>) -> Self {
        Loaded { endgames: tables.map(Endgames::new), ..self }
    }

    /// The player by a search, with so many threads.
    pub fn player<const N: usize>(&self, search: PlayerSpec, threads: usize) -> Box<dyn Player<N> + '_> {
        let endgames = self.endgames.as_ref();
        search.player_with(self.network.view(), self.rules, threads, |search| search.with_endgames(endgames))
    }

    /// What its tables of endgames know of a state, those first that a search asks first.
    ///
    /// # Errors
    /// When a table is damaged.
    pub fn exact<const N: usize>(&self, state: State<N>) -> Result<Vec<Match<'_>>, TableError> {
        let (Some(endgames), 4) = (&self.endgames, N) else { return Ok(Vec::new()) };
        let exponents: Vec<u8> = state.board().exponents().collect();
        let board = Board::from_exponents(&exponents).ok();
        board.map_or(Ok(Vec::new()), |board| endgames.tables().probe(State::new(board)))
    }

    /// How it searches, as text.
    pub fn search_name(&self, search: PlayerSpec) -> String {
        format!("{search}{}", if self.endgames.is_some() { "+endgames" } else { "" })
    }

    /// The side of its board.
    pub fn side(&self) -> usize {
        self.network.spec().side
    }
}

impl LoadedDcnn {
    /// Loads a model file, or that of a run directory, if it holds a convolutional network.
    ///
    /// # Errors
    /// When there is no such file, or it is damaged.
    pub fn open(model: &Path) -> Result<Option<LoadedDcnn>, ModelError> {
        let file = open_file(model)?;
        if !DcnnInfo::is_in(&file) {
            return Ok(None);
        }
        let net = Dcnn::from_file(&file)?;
        let name = model.to_string_lossy().into_owned();
        Ok(Some(LoadedDcnn { name, checksum: header_checksum(&file), net }))
    }

    /// How it is to play: `majority`, `plain` or `sum` for a policy, `1ply` for a value, or what is usual.
    ///
    /// # Errors
    /// When it cannot play so.
    pub fn play(&self, search: Option<&str>) -> Result<Play, ModelError> {
        let no_search =
            |search: &str| ModelError::NoSearch { model: self.name.clone(), search: search.into() };
        match search {
            None => Ok(Play::default()),
            Some("1ply") if self.is_value() => Ok(Play::default()),
            Some(search) if self.is_value() => Err(no_search(search)),
            Some(search) => search.parse().map_err(|_| no_search(search)),
        }
    }

    /// What a way to play is called.
    pub fn play_name(&self, play: Play) -> String {
        if self.is_value() { "1ply".into() } else { play.to_string() }
    }

    fn is_value(&self) -> bool {
        self.net.spec().outputs() == 1
    }
}

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
fn downgrade_of(file: &TensorFile) -> Result<Option<Downgrade>, ModelError> {
    let downgrade = file.metadata().get(DOWNGRADE).map(|text| text.parse()).transpose();
    downgrade.map_err(|source| ModelError::Downgrade { path: file.path().to_owned(), source })
}

/// The rules that the model has learned; the usual ones if it does not say.
fn rules_of(file: &TensorFile) -> Result<Rules, ModelError> {
    let info = ModelInfo::of(file)?;
    let Some(text) = info.extra.get("recipe") else { return Ok(Rules::default()) };
    let place = format!("{}: recipe", file.path().display());
    Ok(Recipe::parse("model", &place, text, &[])?.game.rules())
}
