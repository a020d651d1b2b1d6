//! The worked examples of the thesis, as far as its text fixes them, one module per chapter.
//!
//! The models are in `tests/models` and `examples`. Where the thesis is wrong, the test says so and expects
//! what is right. Labels: *soundness* must never change, *precision* may only improve.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod closure;
mod coffee_machine;
mod determinization;
mod models;
mod operations;
mod regressions;
mod retransmission;
mod selection;
mod support;
mod tgv;
