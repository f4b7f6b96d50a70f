//! Deep convolutional networks that play 2048, taught by play records (kondo-2019).
//!
//! [`NetSpec`] says what a network is, [`Net`] is one with its weights, [`Trainer`] teaches it by Adam, and
//! [`DcnnPlayer`] plays. Files load into PyTorch: see [`Net::save`]. Both can be moved to [`Device::Gpu`]
//! in programs that [provide](provide_gpu) one.
//!
//! ```
//! use afterstate_game::{Move, State};
//! use afterstate_policy::{CrossEntropy, DcnnPlayer, Net, NetSpec, Play, Sample, Trainer};
//! use afterstate_search::Player;
//!
//! let net = Net::new(NetSpec::dcnn(2, 8)?, 1);
//! let state: State<4> = "0000/0010/0100/0000".parse()?;
//! let mut trainer = Trainer::<CrossEntropy>::new(net, 1)?;
//! for _ in 0..100 {
//!     trainer.step(&[Sample { board: state.board(), target: Move::Left }], 0.01);
//! }
//! let mut player = DcnnPlayer::new(trainer.net(), Play::Plain)?;
//! assert_eq!(player.advise(state).best(), Some(Move::Left));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adam;
mod device;
mod file;
mod gemm;
pub mod graph;
mod loss;
mod net;
mod pass;
mod player;
mod spec;
pub mod taps;
mod trainer;
mod value;
mod winograd;
mod work;

pub use adam::Adam;
pub use device::{Device, DeviceError, DevicePass, provide_gpu};
pub use file::NetInfo;
pub use loss::{CrossEntropy, Loss, SquaredError};
pub use net::Net;
pub use pass::Tiles;
pub use player::{DcnnPlayer, NetPlayer, Play, PlayError};
pub use spec::{Architecture, NetSpec, SpecError};
pub use trainer::{Sample, Step, Trainer};
pub use value::ValuePlayer;
pub use work::Work;
