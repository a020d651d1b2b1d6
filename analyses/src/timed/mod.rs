//! What is known along one path of a timed model, as the tester sees it.
//!
//! **Problem.** A path-guided test case needs, at each step of a path, the condition under which an event may
//! be the path's next one, or another one that the model allows: `∃ F_ini. π(ec')`, where π(ec') is all that
//! the whole path up to there asks for. Written out, these conditions grow with the path, and a test case
//! with its square.
//!
//! **Source.** Bannour, Lapitre, Le Gall, Nguyen, *Path-guided timed test cases* (2024), Definition 2
//! (successors), on the delayed form ([`coreach_model::timed::delayed`]), where the delay is a parameter.
//!
//! **Where we differ**: nothing here is said twice.
//!
//! - *Registers.* A [`Context`] does not speak of the symbols of all steps before it. What the path has
//!   observed is kept in registers, named as the model's variables: the register `x` holds the variable x's
//!   value, clocks included, as soon as what was observed determines it. So a periodic path comes back to an
//!   equal context, and who works on contexts can remember.
//! - *Unknown data*, F_ini, are first values that nothing observed determines yet. An equation of the path
//!   that determines one by what was observed takes it away: after `Debit(amt + fee)` the register `fee`
//!   holds the parameter less `amt`.
//! - *What has been established* on the way holds in every state that is possible here, so it is kept as
//!   knowledge beside the context, and no condition repeats it, unless it ties unknown data that the
//!   condition speaks of. What was said of values that are needed no more is projected away exactly
//!   ([`crate::symbolic::eliminate`]); where that is not possible, the old value stays in the knowledge as a
//!   *ghost*, a symbol without a register: the knowledge is the same, only longer.
//! - *Need.* Of the variables only those are followed that a later step reads ([`needed`]).
//!
//! So a condition C here and the condition P of the publication are one wherever the path can have come:
//! `established ⇒ (C ⇔ P)`. The tests ask a solver.
//!
//! [`mod@future`] goes the other way: what must hold of the data so that the rest of the path can be taken.

pub mod context;
pub mod future;

pub use context::{After, Context, Registers, needed};
pub use future::{Future, future};

#[cfg(test)]
mod tests;
