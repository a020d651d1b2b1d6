//! The knowledge of a tester along one path of a timed model.
//!
//! **Problem.** A path-guided test case needs, at each step of a path, the condition under which an event may
//! be the next one of the path, or another one that the model allows: `∃ F_ini. π(ec')`. Here π(ec') is the
//! condition of the whole path up to there. Written out, these conditions grow with the path, and the test
//! case grows with its square. **Source.** Bannour, Lapitre, Le Gall, Nguyen, *Path-guided timed test cases*
//! (2024), Definition 2 (successors), on the delayed form ([`coreach_model::timed::delayed`]), where the
//! delay is a parameter. **Where we differ**: each condition is stated only once.
//!
//! - *Registers.* A [`PathContext`] does not mention the symbols of all steps before it. Observed values are
//!   kept in registers, which have the names of the model's variables. The register `x` holds the value of
//!   the variable x (also of a clock) as soon as the observations determine it. So a periodic path comes
//!   back to an equal context, and results can be remembered by context.
//! - *Unknown data*, F_ini, are first values that no observation determines yet. They are eliminated as soon
//!   as an equation of the path determines them.
//! - *Established knowledge* holds in every state that is possible here. It is kept in the context, and no
//!   condition repeats it, unless the condition mentions unknown data that it constrains. Knowledge about
//!   values that are no longer needed is projected away exactly ([`crate::symbolic::eliminate`]). If that is
//!   not possible, the old value stays in the knowledge as a *ghost*, a symbol without a register.
//! - *Need.* Only variables that a later step reads are followed ([`needed_variables`]).
//!
//! So a condition C here and the condition P of the publication are equivalent in all states in which the
//! path can be: `established ⇒ (C ⇔ P)`. The tests ask a solver.
//!
//! [`mod@future`] looks ahead: it computes the conditions under which the rest of the path can be taken.

pub mod context;
pub mod future;

pub use context::{NextContext, PathContext, Registers, needed_variables};
pub use future::{Future, future};

#[cfg(test)]
mod tests;
