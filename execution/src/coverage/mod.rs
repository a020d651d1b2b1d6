//! Finds the parts of a specification, and of a purpose, that real runs have gone through.
//!
//! **Problem.** A campaign says how its runs ended, not which locations, transitions, conditions and values
//! they have seen. These are questions about the *models*, and a run is a trace. Because of internal actions
//! and choices, one trace may have been made on several ways through the model.
//!
//! **Covered.** An *explanation* of a trace is a path through the models, internal steps included, whose
//! visible events are the trace. An item (a location, a transition, a condition by which a guard holds, or
//! fails, a class of a parameter) is
//!
//! - *covered* by a run if every explanation of its trace goes through it;
//! - *possible* if some explanation goes through it, but not every one. Possible items are reported, and
//!   never counted as covered.
//!
//! Internal steps after the last event belong to some explanations only, so they are possible at most. If a
//! run ended with an event that the specification forbids, the trace before that event is explained, and the
//! event itself shows conditions of the guards that refused it. Behind a link that takes time, an explanation
//! also chooses when each stimulus was taken ([`crate::judge::crossing`]).
//!
//! **Method.** Specification and purpose are followed side by side, as one system. Its traces are the
//! specification's (Theorem 5.5), and each of its steps is one of each. [`explanations`] follows all paths at
//! once and keeps for each state the least and the greatest number of times that a path to it has met each
//! item. At the end, the least over all states is certain. [`items`] defines the items, [`classes`] finds the
//! class of a parameter's value, [`tally`] adds runs up, and [`proofs`] finds items that no run can show.

pub mod classes;
pub mod explanations;
pub mod items;
pub mod proofs;
pub mod tally;

pub use classes::BoundClass;
pub use explanations::{Explained, ItemBounds, TooManyStates, explain_trace};
pub use items::{FollowedModel, Item, Items, Walked};
pub use tally::{Count, Tally};
