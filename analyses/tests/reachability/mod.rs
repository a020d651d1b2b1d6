//! What the analyses promise, on whole models.
//!
//! `golden` holds the examples of the thesis; `sound` holds abstract results against the concrete semantics
//! on random models (every test there defends *soundness*); `precise` says what must not be lost (each
//! defends *precision*).

#![expect(clippy::expect_used, reason = "a test may fail")]

mod build;
mod composed;
mod congruences;
mod explosion;
mod golden;
mod inductive;
mod precise;
mod regions;
mod scale;
mod sound;
mod summaries;
