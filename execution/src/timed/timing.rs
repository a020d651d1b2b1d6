//! Measurements of a timed run, other than its instants. Documents have the times in milliseconds.

use std::time::Duration;

use coreach_adapters::times::milliseconds_of;
use serde::{Deserialize, Serialize};

use crate::timed::jitter::Jitter;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Timing {
    #[serde(rename = "simulated")]
    pub is_simulated: bool,
    /// How far an instant may have been from the measured one.
    #[serde(rename = "tolerance_ms", with = "milliseconds_of")]
    pub tolerance: Duration,
    /// How often an event was judged at another instant than the measured one.
    pub moved: usize,
    #[serde(flatten)]
    pub jitter: Jitter,
    /// How long the machine kept the system or the tester from running, as far as that is known.
    #[serde(rename = "held_up_ms", with = "milliseconds_of", default)]
    pub held_up: Duration,
    /// How long the tester thought: plans, values, questions to the solver.
    #[serde(rename = "thought_ms", with = "milliseconds_of")]
    pub thought: Duration,
    #[serde(rename = "longest_thought_ms", with = "milliseconds_of")]
    pub longest_thought: Duration,
}
