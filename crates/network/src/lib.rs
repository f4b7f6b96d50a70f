//! n-tuple networks: V(s') as a sum of weights, one for each tuple and symmetry.
//!
//! ```
//! use afterstate_game::Afterstate;
//! use afterstate_network::{Network, NetworkSpec, Tuples};
//!
//! let spec = NetworkSpec { tuples: Tuples::named("2x4")?, ..NetworkSpec::default() };
//! assert_eq!((spec.weights(), spec.active_features()), (2 * 65_536, 16));
//! let network = Network::new(spec)?;
//! let afterstate: Afterstate<4> = "0000/0010/0100/0000".parse()?;
//! assert_eq!(network.value(afterstate), 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
pub mod derive;
mod features;
pub mod file;
mod greedy;

mod layout;
mod lookup;
mod memory;
mod network;
mod simd;
mod spec;
mod stages;
mod tuples;
mod values;
mod vertical_split;
mod view;
mod weight_promotion;

pub use batch::Batch;
pub use features::{FeatureSlots, Features};
pub use greedy::{GameResult, GreedyGame};
pub use layout::Layout;
pub use lookup::{Indices, LANES, Lookup};
pub use memory::{Mapped, MemoryError, available_memory, check_fits};
pub use network::{Network, NetworkError, Weights};
pub use simd::{
    BLOCK, Encoding, Isa, Kernel, Lanes, Level, LevelError, Rule, dispatch, pack, prefetch, unpack,
};
pub use spec::{NetworkSpec, SpecError, TableId};
pub use stages::{Stages, StagesError, carried};
pub use tuples::{Tuple, TupleError, Tuples};
pub use values::{Values, ValuesError};
pub use vertical_split::{RangesError, ValueRange, ValueRanges};
pub use view::{PrivateLookups, View};
