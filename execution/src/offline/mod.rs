//! Off-line testing: events are recorded with their times, and judged afterwards.
//!
//! **Source.** Bannour, Escobedo, Gaston, Le Gall, *Off-line test case generation for timed symbolic
//! model-based conformance testing* (2012). A test is a timed sequence of inputs ([`inputs`]) that is
//! computed before anything runs. The system's answers are recorded, with their own times. Both are put on
//! one time line ([`merge`]), and the whole is judged relative to a path of the model ([`judge`]): is it a
//! timed trace of the model at all (tioco), and did it go along the path?
//!
//! Nothing here speaks to a system, and nothing waits. Times are exact rationals of the model's unit.
//! Sequences are read, merged and judged line by line ([`read`]): a trace may be longer than the memory.

pub mod context;
pub mod inputs;
pub mod judge;
pub mod merge;
pub mod prepared;
pub mod read;
pub mod recent;
pub mod recorded;
pub mod sequence;
mod uncertain;
mod unseen;
pub mod verdict;
pub mod waiting;
pub mod why;
pub mod write;

pub use judge::OfflineJudge;
pub use sequence::{Placed, SeqItem};
pub use verdict::OfflineVerdict;
