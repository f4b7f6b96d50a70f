//! Models: everything that can play, behind a single [`Model::open`].
//!
//! A model is an n-tuple network, a convolutional network or the solution of a small board. Commands, server and Python
//! package load it, ask [`Model::search`] how it is to play, and get a player or the results of games.

mod describe;
mod error;
mod exact;
mod file;
mod play;

use std::{path::Path, sync::Arc};

use afterstate_dcnn::{Dcnn, DcnnInfo, Device, DeviceError, Work};
use afterstate_endgame::{Match, TableError, Tables};
use afterstate_game::{Board, Rules, State};
use afterstate_network::{Network, Values};
use afterstate_search::{Downgrade, Endgames, Probing};
use afterstate_solver::is_solution;

use crate::evaluate::header_checksum;
pub use describe::{Class, Description, describe};
pub use error::ModelError;
pub use exact::Exact;
pub use file::{BUILT_IN, BUILT_IN_3X3, DOWNGRADE, built_in, open_file};
pub use play::Search;

/// A model in memory.
pub struct Model {
    /// Its name, as the user gave it.
    pub name: String,
    /// The checksum of its file's header; empty where it has none.
    pub checksum: String,
    /// The rules that it was trained with.
    pub rules: Rules,
    /// The boards that it wants downgraded.
    pub downgrade: Option<Downgrade>,
    /// Tables that searches probe at their leaves.
    pub endgames: Option<Endgames>,
    /// The model itself.
    pub kind: Kind,
}

/// The kinds of models.
pub enum Kind {
    /// An n-tuple network.
    Network(Network),
    /// A convolutional network, of probabilities or of values, with buffers on the device where it plays.
    Dcnn(Dcnn, Work),
    /// The exact values on small boards.
    Exact(Exact),
}

impl Kind {
    /// Its kind, in words.
    pub fn words(&self) -> &'static str {
        match self {
            Kind::Network(_) => "an n-tuple network",
            Kind::Dcnn(..) => "a convolutional network",
            Kind::Exact(_) => "a solution",
        }
    }
}

impl Model {
    /// Loads a model to play with: a file, that of a run directory, or a solution; without a path, or by its name, a
    /// built-in model. Folds redundant tuples, which takes about as long as loading and pays off within a
    /// game or two at 3-ply; without enough memory for that, they stay.
    ///
    /// # Errors
    /// If there is no such model, or it is damaged.
    pub fn open(model: Option<&Path>) -> Result<Model, ModelError> {
        let mut model = Model::open_unfolded(model)?;
        if let Kind::Network(network) = &model.kind
            && let Ok(Some(folded)) = network.folded()
        {
            model.kind = Kind::Network(folded);
        }
        Ok(model)
    }

    /// Loads a model without folding its tuples.
    ///
    /// # Errors
    /// The same as [`Self::open`].
    pub fn open_unfolded(model: Option<&Path>) -> Result<Model, ModelError> {
        let path = model.unwrap_or(Path::new(BUILT_IN));
        let name = path.to_string_lossy().into_owned();
        if is_solution(path) {
            return Ok(Model::exact(name, Exact::open(path)?));
        }
        let file = open_file(path)?;
        let checksum = header_checksum(&file);
        if DcnnInfo::is_in(&file) {
            let kind = Kind::Dcnn(Dcnn::from_file(&file)?, Work::default());
            return Ok(Model { checksum, ..Model::new(name, kind) });
        }
        let (rules, downgrade) = (file::rules_of(&file)?, file::downgrade_of(&file)?);
        let kind = Kind::Network(Network::from_file(&file)?);
        Ok(Model { checksum, rules, downgrade, ..Model::new(name, kind) })
    }

    /// A model without a file, for the usual rules.
    pub fn new(name: String, kind: Kind) -> Model {
        let rules = Rules::default();
        Model { name, checksum: String::new(), rules, downgrade: None, endgames: None, kind }
    }

    /// A model of exact values.
    pub fn exact(name: String, exact: Exact) -> Model {
        Model { rules: exact.rules(), ..Model::new(name, Kind::Exact(exact)) }
    }

    /// Sets the tables that searches probe at their leaves.
    pub fn with_endgames(self, tables: Option<Arc<Tables>>) -> Self {
        Model { endgames: tables.map(Endgames::new), ..self }
    }

    /// Sets where tables are probed.
    pub fn with_probing(self, probing: Probing) -> Self {
        Model { endgames: self.endgames.map(|endgames| endgames.with_probing(probing)), ..self }
    }

    /// Moves a convolutional network to a device; other models play only on the CPU.
    ///
    /// # Errors
    /// If the device is not available.
    pub fn on(mut self, device: Device) -> Result<Self, DeviceError> {
        if let Kind::Dcnn(_, work) = &mut self.kind {
            *work = Work::on(device)?;
        }
        Ok(self)
    }

    /// The side of its board; for a solution, that of the largest solved board.
    pub fn side(&self) -> usize {
        match &self.kind {
            Kind::Network(network) => network.spec().side,
            Kind::Dcnn(..) => 4,
            Kind::Exact(exact) => exact.side(),
        }
    }

    /// Whether it rates moves by probability, rather than by expected score.
    pub fn is_policy(&self) -> bool {
        matches!(&self.kind, Kind::Dcnn(dcnn, _) if dcnn.spec().outputs() > 1)
    }

    /// The bytes of memory of its weights; solutions stay in their files.
    pub fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Network(network) => size_of_val(network.weights()) as u64,
            Kind::Dcnn(dcnn, _) => size_of_val(dcnn.weights()) as u64,
            Kind::Exact(_) => 0,
        }
    }

    /// The n-tuple network, for operations that need one; `what` is the subject of the error message.
    ///
    /// # Errors
    /// If it is something else.
    pub fn network(&self, what: &str) -> Result<&Network, ModelError> {
        match &self.kind {
            Kind::Network(network) => Ok(network),
            kind => {
                let (what, model) = (what.to_owned(), self.name.clone());
                Err(ModelError::NoNetwork { what, model, kind: kind.words() })
            }
        }
    }

    /// The n-tuple network, for operations that need values of afterstates; `what` is the subject of the error message.
    ///
    /// # Errors
    /// If it is something else, or has other values.
    pub fn afterstates(&self, what: &str) -> Result<&Network, ModelError> {
        let network = self.network(what)?;
        match network.spec().values {
            Values::Afterstates => Ok(network),
            values => {
                let (what, model) = (what.to_owned(), self.name.clone());
                Err(ModelError::Values { what, model, values })
            }
        }
    }

    /// The entries for a state in its endgame tables, in the order in which a search probes them.
    ///
    /// # Errors
    /// If a table is damaged.
    pub fn endgames<const N: usize>(&self, state: State<N>) -> Result<Vec<Match<'_>>, TableError> {
        let (Some(endgames), 4) = (&self.endgames, N) else { return Ok(Vec::new()) };
        let exponents: Vec<u8> = state.board().exponents().collect();
        let board = Board::from_exponents(&exponents).ok();
        board.map_or(Ok(Vec::new()), |board| endgames.tables().probe(State::new(board)))
    }
}
