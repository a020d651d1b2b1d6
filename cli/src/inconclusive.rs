//! What a run is worth that ended with Inconclusive: for who gates a pipeline, a choice of his own.

use clap::ValueEnum;
use coreach_execution::{OutcomeKind, junit};

use crate::exit::Exit;

/// What a run is worth that ended with Inconclusive.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
#[expect(missing_docs, reason = "clap would print documented values at length")]
pub enum Inconclusive {
    Ok,
    #[default]
    Warn,
    Fail,
}

impl Inconclusive {
    /// The exit code of a run that ended so.
    pub fn exit(self, kind: OutcomeKind) -> Exit {
        match (Exit::of(kind), self) {
            (Exit::Inconclusive, Inconclusive::Ok) => Exit::Fine,
            (Exit::Inconclusive, Inconclusive::Fail) => Exit::Failed,
            (exit, _) => exit,
        }
    }

    /// What it is in a report of JUnit.
    pub fn kind(self) -> junit::JunitResult {
        match self {
            Inconclusive::Ok => junit::JunitResult::Success,
            Inconclusive::Warn => junit::JunitResult::Skipped,
            Inconclusive::Fail => junit::JunitResult::Failure,
        }
    }
}
