//! What *happens* when a test case meets an implementation under test.
//!
//! [`mod@test_case`] is the test case as a file gives it; [`constants`] fixes its symbolic constants; it is the first
//! [`judge`], and [`tester`] drives a judge against an [`adapter`], with moves chosen by [`strategy`] and values by [`values`]; [`mod@run`] is what is left of it:
//! the trace and the verdict with its reason, which [`explain`] tells in the user's own names.
//! [`campaign`] does that many times, and keeps every run.
//!
//! This crate does not know how a test case is made: the way from there to here is a document (`docs/json.md`).

pub mod adapter;
pub mod campaign;
pub mod codec;
pub mod constants;
pub mod ending;
pub mod excerpt;
pub mod explain;
pub mod initial;
pub mod json;
pub mod judge;
pub mod lazy;
pub mod monitor;
pub mod mutation;
pub mod random;
pub mod record;
pub mod replay;
pub mod run;
pub mod shrink;
pub mod strategy;
pub mod test_case;
pub mod tester;
pub mod values;

pub use adapter::{Adapter, Failure, Received, Session};
pub use ending::Ending;
pub use judge::{Judge, case::CaseJudge};
pub use run::{Outcome, Run, Step};
pub use strategy::Strategy;
pub use test_case::TestCase;
pub use tester::{Drive, Settings, run};
