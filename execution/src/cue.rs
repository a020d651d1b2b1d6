//! What a script asks of whoever performs it, timed or not.

use coreach_model::semantics::Event;

/// One item of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cue {
    /// Send this.
    Send(Event),
    /// Something was observed here, or nothing for long enough.
    Observe,
}
