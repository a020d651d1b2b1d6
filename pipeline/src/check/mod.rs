//! The properties that must hold for each artifact. We promise this list; each rule is checked after its
//! stage in debug builds, in tests and under `--check`. A violation is a bug of ours.
//!
//! Each artifact is compared with the one before it, in both directions: nothing is added, nothing is lost.
//! The solver compares guards, in the context that is named; effects, targets and verdicts are compared too.
//! The checks share nothing with the stages but terms, their substitution and the solver. If an artifact says
//! of what it was made (its *provenance*), the check looks there instead of searching, and verifies what the
//! provenance says. An answer `Unknown` is no violation. It is counted, and so are places where there was too
//! much to compare ([`Findings`]).
//!
//! - **suspended** (Definition 3.9; of ioco only): (1) the specification is as it was, but for one action;
//!   (2) that is quiescence, and each of its transitions a self-loop that changes nothing, one at a location;
//!   (3) it excludes every output and every internal step; (4) where it cannot be taken, nor an internal
//!   step, an output is possible: looked at in a few states of each location.
//! - **silence** (of timed specifications only): (1) the specification is as it was, but for one action, the
//!   order of actions, and inputs that the tester does not send, which are outputs; (2) each transition of
//!   the new action is a self-loop that lets the clocks advance, one at a location; (3) it is possible only
//!   where something may still come later, or nothing ever; (4) and wherever that is so: both looked at in a
//!   few states of each location.
//! - **complete purpose** (Definition 4.22): (1) data, locations, initial condition and transitions that were
//!   given are there, with the guards that take their definedness into account, and of a property without
//!   what violates it; (2) for each location and action at most one is added, under the negation of all given
//!   guards, and where that can hold one is, or `others_stay` says it; (3) it changes nothing and leads where
//!   Algorithm 7.1, corrected, says; (4) Accept is absorbing; (5) no internal action leads into Accept.
//! - **product** (Definition 5.4): (1) a location for each pair that is reached, and no other; (2) for each
//!   pair of transitions with a common action at a pair exactly one, with both guards, both effects and the
//!   pair of targets, and no other; (3) no datum is owned twice; (4) the initial condition is both; (5) it
//!   accepts where the purpose does.
//! - **every artifact from closed on**: a guard has a value in every state in which it may be read, the
//!   initial condition in every one. Behind a guard that holds, what is assigned has a value within its
//!   variable's type: closed asks it, visible does (6), and the others take the effects of visible.
//! - **closed** (Definition A.7): (1) no internal action; (2) no guard that cannot hold; (3) no unreachable
//!   location; (4) data, initial condition and locations are the product's; (5) a location's transitions are
//!   the product's ways from there to do something visible, in guard, effect and target; (6) it accepts where
//!   the product does; (7) `rests` are where the product comes by internal steps alone, with when it stays
//!   there and what it can send.
//! - **visible** (Definition 4.20): (1) no two transitions of a location and action can be taken together;
//!   (2) data and beginning are the closed machine's; (3) each step of a member is covered, and (4) each
//!   member behind a transition is where a member's step leads, with the same data; (5) it accepts where a
//!   member does (Definition A.12); (6) what a variable is given lies within its type, be it shown, hidden by
//!   postponed effects, or memory; (7) so do the data behind each postponed effect; (8) `must_answer` is said
//!   with data only with which each place to rest can send something, or nothing can be sent from elsewhere;
//!   of one place, wherever it has an output; (9) nothing leaves an end, and what enters one that does not
//!   accept cannot come to Accept, by coreach; (10) the facts by which it was made are proved of the closed
//!   machine in front of Accept, or no run refutes them, and what is live is. With facts, (3) and (4) hold
//!   where each member's data are in reach, up to ends, and for live variables.
//! - **violations** (of a property only): (1) the visible machine is as it was, but for one accepting
//!   location; (2) there lead outputs only, which change nothing, from locations that do not accept; (3) each
//!   where no transition of the output can be taken and a member's property is violated by it; (4) wherever
//!   that is so.
//! - **test graph** (Algorithm 7.2): (1) nothing leaves Pass and Inconclusive; (2) only what the
//!   implementation sends leads to Inconclusive; (3) deterministic; (4) every transition is one of the
//!   visible machine's, with its guard within or outside coreach, its effect and its target; (5) what is
//!   missing cannot hold; (6) `allowed` says what the visible machine does; (7) a purpose is out of reach by
//!   the facts, which are proved of it, or no run gets there; (8) the facts are proved, or no run refutes
//!   them; (9) `must_answer` is that of the visible machine.
//! - **test case** (Definition 6.4, Algorithm 7.3): (1) nothing leaves a verdict; (2) deterministic where
//!   reachable; (3) in every other location, for every output of the implementation, some guard holds; (4)
//!   what is added leads to Fail, on outputs, and changes nothing; (5) the rest is the test graph; (6) each
//!   verdict is at its location; (7) Fail is given where the test graph has no transition of the output, and
//!   nowhere else.
//! - **path-guided test case** (Definition 6 of the publication of 2024): (1) nothing leaves a verdict; (2)
//!   deterministic where the path can have come; (3) there, at every context, some guard holds for every
//!   output and every input that the tester does not send, whenever it comes, and for silence from the time
//!   on when that is a fact; (4) what has no verdict leads to the next context, and verdicts change nothing;
//!   (5) the system fails by outputs and by silence only; (6) one transition passes, unless the path is said
//!   to be cut by silence. What is known of where the path can have come is believed; tests hold it against
//!   the whole path's condition.

mod closed;
mod complete;
mod facts;
mod must_answer;
mod obligation;
mod path;
mod product;
mod silence;
mod suspended;
mod test_case;
mod test_graph;
mod violations;
mod visible;

pub use closed::check_closed;
pub use complete::check_complete_purpose;
pub use obligation::Findings;
pub use path::check_path_guided;
pub use product::check_product;
pub use silence::check_silence;
pub use suspended::check_suspended;
pub use test_case::check_test_case;
pub use test_graph::check_test_graph;
pub use violations::check_violations;
pub use visible::check_visible;

/// A rule that an artifact breaks, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleViolation {
    pub rule: &'static str,
    pub place: String,
}

/// The name of the rule *closed 2*: a stage keeps it only as far as its solver knows.
pub const GUARD_CANNOT_HOLD: &str = "closed 2";
