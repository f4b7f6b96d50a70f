//! Choosing a move: players, expectimax search, time control, tile-downgrading.
//!
//! ```
//! use afterstate_game::{Rules, State};
//! use afterstate_network::{Network, NetworkSpec, Tuples};
//! use afterstate_search::{Player, PlayerSpec};
//!
//! let network = Network::new(NetworkSpec { tuples: Tuples::named("2x4")?, ..NetworkSpec::default() })?;
//! let search: PlayerSpec = "3ply".parse()?;
//! let mut player = search.player::<4>(network.view(), Rules::default(), 1);
//! let state: State<4> = "0000/0010/0100/0000".parse()?;
//! let advice = player.advise(state);
//! // An empty network knows of nothing but the merges that it sees coming.
//! assert!(advice.value() > 4.0 && advice.plies == 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod endgame;
mod expectimax;
mod greedy;
mod leaves;
mod line;
mod node;
mod player;
mod random;
mod scale;
mod spec;
mod table;
mod tile_downgrading;
mod tree;

pub use endgame::{Endgames, NetworkGoals, Probing};
pub use expectimax::{ADAPTIVE_NODES, Expectimax, Limit, MAX_PLIES, SearchSettings, TableSize};
pub use greedy::play_greedily;
pub use leaves::Visitor;
pub use line::{LineMove, best_line};
pub use player::{Advice, ByMove, Player, PolicyAdvice};
pub use random::Random;
pub use scale::Scale;
pub use spec::{PlayerSpec, SpecError};
pub use tile_downgrading::{Downgrade, DowngradeError, TileDowngrading};
