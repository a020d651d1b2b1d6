//! How a run that ended with Inconclusive counts. A user who gates a pipeline chooses it.

use clap::ValueEnum;
use coreach_execution::{OutcomeKind, junit};

use crate::exit::Exit;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Inconclusive {
    Ok,
    #[default]
    Warn,
    Fail,
}

impl Inconclusive {
    /// Returns the exit code of a run that ended in this way.
    pub fn exit(self, kind: OutcomeKind) -> Exit {
        match (Exit::of(kind), self) {
            (Exit::Inconclusive, Inconclusive::Ok) => Exit::Fine,
            (Exit::Inconclusive, Inconclusive::Fail) => Exit::Failed,
            (exit, _) => exit,
        }
    }

    /// Returns what a run that ended with Inconclusive is in a JUnit report.
    pub fn junit_result(self) -> junit::JunitResult {
        match self {
            Inconclusive::Ok => junit::JunitResult::Success,
            Inconclusive::Warn => junit::JunitResult::Skipped,
            Inconclusive::Fail => junit::JunitResult::Failure,
        }
    }
}
