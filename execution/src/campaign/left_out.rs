//! What a campaign asks for and cannot do: a purpose that is out of reach, a stage that stopped, constants
//! that do not suit one purpose. It is a result like others, told beside them; the rest goes on.

use serde::{Serialize, Serializer};

/// Why there are no such runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WhyLeftOut {
    /// Its test case is not made within its limits, or cannot be.
    Stopped,
    /// Its purpose cannot be reached: that is proved.
    Unreachable,
    /// With these constants its initial condition cannot hold.
    Unsuited,
}

impl WhyLeftOut {
    /// All of them.
    pub const ALL: [WhyLeftOut; 3] = [WhyLeftOut::Stopped, WhyLeftOut::Unreachable, WhyLeftOut::Unsuited];

    /// As a word.
    pub fn name(self) -> &'static str {
        match self {
            WhyLeftOut::Stopped => "stopped",
            WhyLeftOut::Unreachable => "unreachable",
            WhyLeftOut::Unsuited => "unsuited",
        }
    }
}

impl Serialize for WhyLeftOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A test case that was asked for and has no runs, or none with some constants.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    /// Its name: the purpose's.
    pub test: String,
    /// Why.
    pub why: WhyLeftOut,
    /// The same in a sentence.
    pub message: String,
}
