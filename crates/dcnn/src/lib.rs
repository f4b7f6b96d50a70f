//! Deep convolutional networks that play 2048, taught by play records (kondo-2019).
//!
//! [`DcnnSpec`] specifies a network, [`Dcnn`] is a network with its weights, [`Trainer`] trains it with Adam, and
//! [`PolicyPlayer`] plays. Files load into PyTorch: see [`Dcnn::save`]. Training and play can be moved to
//! [`Device::Gpu`] in programs that [provide](provide_gpu) one.
//!
//! ```
//! use afterstate_game::{Move, State};
//! use afterstate_dcnn::{CrossEntropy, PolicyPlayer, Dcnn, DcnnSpec, Play, Sample, Trainer};
//! use afterstate_search::Player;
//!
//! let net = Dcnn::new(DcnnSpec::policy(2, 8)?, 1);
//! let state: State<4> = "0000/0010/0100/0000".parse()?;
//! let mut trainer = Trainer::<CrossEntropy>::new(net, 1)?;
//! for _ in 0..100 {
//!     trainer.step(&[Sample { board: state.board(), target: Move::Left }], 0.01);
//! }
//! let mut player = PolicyPlayer::new(trainer.net(), Play::Plain)?;
//! assert_eq!(player.advise(state).best(), Some(Move::Left));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adam;
mod dcnn;
mod device;
mod file;
mod gemm;
pub mod graph;
mod loss;
mod pass;
mod player;
mod spec;
pub mod taps;
mod trainer;
mod value;
mod winograd;
mod work;

pub use adam::Adam;
pub use dcnn::Dcnn;
pub use device::{Device, DeviceError, DevicePass, provide_gpu};
pub use file::DcnnInfo;
pub use loss::{CrossEntropy, Loss, SquaredError};
pub use pass::Tiles;
pub use player::{DcnnPlayer, Play, PlayError, PolicyPlayer};
pub use spec::{Architecture, DcnnSpec, SpecError};
pub use trainer::{Sample, Step, Trainer};
pub use value::ValuePlayer;
pub use work::Work;
