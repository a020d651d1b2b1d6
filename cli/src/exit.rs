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
    /// A run of a test case ended with Fail.
    Failed,
    /// A test case, an implementation or a campaign was not understood, so nothing was run.
    Refused,
    /// No run ended with Fail or broke, and not every one with Pass.
    Inconclusive,
    /// A run ended without a verdict, and none with Fail.
    RunErrors,
}

/// The exit codes of the commands that run test cases, for their `--help`.
pub const TESTING_HELP: &str = "\
Exit codes:
  0  every run ended with Pass
  1  a run ended with Fail
  2  wrong usage, mistakes in a file, or a test case that needs more than its budget: nothing was run
  3  no Fail and no run error, and a run ended as Inconclusive
  4  a run ended without a verdict (RunError), and none with Fail
  130, 143, 129  ended by SIGINT, SIGTERM, SIGHUP

Example:
  coreach test coreach.yaml --iut server.yaml --runs 20 --keep runs
  coreach replay runs/deliver_coffee.7.json --iut server.yaml --shrink";

/// The exit codes, for `--help`.
pub const HELP: &str = "\
Exit codes:
  0  fine (there may be warnings)
  1  errors in a model, a purpose or a configuration
  2  wrong usage of the command line
  3  stopped: by a limit, a budget (--time, --memory), or by a choice that is never resolved
  4  environment: a file cannot be written, Z3 is too old, Graphviz is missing
  5  the purpose cannot be reached
  130, 143, 129  ended by SIGINT, SIGTERM, SIGHUP
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
            Exit::Failed => 1,
            Exit::Refused => 2,
            Exit::Inconclusive => 3,
            Exit::RunErrors => 4,
        }
    }

    /// The one of two that counts.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        let rank = |exit| match exit {
            Exit::Mistakes | Exit::Refused => 0,
            Exit::Failed => 1,
            Exit::Environment => 2,
            Exit::RunErrors => 3,
            Exit::Stopped => 4,
            Exit::Inconclusive => 5,
            Exit::Unreachable => 6,
            Exit::Fine => 7,
        };
        if rank(self) <= rank(other) { self } else { other }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
