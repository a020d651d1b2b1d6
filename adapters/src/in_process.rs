//! An implementation in the same process: for `cargo test`, for benchmarks, for simulated models.
//!
//! Time does not pass between a call and its answer, so silence is known at once and never waited for. The
//! time of a wait only says whether the tester waits or looks.

use std::time::{Duration, Instant};

use coreach_model::iosts::Iosts;
use coreach_model::semantics::Event;
use coreach_model::{Datum, Value};

use crate::adapter::{Adapter, Failure, Received, Session};
use crate::evidence::{Evidence, EvidenceItem, NO_ANSWER};

/// What an implementation in Rust provides.
pub trait Implementation {
    /// Takes the signatures that the tester knows, before each `reset`. Values of outputs have these types.
    fn take_signatures(&mut self, _known: &Iosts) {}

    /// Goes to its initial state.
    fn reset(&mut self, constants: &[(Datum, Value)], seed: u64) -> Result<(), String>;

    /// Takes an input. Ignores it if it is not expected: an implementation takes every input (thesis, 6.2).
    fn input(&mut self, input: &Event);

    /// Returns the next output, if there is one now. `waited` says whether the tester waits for it or only
    /// looks. An implementation that may send but may also stay silent for a while can use the difference.
    fn output(&mut self, waited: bool) -> Option<Event>;

    /// Explains why it is silent. `None` if it is not, or does not know.
    fn explain_silence(&self) -> Option<String> {
        None
    }
}

#[derive(Clone, Debug)]
pub struct InProcess<I>(pub I);

impl<I: Implementation> Adapter for InProcess<I> {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.0.take_signatures(session.iosts);
        self.0.reset(session.constants, session.seed).map_err(Failure::Start)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        self.0.input(stimulus);
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let waited = until > Instant::now();
        Ok(self.0.output(waited).map_or(Received::Silence, Received::Output))
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn receive_from_state(&mut self) -> Option<Received> {
        Some(self.0.output(true).map_or(Received::Silence, Received::Output))
    }

    fn evidence(&mut self, begin: Instant) -> Vec<EvidenceItem> {
        let evidence = Evidence::default();
        evidence.mark(self.0.explain_silence().unwrap_or_default().as_bytes(), NO_ANSWER);
        // Without a time, so that one seed gives the same bytes.
        let mut items = evidence.take(begin);
        items.iter_mut().for_each(|item| item.at = Duration::ZERO);
        items
    }

    fn stop(&mut self) {}
}
