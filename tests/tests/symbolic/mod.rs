//! Symbolic execution: the published example, and random systems against brute force.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod cover;
mod faults;
mod oracle;
mod published;
