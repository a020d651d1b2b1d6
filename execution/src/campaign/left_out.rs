//! Test cases that a campaign asks for and cannot run: a purpose is out of reach, a stage stopped, or
//! constants do not suit a purpose. Each is reported with the results, and the campaign goes on.

use serde::Serialize;

use crate::constants::ConstantsError;

coreach_model::words! {
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum WhyLeftOut {
        /// Its test case cannot be made, or not within its limits.
        Stopped = "stopped",
        /// It is proved that its purpose cannot be reached.
        Unreachable = "unreachable",
        /// With these constants its initial condition cannot hold.
        Unsuited = "unsuited",
    }
}

impl WhyLeftOut {
    /// Says how a test case is left out for which no constants were chosen. A solver that cannot decide is a
    /// limit. Every other error shows that the given constants do not suit.
    pub fn of(error: &ConstantsError) -> WhyLeftOut {
        match error {
            ConstantsError::SolverUndecided(_) => WhyLeftOut::Stopped,
            ConstantsError::Unknown(..)
            | ConstantsError::NoValue(..)
            | ConstantsError::Unsatisfiable { .. } => WhyLeftOut::Unsuited,
        }
    }
}

/// A test case that has no runs, or none with some constants.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    pub test: String,
    pub why: WhyLeftOut,
    pub message: String,
}
