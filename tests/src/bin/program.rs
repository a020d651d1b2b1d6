//! The program `coreach` itself. Cargo builds a test only the programs of its own package; this one is always
//! as new as the test that asks it, in the same profile.

use std::process::ExitCode;

fn main() -> ExitCode {
    coreach_cli::main()
}
