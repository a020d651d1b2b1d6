//! The verdict on a trace, relative to a path, and the reasons why there may be none.

use coreach_model::Verdict;

/// The most contexts, unless the user says otherwise.
pub const MOST_CONTEXTS: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfflineVerdict {
    /// Every way that the run may have taken went along the path to its end (R3).
    Pass,
    /// Some ways went along the path to its end (R4).
    WeakPass,
    /// It is a trace of the model, but did not go along the path (R5).
    InconclusiveR,
    /// An input came that the model does not take there: what follows is not specified (R6).
    InconclusiveI,
    /// It is no trace of the model: the model does not allow an output or a delay (R2).
    Fail,
}

impl OfflineVerdict {
    pub fn verdict(self) -> Verdict {
        match self {
            OfflineVerdict::Pass => Verdict::Pass,
            OfflineVerdict::WeakPass => Verdict::WeakPass,
            OfflineVerdict::InconclusiveR | OfflineVerdict::InconclusiveI => Verdict::Inconclusive,
            OfflineVerdict::Fail => Verdict::Fail,
        }
    }

    /// Returns the rule of the publication that gives this verdict.
    pub fn rule(self) -> &'static str {
        match self {
            OfflineVerdict::Pass => "R3",
            OfflineVerdict::WeakPass => "R4",
            OfflineVerdict::InconclusiveR => "R5",
            OfflineVerdict::InconclusiveI => "R6",
            OfflineVerdict::Fail => "R2",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CannotJudge {
    Contexts {
        line: usize,
        most: usize,
    },
    /// The terms for unknown data are larger than the limit.
    TooLarge {
        line: usize,
        /// The datum, or `None` for a condition.
        datum: Option<String>,
    },
    /// The initial condition does not hold with the given constants.
    Initial,
}
