//! Runs test cases against implementations.
//!
//! [`mod@test_case`] is the test case as a file gives it; [`constants`] fixes its symbolic constants; it is
//! the first [`judge`], and a [`session`] drives a judge against an adapter ([`coreach_adapters`], made by
//! [`open()`], and [`simulated`] where a model stands for the implementation), with moves chosen by
//! [`strategy`] and values by [`values`]; [`mod@run`] is what is left of it: the trace and the verdict with
//! its reason, which [`explain`] tells in the user's own names. [`campaign`] does that many times.
//!
//! This crate does not know how a test case is made: the way from there to here is a document
//! (`docs/reference/json.md`).
//!
//! [`trial`] shows how a test case meets an implementation in Rust.

#![allow(missing_docs, reason = "a comment that repeats a name says nothing")]

pub mod bucket;
pub mod campaign;
mod clock;
pub mod constants;
pub mod coverage;
pub mod explain;
pub mod initial;
pub mod interruption;
pub mod judge;
pub mod junit;
pub mod lazy;
pub mod limits;
pub mod monitor;
pub mod mutation;
pub mod offline;
pub mod open;
pub mod outcome;
mod pauses;
pub mod planner;
pub mod preparation;
pub mod record;
pub mod recording;
pub mod refused;
mod renamed;
pub mod replay;
pub mod run;
pub mod session;
pub mod settings;
pub mod shrink;
pub mod simulated;
pub mod strategy;
pub mod test_case;
mod tester;
pub mod timed;
pub mod trial;
pub mod values;
pub mod walk;
mod wire;

pub use bucket::Bucket;
pub use coreach_adapters::times;
pub use coreach_model::semantics::Event;
pub use coreach_model::{Datum, Value, Verdict};
pub use judge::{Judge, case::CaseJudge};
pub use open::open;
pub use outcome::OutcomeKind;
pub use run::{Outcome, Run, RunStep};
pub use session::TestSession;
pub use settings::Settings;
pub use strategy::Strategy;
pub use test_case::TestCase;

pub use trial::{Trial, TrialError};
