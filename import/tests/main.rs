//! All tests of this crate in one program: a program for each file would be linked by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod purposes;
mod shapes;
