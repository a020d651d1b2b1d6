//! A context: where the system may be, on the path or off it.
//!
//! What is known of its data is [`coreach_analyses::symbolic::followed`]'s.

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_model::Value;
use coreach_model::iosts::TransitionId;

/// The most parts of a term for a datum that is not known, or of what is known of it.
pub const MOST_PARTS: u64 = 10_000;

/// Where a context is, seen from the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// So many transitions of the path have been taken, and no others.
    On(usize),
    /// Another one was taken.
    Off,
}

/// A context.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Context {
    /// Seen from the path.
    pub place: Place,
    /// In the model.
    pub state: SymbolicState,
}

impl Context {
    /// The context after a transition that leaves its location, with these values for the parameters of its
    /// action; `None` where it cannot be taken.
    pub fn after(
        &self,
        system: &System<'_>,
        number: TransitionId,
        values: &[Value],
        path: &[TransitionId],
        solver: &mut dyn Solver,
    ) -> Option<Context> {
        let state = self.state.after(system, number, values, solver)?;
        let place = match self.place {
            Place::On(steps) if path.get(steps) == Some(&number) => Place::On(steps + 1),
            _ => Place::Off,
        };
        Some(Context { place, state })
    }
}
