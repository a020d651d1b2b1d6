//! Test cases that a campaign asks for and cannot run: a purpose is out of reach, a stage stopped, or
//! constants do not suit a purpose. Each is reported with the results, and the campaign goes on.

use serde::Serialize;

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

/// A test case that has no runs, or none with some constants.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    pub test: String,
    pub why: WhyLeftOut,
    pub message: String,
}
