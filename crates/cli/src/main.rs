//! The `afterstate` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    afterstate::main()
}
