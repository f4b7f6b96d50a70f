//! The `afterstate` command with a GPU.

use std::process::ExitCode;

fn main() -> ExitCode {
    afterstate_gpu::provide();
    afterstate::main()
}
