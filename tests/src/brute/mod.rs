//! What a model *is*, by enumeration.
//!
//! Every notion here is written from its definition in the thesis, over explicit states and valued actions,
//! and naive on purpose: it is what the stages are judged by, so it shares nothing with them. It reads the
//! *text* of a pair and has its own values, types and evaluation of expressions, written from
//! `docs/reference/model-format.md`. It uses only the project reader's trees of YAML and of expressions,
//! which know form alone. No term is built on the way: what the constructors of terms lose, it still has.
//!
//! - [`value`], [`expression`]: values, types, and what an expression is worth.
//! - [`machine`]: a model; [`text`] reads one, with what its expressions mean (`meaning`); [`artifact`] takes
//!   one that a stage made, term by term.
//! - [`alphabet`]: the valued actions of a finite signature, numbered.
//! - [`explore`]: states and steps of an instance (Definitions 4.4-4.18).
//! - [`pair`]: specification and purpose side by side, completion and product in one definition (5.4, 7.2).
//! - [`subsets`]: `after` (4.16), as a walk through sets of states; [`walk`]: several such walks along common
//!   traces.
//! - [`conformance`]: ioc and ioc_TP (6.2, 6.13).
//! - [`ambiguity`]: choices that no sequence of events resolves (A.15).
//! - [`winning`]: what a tester can win, whatever comes.
//! - [`execution`]: the verdicts of a test case against an implementation (6.5, 6.6).
//!
//! **Limits.** Sets of states are finite here but may be many: every exploration has a limit, and says when
//! it met it. A comparison that was cut short has compared all traces up to some length.

pub mod alphabet;
pub mod ambiguity;
pub mod artifact;
pub mod conformance;
pub mod execution;
pub mod explore;
pub mod expression;
pub mod machine;
mod meaning;
pub mod pair;
pub mod regular;
pub mod subsets;
pub mod text;
pub mod value;
pub mod walk;
pub mod winning;

/// The number of a valued action in its [`alphabet::Alphabet`].
pub type EventId = u32;

/// A limit was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;
