//! `afterstate dcnn`.

mod eval;
mod train;

use std::io::Write;

use afterstate_dcnn::DeviceError;
use clap::{Args, Subcommand};

use crate::error::Failure;

/// Train convolutional networks on play records, and test them
///
/// The policy networks of Kondo and Matsuzaki (2019): convolutions that predict, from the board, the move of the
/// recorded player.
#[derive(Args)]
pub(crate) struct Dcnn {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Train(Box<train::Train>),
    Eval(eval::Eval),
}

/// Explains to the user why a device is not available.
pub(super) fn no_device(error: DeviceError) -> Failure {
    match error {
        DeviceError::NotBuilt => Failure::input(
            error,
            "`cargo build --release --manifest-path gpu/Cargo.toml` builds one that can",
        ),
        _ => Failure::input(error, "is its Vulkan driver installed? `--device cpu` needs none"),
    }
}

impl Dcnn {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        match self.action {
            Action::Train(train) => train.run(out),
            Action::Eval(eval) => eval.run(out),
        }
    }
}
