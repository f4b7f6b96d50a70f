//! Models: all that plays, behind one [`Model::open`].
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
    /// What the user called it.
    pub name: String,
    /// The checksum of its file's header; empty where it has none.
    pub checksum: String,
    /// The rules that it has learned.
    pub rules: Rules,
    /// The boards that it asks to be shown downgraded.
    pub downgrade: Option<Downgrade>,
    /// Tables that searches ask at their leaves.
    pub endgames: Option<Endgames>,
    /// What it is.
    pub kind: Kind,
}

/// What a model is.
pub enum Kind {
    /// An n-tuple network.
    Network(Network),
    /// A convolutional network, of probabilities or of values, with room on the device where it plays.
    Dcnn(Dcnn, Work),
    /// The true values on small boards.
    Exact(Exact),
}

impl Kind {
    /// What it is, in words.
    pub fn words(&self) -> &'static str {
        match self {
            Kind::Network(_) => "an n-tuple network",
            Kind::Dcnn(..) => "a convolutional network",
            Kind::Exact(_) => "a solution",
        }
    }
}

impl Model {
    /// Loads a model to play with: a file, that of a run directory, or a solution; without either, or by its name, the
    /// built-in model. Redundant tuples are folded, which takes about as long as loading and makes up for it within a
    /// game or two at 3-ply; where there is no memory for that, they stay.
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

    /// Loads a model with its tuples as they are.
    ///
    /// # Errors
    /// As for [`Self::open`].
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

    /// A model by the true values.
    pub fn exact(name: String, exact: Exact) -> Model {
        Model { rules: exact.rules(), ..Model::new(name, Kind::Exact(exact)) }
    }

    /// The same with tables that searches ask at their leaves.
    pub fn with_endgames(self, tables: Option<Arc<Tables>>) -> Self {
        Model { endgames: tables.map(Endgames::new), ..self }
    }

    /// The same with tables that are asked elsewhere.
    pub fn with_probing(self, probing: Probing) -> Self {
        Model { endgames: self.endgames.map(|endgames| endgames.with_probing(probing)), ..self }
    }

    /// The same on a device, where a convolutional network plays; other models play on the CPU alone.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn on(mut self, device: Device) -> Result<Self, DeviceError> {
        if let Kind::Dcnn(_, work) = &mut self.kind {
            *work = Work::on(device)?;
        }
        Ok(self)
    }

    /// The side of its board; of a solution, that of the largest board that is solved.
    pub fn side(&self) -> usize {
        match &self.kind {
            Kind::Network(network) => network.spec().side,
            Kind::Dcnn(..) => 4,
            Kind::Exact(exact) => exact.side(),
        }
    }

    /// Whether it judges moves by how probable they are, and not by the score that is expected.
    pub fn is_policy(&self) -> bool {
        matches!(&self.kind, Kind::Dcnn(dcnn, _) if dcnn.spec().outputs() > 1)
    }

    /// The bytes of memory that its weights take; solutions stay in their files.
    pub fn bytes(&self) -> u64 {
        match &self.kind {
            Kind::Network(network) => size_of_val(network.weights()) as u64,
            Kind::Dcnn(dcnn, _) => size_of_val(dcnn.weights()) as u64,
            Kind::Exact(_) => 0,
        }
    }

    /// The n-tuple network, for what only that can do; `what` is the subject of the sentence.
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

    /// The n-tuple network, for what only values of afterstates can do; `what` is the subject of the sentence.
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

    /// What its tables of endgames know of a state, those first that a search asks first.
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
