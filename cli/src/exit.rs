//! What the program's exit code says.

use std::process::ExitCode;

/// The exit codes. A usage error is 2, and clap's affair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// All went well; there may have been warnings.
    Fine,
    /// Errors in what the user wrote.
    Mistakes,
    /// A limit stopped the work, or the model has no visible deterministic form.
    Stopped,
    /// The machine did not let us: a file cannot be written, Z3 is too old, Graphviz is missing.
    Environment,
    /// The purpose cannot be reached.
    Unreachable,
}

/// The exit codes, for `--help`.
pub const HELP: &str = "\
Exit codes:
  0  fine (there may be warnings)
  1  errors in a model, a purpose or a configuration
  2  wrong usage of the command line
  3  stopped: by a limit, or by a choice that is never resolved
  4  environment: a file cannot be written, Z3 is too old, Graphviz is missing
  5  the purpose cannot be reached
Where several apply, the first of 1, 4, 3, 5 counts.";

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Mistakes => 1,
            Exit::Stopped => 3,
            Exit::Environment => 4,
            Exit::Unreachable => 5,
        }
    }

    /// The one of two that counts.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit| match exit {
            Exit::Mistakes => 0,
            Exit::Environment => 1,
            Exit::Stopped => 2,
            Exit::Unreachable => 3,
            Exit::Fine => 4,
        };
        if rank(self) <= rank(other) { self } else { other }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
