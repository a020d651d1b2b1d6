//! What a script asks of whoever performs it, timed or not.

use coreach_model::semantics::Event;

/// One item of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cue {
    /// Send this.
    Send(Event),
    /// This was observed here, or nothing for long enough.
    Observe(Option<Event>),
}

/// How faithful to its script a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fidelity {
    /// It sends what the script says, and each only after as many observations.
    Exact,
    /// It waits for nothing that it need not wait for, and where a stimulus is not allowed with its values,
    /// the judge chooses others.
    Loose,
}
