//! What a campaign asks for and cannot do: a purpose that is out of reach, a stage that stopped, constants
//! that do not suit one purpose. It is a result like others, told beside them; the rest goes on.

use serde::Serialize;

coreach_model::words! {
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum WhyLeftOut {
        /// Its test case is not made within its limits, or cannot be.
        Stopped = "stopped",
        /// Its purpose cannot be reached: that is proved.
        Unreachable = "unreachable",
        /// With these constants its initial condition cannot hold.
        Unsuited = "unsuited",
    }
}

/// A test case that was asked for and has no runs, or none with some constants.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    pub test: String,
    pub why: WhyLeftOut,
    pub message: String,
}
