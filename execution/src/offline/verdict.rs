//! What a trace was worth, relative to a path, and why there may be no verdict.

use coreach_model::Verdict;

/// The most contexts, unless told otherwise.
pub const MOST_CONTEXTS: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfflineVerdict {
    /// All that it may have been went along the path to its end (R3).
    Pass,
    /// Some of it did (R4).
    WeakPass,
    /// A trace of the model, and not of the path (R5).
    InconclusiveR,
    /// An input that the model does not take there: what follows is not specified (R6).
    InconclusiveI,
    /// No trace of the model: an output or a delay that it does not allow (R2).
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
    /// What is not known of the data takes more to say than the limit.
    TooLarge {
        line: usize,
        /// Of which datum; of none in particular, where it is a condition.
        datum: Option<String>,
    },
    /// The initial condition does not hold with the constants that are given.
    Initial,
}
