//! The program `coreach`: everything is in the library, so that tests can call it.

use std::process::ExitCode;

fn main() -> ExitCode {
    coreach_cli::main()
}
