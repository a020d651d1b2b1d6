//! What was measured in a timed run, beside its instants.

use std::time::Duration;

use crate::timed::jitter::Jitter;

/// What was measured in a timed run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Timing {
    /// Was it the time of a simulated system?
    pub is_simulated: bool,
    /// How far an instant may have been from where it was measured.
    pub tolerance: Duration,
    /// How often something was judged at another instant than the measured one.
    pub moved: usize,
    /// How late the machine was.
    pub jitter: Jitter,
    /// How long the tester thought: plans, values, questions to the solver.
    pub thought: Duration,
    /// The longest of these.
    pub longest_thought: Duration,
}
